"""A hundred random programs on both devices; `make fuzz` runs as many as you like."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from support.harness import device as opened
from xdsl.dialects.builtin import ModuleOp

from fuzz.check import Failure, check_all, reference
from fuzz.generate import random_inputs, random_program
from fuzz.reduction import Breaks, reduced
from ingot.compiler.dialects.context import make_context
from ingot.compiler.driver.registry import get_pass
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate

BATCH = 5
PROGRAMS = 100


@pytest.mark.parametrize("first", range(0, PROGRAMS, BATCH))
def test_random_programs(first: int) -> None:
    devices = [f"host:random:{first}", "vulkan"]
    for device in devices:
        opened(device.partition(":")[0])
    seeds = list(range(first, first + BATCH))
    failures = check_all([random_program(Random(seed)) for seed in seeds], seeds, devices)
    wrong = [
        f"seed {seed} on {failure.device}: {failure.kind}: {failure.message}"
        for seed, failure in zip(seeds, failures, strict=True)
        if failure is not None
    ]
    assert not wrong, "\n".join(wrong)


def test_what_fails_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: object, context: object, module: ModuleOp) -> None:
        if any(op.name == "arith.addf" for op in module.walk()):
            raise KeyError("oops")

    monkeypatch.setattr(get_pass("dispatch-outline"), "apply", broken)
    program = next(p for p in map(random_program, map(Random, range(99))) if "addf" in p.text())
    text = reduced(program.text(), Failure("crash", "", "host"), 0)
    assert "dispatch-outline: KeyError" in (Breaks("host")(text) or "")
    assert text.count("\n") < 12, text


@pytest.mark.parametrize("seed", range(40))
def test_the_error_analysis_holds(seed: int) -> None:
    """The reference in the program's types is off from float64 by no more than it is allowed."""
    program = random_program(Random(seed))
    inputs = random_inputs(program, seed)
    (rounded,) = reference(program.text(), ["main"], [inputs])
    module = read_module(program.text(), "fuzz.mlir", make_context())
    exact = evaluate(module, "main", list(inputs), "float64")
    for value, a, b in zip(program.results, rounded, exact, strict=True):
        mine, theirs = np.asarray(a, np.float64), np.asarray(b, np.float64)
        finite = np.isfinite(theirs)
        off = np.abs(np.where(finite, mine - np.where(finite, theirs, 0.0), 0.0))
        assert np.all(off <= value.spread.error), f"{value.name}: {off.max(initial=0.0)}"
        assert np.all(np.abs(theirs[finite]) <= value.spread.bound * (1 + 1e-6) + 1e-6) or (
            value.dtype[0] == "i" or program.special
        ), value
