"""A compilation with everything on the way to its kernels: what `ingot inspect --html` shows.

Each stage of each kernel is a `Listing`: its text, and for every line the lines of the source that
the ops on it come from. Locations carry that through the passes; what has none is from no line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import TYPE_CHECKING

from xdsl.dialects.func import FuncOp
from xdsl.printer import Printer

from ingot.compiler.analysis.locations import positions
from ingot.compiler.dialects import spirv
from ingot.compiler.driver.compile import OnStage, compile_text
from ingot.compiler.driver.dump import helpers_of, kernels_of
from ingot.compiler.driver.options import CompileOptions
from ingot.targets.bundle.model import Bundle
from ingot.targets.spirv import serialize_with_origins

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation

    from ingot.targets.profiles import TargetProfile


@dataclass(frozen=True)
class Listing:
    """A text by lines; `sources[i]` are the lines of the source, from 1, that line i comes from."""

    lines: tuple[str, ...]
    sources: tuple[tuple[int, ...], ...]


@dataclass
class KernelHistory:
    """What one kernel was at each stage."""

    types: tuple[str, ...] = ()
    """Of its inputs, then of its results, as MLIR spells the inside: `64x1000xf32`."""
    stages: dict[str, Listing] = field(default_factory=dict[str, Listing])
    """By the names of `pipelines.STAGES`, from `dispatch` on."""
    instructions: tuple[int | None, ...] = ()
    """For each SPIR-V instruction the line, from 0, of the stage `spirv` that it was written for;
    None for declarations, which no line is for."""


@dataclass(frozen=True)
class History:
    """A bundle and how its kernels came to be."""

    filename: str
    text: str
    bundle: Bundle
    targets: dict[str, dict[str, KernelHistory]]
    """Kernels by name, for each target."""
    warnings: tuple[str, ...] = ()


def compile_with_history(
    text: str, filename: str, options: CompileOptions, on_stage: OnStage = lambda _: None
) -> History:
    """`compile_text` that keeps every stage of every kernel; raises what that does."""
    targets: dict[str, dict[str, KernelHistory]] = {name: {} for name in options.targets}

    def record(profile: TargetProfile, stage: str, module: ModuleOp) -> None:
        kernels = targets[profile.name]
        for name, op in kernels_of(module).items():
            parts = [*helpers_of(module, op), op]
            _record(kernels.setdefault(name, KernelHistory()), stage, parts, filename)

    options = replace(options, keep_positions=True, on_module=record)
    compiled = compile_text(text, filename, options, on_stage)
    for target in compiled.targets:
        names = {kernel.name for kernel in target.kernels}
        kept = targets[target.profile.name]
        targets[target.profile.name] = {name: kept[name] for name in kept if name in names}
    return History(filename, text, compiled.bundle, targets, compiled.warnings)


def _record(kernel: KernelHistory, stage: str, parts: Sequence[Operation], filename: str) -> None:
    """Keep a stage of a kernel: the functions that it calls, and itself at the end."""
    listing, starts = listed(parts, filename)
    op = parts[-1]
    kernel.stages[stage] = listing
    if stage == "dispatch" and isinstance(op, FuncOp):
        type_ = op.function_type
        kernel.types = tuple(_inside(t) for t in (*type_.inputs, *type_.outputs))
    if isinstance(op, spirv.ModuleOp):
        _, origins = serialize_with_origins(op)
        kernel.instructions = tuple(
            None if origin is None else starts.get(origin) for origin in origins
        )


def _inside(type_: Attribute) -> str:
    """`64x1000xf32` for `tensor<64x1000xf32>` and for a memref of these elements."""
    return re.sub(r"^(?:tensor|memref)<(.*)>$", r"\1", str(type_))


def listed(ops: Sequence[Operation], filename: str) -> tuple[Listing, dict[Operation, int]]:
    """The text of ops, and the line, from 0, that each op in it begins on."""
    stream = _CountingStream()
    printer = _Printer(stream)
    for op in ops:
        printer.print_op(op)
        stream.write("\n")
    lines = stream.getvalue().splitlines()
    sources: list[set[int]] = [set() for _ in lines]
    for inner, line in printer.starts.items():
        sources[line].update(
            number for file, number, _ in positions(inner.location) if file == filename
        )
    ordered: Sequence[tuple[int, ...]] = [tuple(sorted(numbers)) for numbers in sources]
    return Listing(tuple(lines), tuple(ordered)), printer.starts


class _CountingStream(StringIO):
    """Knows which line is being written."""

    line = 0

    def write(self, s: str, /) -> int:
        self.line += s.count("\n")
        return super().write(s)


class _Printer(Printer):
    """Notes the line that each op begins on."""

    def __init__(self, stream: _CountingStream) -> None:
        super().__init__(stream)
        self.counted = stream
        self.starts: dict[Operation, int] = {}

    def print_op(self, op: Operation) -> None:
        self.starts[op] = self.counted.line
        super().print_op(op)
