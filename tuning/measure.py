"""Build programs and measure them in turn on one device: what a worker process does.

Everything that goes in and out can be pickled. A worker keeps the device, and the last program that
others are held against, so that a trial costs little more than its own candidate.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import inf
from statistics import median
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from ingot.compiler.driver.options import CompileOptions, MathMode
from ingot.compiler.driver.schedules import ScheduleEntry
from ingot.compiler.driver.single_kernels import MAIN, SingleKernel, compile_single

if TYPE_CHECKING:
    from ingot.compiler.analysis.schedule import Schedule
    from ingot.runtime import LoadedBundle, Signature
    from ingot.runtime.hal import Device
    from ingot.targets.bundle.model import TensorType

Array = NDArray[Any]

INTERNAL_ERROR = "internal error"
"""How the problem of a candidate begins that shows a bug in Ingot."""
_SEEDS = (1, 2)
"""Of the inputs that values are compared on: what the first ones leave in buffers is no result of
the second ones."""
_FEWEST_ROUNDS, _MOST_ROUNDS = 5, 1000
_HOPELESS = 3.0
"""Times the ratio to give up at after which one round is enough."""
_GIVE_UP_AFTER = 3
"""Rounds after which a candidate that is behind is left."""
_SHORT = 2e-3
"""Seconds of a run that is worth another one to warm caches up."""
_MOST_WORK = 2.0
"""Times the arithmetic of the first program that are not worth measuring."""
_MOST_POINTS = 1 << 28
"""Iterations of a kernel that the reference evaluator still takes seconds for."""


@dataclass(frozen=True)
class KernelBuild:
    """A kernel under a schedule."""

    kernel: SingleKernel
    schedule: Schedule
    math: MathMode = "safe"


@dataclass(frozen=True)
class ProgramBuild:
    """A whole program with schedules for some of its kernels."""

    text: str
    filename: str
    function: str
    target: str
    schedules: tuple[ScheduleEntry, ...] = ()
    math: MathMode = "safe"
    demote_f64: bool = False


Build = KernelBuild | ProgramBuild


@dataclass(frozen=True)
class Task:
    """What to build and to measure in turn; the first one is what the others are held against."""

    number: int
    builds: tuple[Build, ...]
    device: str
    seconds: float
    """For the rounds, once everything is built."""
    give_up: float = inf
    """The ratio to the first one above which a candidate is left after a few rounds."""
    with_reference: bool = False
    """Hold the first one's values against the reference evaluator's."""

    def on(self, device: str) -> Task:
        """The same on another device."""
        return replace(self, device=device)


@dataclass(frozen=True)
class Code:
    """What became of a build: a bundle, or why there is none."""

    bundle: bytes = b""
    problem: str = ""
    flops: float | None = None
    """Of all its kernels, as far as they can be told."""


@dataclass(frozen=True)
class Outcome:
    """What became of a task: for each build the seconds of every round, and what is wrong with it.

    A build that has a problem has no times that count.
    """

    seconds: tuple[tuple[float, ...], ...]
    problems: tuple[str, ...]

    @staticmethod
    def failed(task: Task, problem: str) -> Outcome:
        """Nothing was measured, for one reason."""
        count = len(task.builds)
        return Outcome(((),) * count, (problem,) * count)


@dataclass(frozen=True)
class DeviceDescription:
    """What a worker's device is."""

    name: str
    target: str
    """The profile that fits it best."""
    has_timestamps: bool


def run_task(task: Task) -> Outcome:
    """Build and measure."""
    return measure(task, build(task))


def describe(device: str) -> DeviceDescription:
    """What a device is; raises `DeviceUnavailableError`."""
    from ingot.targets.profiles import profile_for

    opened = _device(device)
    profile = profile_for(opened.api, opened.family, opened.simd_width)
    return DeviceDescription(opened.name, profile.name, "timestamps" in opened.features)


# Building


def build(task: Task) -> tuple[Code, ...]:
    """The bundles of a task; needs no device."""
    return tuple(map(_build, task.builds))


@lru_cache(maxsize=64)
def _build(wanted: Build) -> Code:
    from ingot.compiler.driver.compile import compile_text
    from ingot.compiler.driver.cost import kernel_costs
    from ingot.compiler.driver.diagnostics import is_user_error
    from ingot.targets.bundle.writer import write_bundle
    from ingot.targets.profiles import PROFILES

    try:
        match wanted:
            case KernelBuild(kernel, schedule, math):
                target = kernel.target
                bundle = compile_single(kernel, schedule, math)
            case ProgramBuild():
                target = wanted.target
                options = CompileOptions(
                    targets=(target,),
                    math=wanted.math,
                    demote_f64=wanted.demote_f64,
                    schedules=wanted.schedules,
                )
                bundle = compile_text(wanted.text, wanted.filename, options).bundle
    except Exception as error:
        # A search goes on without a candidate that shows a bug, and says so.
        what = "" if is_user_error(error) else f"{INTERNAL_ERROR}: {type(error).__name__}: "
        return Code(problem=f"{what}{error}")
    costs = kernel_costs(bundle.variants[0], PROFILES[target])
    flops = [cost.flops * cost.dispatches for cost in costs if cost.flops is not None]
    return Code(write_bundle(bundle), flops=sum(flops) if len(flops) == len(costs) else None)


# Measuring


def measure(task: Task, codes: Sequence[Code]) -> Outcome:
    """Run the bundles of a task in turn; values that differ from the first one's are a problem."""
    from ingot.runtime import IngotError

    base, *others = codes
    if base.problem:
        return Outcome.failed(task, base.problem)
    try:
        first = _first(base.bundle, task.device, _function(task.builds[0]))
    except IngotError as error:
        return Outcome.failed(task, str(error))
    problems = [_reference_problem(task.builds[0], first) if task.with_reference else ""]
    runs: list[_Run | None] = [first]
    for wanted, code in zip(task.builds[1:], others, strict=True):
        problem, run = code.problem or _too_much_work(code, base), None
        if not problem:
            try:
                run = _Run(code.bundle, _device(task.device), _function(wanted))
                problem = _difference(run.results, first.results)
            except IngotError as error:
                problem = str(error)
        problems.append(problem)
        runs.append(None if problem else run)
    seconds = _rounds(runs, task)
    return Outcome(seconds, tuple(problems))


class _Run:
    """A function on the device, with its results for the inputs of each seed."""

    def __init__(self, bundle: bytes, device: Device, function: str) -> None:
        from ingot.runtime import loads

        loaded = loads(bundle, "tuned")
        self._signature = _signature(loaded, function)
        self._is_timed = "timestamps" in device.features
        program = loaded.bind(device)
        name = self._signature.name
        self._call = program.prepare(name, *self.inputs(_SEEDS[0]), profiling=self._is_timed)
        self.results = [self._results(seed) for seed in _SEEDS]

    def inputs(self, seed: int) -> list[Array]:
        """Random ones, the same for all functions with the same arguments."""
        return _inputs(tuple(argument.type for argument in self._signature.arguments), seed)

    def seconds(self) -> float:
        """How long a run takes: by the device's clock where it has one, else until it returned."""
        begun = time.perf_counter()
        self._call.run()
        took = time.perf_counter() - begun
        timings = self._call.timings if self._is_timed else ()
        if not timings:
            return took
        return (max(t.end for t in timings) - min(t.start for t in timings)) * 1e-9

    def _results(self, seed: int) -> list[Array]:
        self._call.write(*self.inputs(seed))
        self._call.run()
        from ingot.runtime.calls import as_list

        return as_list(self._call.results())


def _signature(loaded: LoadedBundle, function: str) -> Signature:
    """The function of that name, or the only one, or `main`; raises `ArgumentError`."""
    from ingot.runtime import ArgumentError

    functions = loaded.functions
    name = function or (next(iter(functions)) if len(functions) == 1 else MAIN)
    if name not in functions:
        known = ", ".join(functions) or "none"
        raise ArgumentError(f"there is no function named {name}; there is {known}")
    for argument in functions[name].arguments:
        if not argument.type.is_static:
            raise ArgumentError(f"the size of argument {argument} is open")
    return functions[name]


def _function(wanted: Build) -> str:
    return MAIN if isinstance(wanted, KernelBuild) else wanted.function


def _too_much_work(code: Code, base: Code) -> str:
    if code.flops is None or not base.flops or code.flops <= _MOST_WORK * base.flops:
        return ""
    return f"it does {code.flops / base.flops:.1f} times the arithmetic"


@lru_cache(maxsize=1)
def _device(name: str) -> Device:
    from ingot.runtime import open_device

    return open_device(name)


@lru_cache(maxsize=1)
def _first(bundle: bytes, device: str, function: str) -> _Run:
    return _Run(bundle, _device(device), function)


@lru_cache(maxsize=2 * len(_SEEDS))
def _inputs(types: tuple[TensorType, ...], seed: int) -> list[Array]:
    from ingot.runtime.io import random_array

    return [random_array(type_, seed, position) for position, type_ in enumerate(types)]


def _difference(got: Sequence[Sequence[Array]], expected: Sequence[Sequence[Array]]) -> str:
    """What is wrong with the results for one of the inputs; "" when nothing is."""
    from ingot.compiler.driver.verify_values import compare

    for mine, theirs in zip(got, expected, strict=True):
        for one, other in zip(mine, theirs, strict=True):
            comparison = compare(one, other)
            if not comparison.is_right:
                return f"wrong values: {comparison}"
    return ""


def _reference_problem(wanted: Build, run: _Run) -> str:
    """What the reference evaluator finds wrong with a kernel; "" as well where it takes too long,
    or does not know an op."""
    from ingot.compiler.analysis.diagnostics import Refusal
    from ingot.compiler.dialects.context import make_context
    from ingot.compiler.frontends.reader import read_module
    from ingot.compiler.interpreter import EvaluationError, evaluate

    if not isinstance(wanted, KernelBuild) or wanted.kernel.points > _MOST_POINTS:
        return ""
    kernel = wanted.kernel
    module = read_module(kernel.text, kernel.name, make_context())
    try:
        expected = [evaluate(module, kernel.name, run.inputs(seed)) for seed in _SEEDS]
    except (EvaluationError, Refusal):
        return ""
    return _difference(run.results, expected)


def _rounds(runs: Sequence[_Run | None], task: Task) -> tuple[tuple[float, ...], ...]:
    """Seconds of each run in every round, short ones after one for warmth that does not count;
    the order is another one from round to round."""
    seconds: list[list[float]] = [[] for _ in runs]
    active = {i: run for i, run in enumerate(runs) if run is not None}
    end = time.perf_counter() + task.seconds
    for turn in range(_MOST_ROUNDS):
        late = time.perf_counter() > end and turn >= _FEWEST_ROUNDS
        if late or (turn and len(active) < 2 and turn >= _FEWEST_ROUNDS):
            break
        for i, run in sorted(active.items(), reverse=turn % 2 == 1):
            took = run.seconds()
            seconds[i].append(run.seconds() if took < _SHORT else took)
        if turn < _GIVE_UP_AFTER:
            limit = task.give_up * (1 if turn + 1 == _GIVE_UP_AFTER else _HOPELESS)
            for i in [i for i in active if i]:
                if median(seconds[i]) > limit * median(seconds[0]):
                    del active[i]
    return tuple(map(tuple, seconds))
