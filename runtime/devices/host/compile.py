"""MSL kernels to libraries, through clang and the compile cache.

Kernels that are missing are compiled together, a few translation units at a time: each kernel's
text lies in a namespace of its own, and the start of clang, the headers and the link are paid once.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ingot.runtime.devices.cache import digest
from ingot.runtime.devices.host.cache import (
    build_once,
    cache_directory,
    header_names,
    headers_digest,
    include_directory,
    link,
    prune,
)
from ingot.runtime.devices.host.engine import engine
from ingot.runtime.devices.host.entry import (
    alignment_symbol,
    entry_points,
    group_symbol,
    thread_symbol,
)
from ingot.runtime.devices.host.errors import KernelCompileError
from ingot.runtime.devices.host.reflection import (
    KernelSignature,
    Reflection,
    program_scope_functions,
    reflect,
)
from ingot.runtime.devices.host.rewrite import for_execution, reaches_others
from ingot.runtime.devices.host.toolchain import Clang, cpu_identity, find_clang
from ingot.runtime.errors import DeviceError

COMMON_FLAGS = (
    "-fdeclspec",
    "-fsigned-char",
    "-Xclang",
    "-cl-single-precision-constant",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-fno-strict-aliasing",
    "-fwrapv",
    "-Wno-reserved-user-defined-literal",
)
"""Both modes: literals are float, no contraction, integer overflow wraps."""
_EXECUTION_FLAGS = (
    "-x",
    "c++",
    "-std=c++17",
    "-nostdinc",
    "-fno-exceptions",
    "-fno-rtti",
    "-fPIC",
    "-w",
    # The return address of a call tells which barrier or operation a thread waits in.
    "-fno-optimize-sibling-calls",
    # Uninitialized variables are the same garbage in every run.
    "-ftrivial-auto-var-init=pattern",
)
_MOST_SECONDS = 300
"""Of one clang process: a text can keep it busy for ever."""
_FORMAT = "1"
"""Changes when the meaning of a cached file does."""


@dataclass(frozen=True)
class KernelSource:
    """One kernel to compile."""

    msl: str
    entry_point: str
    optimization: int = 1
    """clang's level: 1 compiles twice as fast as 2, loops run up to twice as slow."""


@dataclass(frozen=True)
class CompiledKernel:
    """A loaded kernel: addresses of its entry points and what the text says about it."""

    source: KernelSource
    signature: KernelSignature
    reflection: Reflection
    thread_entry: int
    group_entry: int | None
    alignments: dict[int, int]
    """Alignment of what each buffer argument points to, by buffer index."""


@dataclass(frozen=True)
class BuiltKernel:
    """A kernel and its library in the cache."""

    source: KernelSource
    reflection: Reflection
    signature: KernelSignature
    key: str
    path: Path

    def text(self, alone: bool) -> str:
        """C++ text; in a namespace unless it is alone in its translation unit."""
        body = for_execution(self.reflection).text
        entry = entry_points(self.reflection, self.signature, self.key)
        name = re.sub(r"\W", "_", self.signature.name)
        text = f'#line 1 "{name}.metal"\n{body}\n#line 1 "entry"\n{entry}'
        return text if alone else f"namespace ingot_{self.key} {{\n{text}}}\n"

    @property
    def stands_alone(self) -> bool:
        """Whether other kernels must not share its translation unit.

        Macros and includes would reach them; and a function that overloads one of Metal's would
        hide it in a namespace.
        """
        tokens = self.reflection.tokens
        if any(t.kind == "directive" and reaches_others(t.text) for t in tokens):
            return True
        declared = program_scope_functions(self.reflection)
        return not declared.isdisjoint(header_names())


def compile_kernels(sources: Sequence[KernelSource], jobs: int = 2) -> list[CompiledKernel]:
    """Compile and load kernels, taking from the cache what is there.

    `jobs` is the number of clang processes at a time. Raises `KernelCompileError` with clang's
    first error, or `ClangNotFoundError`.
    """
    engine()
    return [load_kernel(built) for built in build_kernels(sources, jobs)]


def build_kernels(
    sources: Sequence[KernelSource], jobs: int = 2, alone: bool = False
) -> list[BuiltKernel]:
    """Compile kernels as `compile_kernels` does, without loading anything into this process.

    With `alone` no library holds the code of two kernels: each is what its own text makes it, for
    whoever finds it in the cache.
    """
    clang = find_clang()
    try:
        units = [_unit(clang, source) for source in sources]
        missing = list({u.key: u for u in units if not u.path.exists()}.values())
        if missing:
            _build(clang, missing, max(1, jobs), alone)
            prune()
        for unit in units:
            os.utime(unit.path)  # so that `prune` knows what is in use
    except OSError as error:
        raise DeviceError(
            f"the compile cache '{cache_directory()}' cannot be used ({error}); INGOT_CACHE_DIR "
            "moves it"
        ) from error
    return units


def execution_command(clang: Clang, optimization: int) -> list[str]:
    """The clang command of the execution mode, up to its inputs and outputs."""
    command = [*clang.command, *_EXECUTION_FLAGS, *COMMON_FLAGS, f"-O{optimization}"]
    if "x86_64" in cpu_identity():
        # Every operation on half rounds to half, on CPUs with and without half arithmetic.
        command += ["-Xclang", "-ffloat16-excess-precision=none"]
        # A frame larger than a guard touches every page on its way, and so the guard.
        command.append("-fstack-clash-protection")
    if clang.is_zig:  # it targets this CPU, and traps undefined behaviour, unless told otherwise
        command.append("-fno-sanitize=all")
    else:
        arm = any(name in cpu_identity() for name in ("arm64", "aarch64"))
        command.append("-mcpu=native" if arm else "-march=native")
    return [*command, "-isystem", str(include_directory())]


def _unit(clang: Clang, source: KernelSource) -> BuiltKernel:
    reflection = reflect(source.msl)
    signature = reflection.kernel(source.entry_point)
    if signature is None:
        known = ", ".join(k.name for k in reflection.kernels) or "none"
        raise KernelCompileError(
            f"the MSL text has no kernel '{source.entry_point}'; its kernels: {known}"
        )
    key = digest(
        _FORMAT,
        clang.identity,
        cpu_identity(),
        headers_digest(),
        *execution_command(clang, source.optimization),
        source.entry_point,
        source.msl,
    )
    suffix = "dylib" if sys.platform == "darwin" else "so"
    path = cache_directory() / f"kernel-{key}.{suffix}"
    return BuiltKernel(source, reflection, signature, key, path)


def precompiled_header(clang: Clang, command: list[str]) -> list[str]:
    """Options that put our header in front of the text, precompiled where clang can."""
    header = include_directory() / "prefix.h"
    if clang.is_zig:  # its driver drops the options of precompiled headers
        return ["-include", str(header)]
    key = digest(clang.identity, cpu_identity(), *command)

    def build(made: Path) -> None:
        run = subprocess.run(
            [*command, "-c", "-Xclang", "-emit-pch", str(header), "-o", str(made)],
            capture_output=True,
            text=True,
        )
        if run.returncode:
            raise KernelCompileError(f"the host device's headers do not compile:\n{run.stderr}")

    return ["-include-pch", str(build_once(cache_directory() / f"header-{key}.pch", build))]


def _build(clang: Clang, units: list[BuiltKernel], jobs: int, alone: bool) -> None:
    """Compile units in up to `jobs` processes; a batch that fails is compiled one by one."""
    together = [u for u in units if not alone and not u.stands_alone]
    batches = [together[i::jobs] for i in range(jobs) if together[i::jobs]]
    batches += [[u] for u in units if alone or u.stands_alone]
    while batches:
        running = [(batch, _Compilation(clang, batch)) for batch in batches[:jobs]]
        batches = batches[jobs:]
        for batch, compilation in running:
            errors = compilation.finish()
            if errors is None:
                continue
            if len(batch) == 1:
                for _, other in running:
                    other.finish()
                raise KernelCompileError(_first_error(batch[0], errors))
            batches += [[unit] for unit in batch]


class _Compilation:
    """One clang process that makes a library of some kernels."""

    def __init__(self, clang: Clang, batch: list[BuiltKernel]) -> None:
        self._batch = batch
        command = execution_command(clang, batch[0].source.optimization)
        header = precompiled_header(clang, command)
        self._scratch = tempfile.TemporaryDirectory(dir=cache_directory(), prefix=".build-")
        folder = Path(self._scratch.name)
        source, self._library = folder / "kernels.cpp", folder / batch[0].path.name
        alone = len(batch) == 1
        source.write_text("".join(unit.text(alone) for unit in batch), "utf-8")
        link_flags = (
            ["-dynamiclib", "-undefined", "dynamic_lookup"]
            if sys.platform == "darwin"
            else ["-shared", "-lm"]
        )
        self._process = subprocess.Popen(
            [*command, *header, str(source), "-o", str(self._library), *link_flags],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._errors: str | None = None
        self._finished = False

    def finish(self) -> str | None:
        """Wait, and put the library into the cache; returns clang's output when it failed."""
        if self._finished:
            return self._errors
        self._finished = True
        try:
            _, output = self._process.communicate(timeout=_MOST_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            output = f"clang did not end within {_MOST_SECONDS} seconds"
        if self._process.returncode:
            self._errors = output
        else:
            for unit in self._batch:
                link(self._library, unit.path)
        self._scratch.cleanup()
        return self._errors


def _first_error(unit: BuiltKernel, output: str) -> str:
    match = re.search(r"[^/\n]*\.metal:(\d+):\d+: (?:fatal )?error: (.*)", output)
    where = f"line {match.group(1)}: {match.group(2)}" if match else output.strip()
    return f"kernel '{unit.signature.name}' does not compile for the host device: {where}"


def load_kernel(unit: BuiltKernel) -> CompiledKernel:
    """Load the library of a kernel, which runs what it has to initialize."""
    try:
        library = ctypes.CDLL(str(unit.path))
    except OSError as error:
        raise KernelCompileError(
            f"kernel '{unit.signature.name}' cannot be loaded ({error}); is the compile cache "
            f"'{cache_directory()}' damaged?"
        ) from error
    group = getattr(library, group_symbol(unit.key), None)
    buffers = [p.buffer for p in unit.signature.parameters if p.buffer is not None]
    kind = ctypes.c_uint32 * max(1, len(buffers))
    alignments = kind.in_dll(library, alignment_symbol(unit.key))
    return CompiledKernel(
        source=unit.source,
        signature=unit.signature,
        reflection=unit.reflection,
        thread_entry=_address(getattr(library, thread_symbol(unit.key))),
        group_entry=_address(group) if group is not None else None,
        alignments=dict(zip(buffers, alignments, strict=False)),
    )


def _address(function: object) -> int:
    value = ctypes.cast(function, ctypes.c_void_p).value  # type: ignore[arg-type]
    assert value is not None
    return value
