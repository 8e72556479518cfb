"""Programs in index notation, from the text to values on both devices."""

from __future__ import annotations

import numpy as np
import pytest
from support.harness import DEVICES, assert_close, run

from ingot.compiler.dialects.context import make_context
from ingot.compiler.frontends.reader import read_module
from ingot.compiler.interpreter import evaluate

PROGRAMS = {
    "matmul": "@arg A: f32[3,40], B: f32[40,50]\nC[i,k] := A[i,j] * B[j,k]",
    "attention": """
        @arg Q: f32[2,7,8], K: f32[2,9,8], V: f32[2,9,8]
        S[h,i,j] := Q[h,i,c] * K[h,j,c] |> _ / 8^0.5
        (max) m[h,i] := S[h,i,j]
        E[h,i,j] := exp(S[h,i,j] - m[h,i])
        z[h,i] := E[h,i,j]
        O[h,i,c] := E[h,i,j] / z[h,i] * V[h,j,c]
    """,
    "convolution with edges": """
        @arg N: f32[9,8], K: f32[3,3]
        R[x,y] := N[pad(x+i-2, 1), pad(y+j-2, 1)] * K[i,j] (x in 1:9, y in 1:8) |> max(_, 0)
    """,
    "gather and scatter": """
        @arg x: f32[11], k: i32[64], w: f32[64]
        @out y: f32[11]
        y[k[i]] := w[i] * x[k[i]]
    """,
    "chain": "@arg A: f32[17,30], B: f32[30,3], C: f32[3,40]\nD[i,l] := A[i,j] * B[j,k] * C[k,l]",
    "wrap": "@base 0\n@arg x: f32[10]\ny[i] := x[mod(i-3)] + x[clamp(i+3)] * i (i in 0:9)",
    "updates": "@arg x: f32[6], M: f32[6,6]\nM[i,i] += x[i]\nx[2i] *= M[i,j]\n@return x, M",
    "scalars": "@arg x: f32[33], s: f32\nt := s * x[i]^2 |> sqrt",
    "halves": "@arg x: f16[3000], y: f16[3000]\ns := x[i] * y[i]",
    "integers": "@arg k: i32[40]\n(max) m := k[i] * 3 % 7\nn := k[i] > 4",
}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_devices_agree_with_the_evaluator(name: str, device: str) -> None:
    module = read_module(PROGRAMS[name], f"{name}.tin", make_context())
    rng = np.random.default_rng(7)
    function = next(iter(module.body.block.ops))
    inputs = []
    for type_ in function.function_type.inputs:
        shape = type_.get_shape()
        match str(type_.element_type):
            case "i32":
                inputs.append(rng.integers(1, 12, shape).astype(np.int32))
            case "f16":
                inputs.append(rng.random(shape).astype(np.float16))
            case _:
                inputs.append(rng.random(shape, np.float32) + np.float32(0.25))
    expected = evaluate(module, "main", inputs)
    for got, wanted in zip(run(PROGRAMS[name], device, inputs), expected, strict=True):
        assert_close(got, wanted, name)
