"""Arithmetic with a zero that is constant keeps NaNs, infinities and signs on every device."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from support.harness import DEVICES, run

from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate

VALUES = [np.nan, -1, 1, -np.inf, np.inf, 0.0, -0.0, 5, 6e-8, -6e4, 0.5, -2.5]
OPERATIONS = ["addf", "subf", "mulf", "divf"]
BODIES = [
    *(f"arith.{o} %x, %{c} : T" for o, c in product(OPERATIONS, ["zero", "minus"])),
    *(f"arith.{o} %{c}, %x : T" for o, c in product(OPERATIONS, ["zero", "minus"])),
    *(f"arith.{o} %x, %index : T" for o in OPERATIONS),
    *(f"arith.{o} %index, %x : T" for o in OPERATIONS),
    "math.fma %x, %zero, %one : T",
    "math.fma %minus, %x, %x : T",
    "math.fma %x, %one, %zero : T",
    "math.fma %x, %zero, %zero : T",
    "math.fma %index, %x, %minus : T",
]
"""The last operands are constant in some lanes, after what is computed from places is folded."""


def program(size: int, type_: str) -> str:
    tensor = f"tensor<{size}x{type_}>"
    lines = [f"func.func @main(%t: {tensor}) -> ({', '.join([tensor] * len(BODIES))}) {{"]
    for number, body in enumerate(BODIES):
        lines += [
            f"%e{number} = tensor.empty() : {tensor}",
            f"%r{number} = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>,"
            f' affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}'
            f" ins(%t : {tensor}) outs(%e{number} : {tensor}) {{",
            f"^bb0(%x: {type_}, %out: {type_}):",
            f"%zero = arith.constant 0.0 : {type_}",
            f"%minus = arith.constant -0.0 : {type_}",
            f"%one = arith.constant 1.0 : {type_}",
            "%i = linalg.index 0 : index",
            "%j = arith.index_cast %i : index to i32",
            f"%index = arith.sitofp %j : i32 to {type_}",
            f"%r = {body.replace('T', type_)}",
            f"linalg.yield %r : {type_}",
            f"}} -> {tensor}",
        ]
    results = ", ".join(f"%r{number}" for number in range(len(BODIES)))
    return "\n".join([*lines, f"return {results} : {', '.join([tensor] * len(BODIES))}", "}"])


@pytest.mark.parametrize("device_name", DEVICES)
@pytest.mark.parametrize("type_", ["f32", "f16"])
@pytest.mark.parametrize("first", [0, 4, 8])
def test_values(device_name: str, type_: str, first: int) -> None:
    dtype = np.float32 if type_ == "f32" else np.float16
    for size in (4, 12):
        inputs = [np.array([*VALUES[first:], *VALUES[:first]][:size], dtype)]
        text = program(size, type_)
        module = read_module(text, "zeros.mlir", make_context())
        expected = evaluate(module, "main", inputs)
        for body, got, wanted in zip(BODIES, run(text, device_name, inputs), expected, strict=True):
            wanted = np.asarray(wanted)
            np.testing.assert_array_equal(got, wanted, err_msg=body)
            known = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(got[known]), np.signbit(wanted[known]), body)
