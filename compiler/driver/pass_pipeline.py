"""Textual pass pipelines: reading them and running them.

Two spellings are read: xDSL's `a,b{x=1 y="s"}`, and MLIR's `builtin.module(a,func.func(b{x=1}))`.
Every pass here takes the whole module, so the anchors of MLIR's form only group.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from ingot.compiler.driver.registry import get_pass, has_work
from ingot.compiler.driver.timing import Timing, phase

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass
    from xdsl.utils.arg_spec import ArgSpec

_TOKEN = re.compile(r"""(?P<string>"(?:\\.|[^"\\])*")|(?P<anchor>[\w.]+\s*\()|(?P<other>.)""", re.S)


class PipelineError(ValueError):
    """A pipeline that cannot be read, in one sentence."""


class PassFailure(Exception):
    """A pass raised something that is not a refusal: a bug in Ingot.

    `before` is the module as the pass found it, `pipeline` what was still to run.
    """

    def __init__(self, pass_name: str, pipeline: str, before: str, cause: Exception) -> None:
        super().__init__(f"pass `{pass_name}` failed: {type(cause).__name__}: {cause}")
        self.pass_name = pass_name
        self.pipeline = pipeline
        self.before = before


@dataclass
class Instrumentation:
    """What to do around each pass; everything off by default, as in production."""

    verify_each: bool = False
    print_before: frozenset[str] = frozenset()
    print_before_all: bool = False
    print_after: frozenset[str] = frozenset()
    print_after_all: bool = False
    print_generic: bool = False
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    timing: Timing | None = None
    """Learns how long each pass takes."""
    after: Callable[[str, ModuleOp], None] | None = None
    keep_before: bool = False
    """Keep a copy of the module before each pass, for the reproducer of a failing pass."""

    def print(self, when: str, current: ModulePass, module: ModuleOp) -> None:
        """Write the module under a heading as MLIR's tools have it."""
        heading = f"IR Dump {when} {type(current).__name__} ({current.name})"
        text = module_text(module, generic=self.print_generic)
        self.stream.write(f"// -----// {heading} //----- //\n{text}\n\n")


def flatten(text: str) -> str:
    """MLIR's nested pipeline as a flat list: `builtin.module(a,func.func(b),c)` is `a,b,c`."""
    depth_braces = 0
    open_anchors = 0
    flat: list[str] = []
    for token in _TOKEN.finditer(text.strip()):
        piece = token.group()
        match token.lastgroup, piece:
            case "anchor", _ if depth_braces == 0:
                open_anchors += 1
            case "other", ")" if depth_braces == 0:
                open_anchors -= 1
                if open_anchors < 0:
                    raise PipelineError(f"unbalanced `)` in the pipeline `{text}`")
            case _, "{":
                depth_braces += 1
                flat.append(piece)
            case _, "}":
                depth_braces -= 1
                flat.append(piece)
            case _:
                flat.append(piece)
    if open_anchors:
        raise PipelineError(f"missing `)` in the pipeline `{text}`")
    if depth_braces:
        raise PipelineError(f"unbalanced braces in the pipeline `{text}`")
    passes = re.sub(r"\s*,[\s,]*", ",", "".join(flat)) if '"' not in text else "".join(flat)
    return passes.strip(", \n\t")


def parse_pipeline(text: str) -> tuple[ModulePass, ...]:
    """The passes that `text` names, with their options; raises `PipelineError`/`UnknownPass`."""
    return tuple(_load(spec) for spec in _specs(text))


def passes_with_work(text: str, module: ModuleOp) -> Iterator[ModulePass]:
    """The passes of `text`, each loaded when its turn comes, without those that have no work.

    For the pipelines that Ingot orders itself: what decides is `CONSUMES` of the levels and what
    `module` holds when the pass would run, so the result is that of the whole pipeline.
    """
    from ingot.compiler.driver.contents import Contents

    contents = Contents(module)
    for spec in _specs(text):
        if has_work(spec.name, contents):
            yield _load(spec)
            contents = Contents(module)


def _specs(text: str) -> tuple[ArgSpec, ...]:
    from xdsl.utils.arg_spec import parse_pipeline as parse_specs
    from xdsl.utils.exceptions import ArgSpecParseError

    flat = flatten(text)
    try:
        return tuple(parse_specs(flat))
    except ArgSpecParseError as error:  # derives from BaseException
        reason = str(error).strip().splitlines()[-1].strip()
        raise PipelineError(f"cannot read the pipeline `{flat}`: {reason}") from None


def _load(spec: ArgSpec) -> ModulePass:
    pass_type = get_pass(spec.name)
    try:
        return pass_type.from_spec(spec)
    except ValueError as error:
        raise PipelineError(f"options of the pass `{spec.name}`: {error}") from None


def pipeline_text(passes: Iterable[ModulePass]) -> str:
    """The text that `parse_pipeline` reads as these passes."""
    return ",".join(str(p.spec()) for p in passes)


def run_passes(
    module: ModuleOp,
    context: Context,
    passes: Iterable[ModulePass],
    instrumentation: Instrumentation | None = None,
) -> None:
    """Run the passes over `module`, in place.

    Raises what the passes raise to say no (`Refusal`, `VerifyException`), and `PassFailure` when
    one of them breaks.
    """
    from ingot.compiler.driver.diagnostics import is_user_error
    from ingot.compiler.driver.verification import verify

    watch = instrumentation or Instrumentation()
    remaining = iter(passes)
    while True:
        with phase(watch.timing, "load passes"):
            current = next(remaining, None)
        if current is None:
            return
        before = module_text(module) if watch.keep_before else ""
        if watch.print_before_all or current.name in watch.print_before:
            watch.print("Before", current, module)
        try:
            with phase(watch.timing, current.name, once=True):
                current.apply(context, module)
            if watch.verify_each:
                with phase(watch.timing, "verify"):
                    verify(module, f"after the pass `{current.name}`")
        except Exception as error:
            if is_user_error(error):
                raise
            rest = pipeline_text([current, *remaining])
            raise PassFailure(current.name, rest, before, error) from error
        if watch.print_after_all or current.name in watch.print_after:
            watch.print("After", current, module)
        if watch.after is not None:
            watch.after(current.name, module)


def module_text(module: ModuleOp, *, generic: bool = False, locations: bool = False) -> str:
    """The module as MLIR text, without the last newline."""
    from io import StringIO

    from xdsl.printer import Printer

    out = StringIO()
    Printer(out, print_generic_format=generic, print_debuginfo=locations).print_op(module)
    return out.getvalue()
