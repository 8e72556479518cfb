"""Hold devices against the reference evaluator, and make a failing program small."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

import ingot.runtime as rt
from fuzz.generate import Array, random_inputs
from fuzz.values import SMALLEST, Op, Program, Value
from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.compile import compile_module
from ingot.compiler.driver.options import CompileOptions
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate
from ingot.targets.bundle.writer import write_bundle

TARGETS = {"host": "metal:apple7", "vulkan": "vulkan:generic"}


@dataclass(frozen=True)
class Failure:
    """A program that a device computes wrongly, or that does not compile."""

    kind: str
    """`mismatch`, `refused` or `crash`."""
    message: str
    device: str
    """The first device that failed."""


def reference(
    text: str, names: Sequence[str], inputs: Sequence[Sequence[Array]]
) -> list[list[Array]]:
    """The results of functions of a module, in the program's own types."""
    module = read_module(text, "fuzz.mlir", make_context())
    return [evaluate(module, n, list(i)) for n, i in zip(names, inputs, strict=True)]


def check(program: Program, seed: int, devices: Sequence[str]) -> Failure | None:
    """Compile, run, compare; `devices` are names for `open_device`, as `host:random:7`."""
    return check_all([program], [seed], devices)[0]


def check_all(
    programs: Sequence[Program], seeds: Sequence[int], devices: Sequence[str]
) -> list[Failure | None]:
    """`check` of several programs as functions of one module, compiled once, which is faster.

    When that fails, each runs alone to find the one that is wrong.
    """
    names = [f"p{n}" for n in range(len(programs))]
    text = "".join(p.text(n) for p, n in zip(programs, names, strict=True))
    inputs = [random_inputs(p, seed) for p, seed in zip(programs, seeds, strict=True)]
    found: list[Failure | None] = [None] * len(programs)
    device = devices[0]
    try:
        targets = tuple(dict.fromkeys(TARGETS[name.partition(":")[0]] for name in devices))
        bundle = compile_module(text, "fuzz.mlir", CompileOptions(targets=targets))
        loaded = rt.loads(write_bundle(bundle))
        expected = reference(text, names, inputs)
        for device in devices:
            results = _run(loaded, names, inputs, device)
            for n, (program, got, want) in enumerate(zip(programs, results, expected, strict=True)):
                found[n] = found[n] or _mismatch(program, got, want, device)
    except Exception as error:
        if len(programs) > 1:
            return [check(p, s, devices) for p, s in zip(programs, seeds, strict=True)]
        kind = "refused" if isinstance(error, Refusal) else "crash"
        return [Failure(kind, f"{type(error).__name__}: {error}", device)]
    return found


def _run(
    loaded: rt.LoadedBundle, names: Sequence[str], inputs: Sequence[Sequence[Array]], device: str
) -> list[list[Array]]:
    bound = loaded.bind(rt.open_device(device))
    results: list[list[Array]] = []
    for name, arguments in zip(names, inputs, strict=True):
        result = bound.call(name, *arguments)
        results.append(list(result) if isinstance(result, tuple) else [result])
    return results


def _mismatch(
    program: Program, got: Sequence[Array], want: Sequence[Array], device: str
) -> Failure | None:
    for n, (value, mine, theirs) in enumerate(zip(program.results, got, want, strict=True)):
        if text := difference(value, mine, theirs):
            return Failure("mismatch", f"result {n}: {text}", device)
    return None


def difference(value: Value, got: Array, want: Array) -> str | None:
    """What is wrong with an element, or None; floats may be off by what the analysis allows."""
    if got.shape != want.shape or got.dtype != want.dtype:
        return f"{got.dtype}{list(got.shape)}, expected {want.dtype}{list(want.shape)}"
    if value.dtype not in SMALLEST:
        wrong = got != want
    else:
        mine, theirs = got.astype(np.float64), want.astype(np.float64)
        finite = np.isfinite(theirs)
        special = (np.isnan(mine) == np.isnan(theirs)) & ((mine == theirs) | np.isnan(theirs))
        # Both may be off, the reference too.
        near = np.abs(np.where(finite, mine - np.where(finite, theirs, 0.0), 0.0))
        close = np.isfinite(mine) & (near <= 2.0 * value.spread.error)
        wrong = ~np.where(finite, close, special)
    if not wrong.any():
        return None
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    return (
        f"{int(wrong.sum())} of {wrong.size} elements of {value.name} ({value.type}) are wrong; "
        f"at {list(at)}: {got[at]}, expected {want[at]} (allowed {2.0 * value.spread.error:.1e})"
    )


def minimized(program: Program, fails: Callable[[Program], bool]) -> Program:
    """A smaller program that still fails: fewer results, and arguments for intermediates."""
    shrinking = True
    while shrinking:
        shrinking = False
        for smaller in _smaller(program):
            if fails(smaller):
                program, shrinking = smaller, True
                break
    return program


def _smaller(program: Program) -> Iterator[Program]:
    if len(program.results) > 1:
        for result in program.results:
            yield replace(program, results=(result,)).pruned()
    for op in program.ops:
        for result in op.results:
            if result in program.results or f"{result.name} = tensor.empty" in op.text:
                continue
            yield replace(program, results=(result,)).pruned()
    for op in reversed(program.ops):
        if any(result in program.results for result in op.results) or "tensor.empty" in op.text:
            continue
        yield _as_arguments(program, op)


def _as_arguments(program: Program, op: Op) -> Program:
    """The program that takes the results of `op` as arguments."""
    ops = [other for other in program.ops if other is not op]
    arguments = list(program.arguments)
    for result in op.results:
        name = result.name.replace("#", "_")
        arguments.append(replace(result, name=name))
        if name != result.name:
            ops = [
                Op(
                    o.text.replace(result.name, name),
                    o.results,
                    tuple(name if n == result.name else n for n in o.operands),
                )
                for o in ops
            ]
    return replace(program, arguments=tuple(arguments), ops=tuple(ops)).pruned()
