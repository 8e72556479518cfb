"""Kernels run on the host device: what the text computes is what SPIR-V says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from unit.pyspirv.assembly import assemble, kernel

from ingot.runtime.devices.host.binding import Binding
from ingot.runtime.devices.host.errors import ClangNotFoundError
from ingot.runtime.devices.host.kernel import compile_kernel
from ingot.targets.msl import cross_compile
from ingot.targets.pyspirv import Library

Array = NDArray[Any]
NAN = float("nan")


def run(text: str, library: Library, *inputs: Array, result: type[np.generic]) -> Array:
    """Run a kernel made by `kernel` over its inputs, 64 elements each."""
    source = cross_compile(assemble(text), kernel_name="k", library=library)
    try:
        compiled = compile_kernel(source.text, source.entry_point)
    except ClangNotFoundError as error:
        pytest.skip(str(error))
    out = np.zeros(64, result)
    arrays = [np.ascontiguousarray(np.resize(x, 64)) for x in inputs]
    bindings = [
        Binding(binding.name, array.ctypes.data, array.nbytes)
        for binding, array in zip(source.bindings, (*arrays, out), strict=True)
    ]
    size = source.threadgroup_size
    compiled.run(bindings, (1, 1, 1), size, argument_buffer=source.argument_buffer)
    return out


def test_remainders_take_the_sign_of_the_dividend(library: Library) -> None:
    x = np.array([7, -7, 7, -7, 0, -2147483648], np.int32)
    y = np.array([3, 3, -3, -3, 5, 7], np.int32)
    text = kernel("%r = OpSRem %i32 %x %y", element="i32")
    got = run(text, library, x.view(np.uint32), y.view(np.uint32), result=np.uint32)
    assert got.view(np.int32)[:6].tolist() == np.fmod(x, y).tolist()


@pytest.mark.parametrize(
    ("op", "with_nan", "with_equal"),
    [
        ("OpFOrdNotEqual", 0, 0),
        ("OpFUnordNotEqual", 1, 0),
        ("OpFOrdEqual", 0, 1),
        ("OpFUnordEqual", 1, 1),
        ("OpFOrdLessThanEqual", 0, 1),
        ("OpFUnordLessThan", 1, 0),
        ("OpFUnordGreaterThanEqual", 1, 1),
    ],
)
def test_comparisons_of_vectors_and_nan(
    library: Library, op: str, with_nan: int, with_equal: int
) -> None:
    body = (
        f"%c = {op} %bool_vec2 %x %y\n%zero = OpCompositeConstruct %i32x2 %c0 %c0\n"
        "%one = OpCompositeConstruct %i32x2 %c1 %c1\n%r = OpSelect %i32x2 %c %one %zero"
    )
    text = kernel(
        body,
        element="f32x2",
        result="i32x2",
        declarations="%bool_vec2 = OpTypeVector %bool 2",
    ).replace("LocalSize 64", "LocalSize 32")
    x = np.array([NAN, 1.0], np.float32)
    y = np.array([1.0, 1.0], np.float32)
    got = run(text, library, x, y, result=np.uint32)
    assert got[:2].tolist() == [with_nan, with_equal]


def test_functions_of_halves_saturate_as_they_should(library: Library) -> None:
    x = np.array([100.0, -100.0, 0.5, NAN], np.float16)
    text = kernel("%r = OpExtInst %f16 %glsl Tanh %x", element="f16")
    got = run(text, library, x, x, result=np.float16)
    np.testing.assert_array_equal(got[:2], np.array([1, -1], np.float16))
    np.testing.assert_allclose(got[2], np.tanh(np.float16(0.5)), rtol=1e-3)
    assert np.isnan(got[3])


def test_wide_integers_travel_between_lanes(library: Library) -> None:
    x = np.arange(64, dtype=np.uint64) * 0x1_0000_0001 + (1 << 62)
    text = kernel("%r = OpGroupNonUniformShuffleXor %i64 %c3 %x %c1", element="i64")
    got = run(text, library, x, x, result=np.uint64)
    assert got.tolist() == x[np.arange(64) ^ 1].tolist()


def test_forty_buffers_reach_the_kernel(library: Library) -> None:
    names = (*(f"in{n}" for n in range(39)), "out")
    text = kernel("%r = OpFAdd %f32 %x37 %x38", names=names)
    inputs = [np.full(64, n, np.float32) for n in range(39)]
    assert run(text, library, *inputs, result=np.float32).tolist() == [37.0 + 38.0] * 64
