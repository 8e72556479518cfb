"""Loops, branches and calls between kernels, on both devices, against the reference evaluator."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.control_flow import ADD_4, PROGRAMS, X
from support.harness import DEVICES, assert_close, bundle_for, device, rt

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.driver.verify_values import reference_results
from ingot.targets.bundle import model as m
from ingot.targets.bundle.writer import write_bundle


@cache
def program_for(text: str, device_name: str) -> rt.Program:
    return rt.loads(write_bundle(bundle_for(text, device_name))).bind(device(device_name))


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_values_are_right(name: str, device_name: str) -> None:
    text, inputs = PROGRAMS[name]
    arrays = [np.asarray(value) for value in inputs]
    program = program_for(text, device_name)
    expected = reference_results(text, "test.mlir", "f", arrays)
    for _ in range(2):
        result = program.call("f", *arrays)
        results = list(result) if isinstance(result, tuple) else [result]
        assert len(results) == len(expected)
        for index, (got, want) in enumerate(zip(results, expected, strict=True)):
            assert_close(got, np.asarray(want).astype(got.dtype), f"result {index}")


def test_a_counted_loop_does_not_ask_the_device() -> None:
    (body,) = bundle_for(PROGRAMS["for"][0], "host").variants[0].bodies
    assert not m.loaded_registers(body.commands)
    (loop,) = (c for c in body.commands if isinstance(c, m.Loop))
    assert loop.count == 7


def test_a_while_loop_asks_once_a_turn() -> None:
    (body,) = bundle_for(PROGRAMS["while"][0], "host").variants[0].bodies
    assert len(m.loaded_registers(body.commands)) == 1


def test_control_flow_that_is_nested_too_deep_is_refused() -> None:
    head = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
    head += "".join(f"%c{i} = arith.constant {i} : index\n" for i in (0, 1, 2))
    opened = "".join(
        f"%r{i} = scf.for %i{i} = %c0 to %c2 step %c1 iter_args(%a{i + 1} = %a{i}) -> "
        "(tensor<4xf32>) {\n"
        for i in range(31)
    ).replace("%a0)", "%x)")
    yielded = ["%a31", *(f"%r{i}" for i in range(30, 0, -1))]
    closed = "".join(f"scf.yield {value} : tensor<4xf32>\n}}\n" for value in yielded)
    text = f"{head}{opened}{closed}return %r0 : tensor<4xf32>\n}}\n"
    with pytest.raises(Refusal, match="control flow is nested more than 30 deep"):
        bundle_for(text, "host")


def test_functions_share_what_they_call() -> None:
    text = """func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = func.call @add(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    }
    func.func @thrice(%x: tensor<4xf32>) -> tensor<4xf32> {
      %d = func.call @twice(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %r = func.call @add(%d, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    }
    """
    program = program_for(text + ADD_4, "host")
    np.testing.assert_array_equal(program.call("twice", X), 2 * X)
    np.testing.assert_array_equal(program.call("thrice", X), 3 * X)
