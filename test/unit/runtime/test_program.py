"""Calling functions of bundles with NumPy arrays."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime.hal import Device
from ingot.targets.bundle import model as m
from ingot.targets.bundle.writer import write_bundle

from .conftest import axpy_bundle, axpy_dispatch, loaded, make_bundle, tensor, whole
from .kernels import assemble, axpy

F32 = m.DType.F32


def identity_bundle(of: m.TensorType) -> m.Bundle:
    size = of.byte_size
    copy = m.Copy(whole(m.BufferKind.ARGUMENT, 0, size), whole(m.BufferKind.RESULT, 0, size))
    return make_bundle({m.Function("main", (of,), (of,)): m.FunctionBody((copy,))})


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
def test_a_kernel_runs(device: Device, n: int) -> None:
    program = loaded(axpy_bundle(n)).bind(device)
    x = np.random.default_rng(0).standard_normal(n, np.float32)
    for turn in range(3):
        y = np.full(n, turn, np.float32)
        np.testing.assert_allclose(program.main(x, y), 2 * x + y, rtol=1e-6)


def test_a_prepared_call_keeps_its_arguments_on_the_device(device: Device) -> None:
    program = loaded(axpy_bundle(64)).bind(device)
    x, y = (np.full(64, value, np.float32) for value in (1, 2))
    call = program.prepare("main", x, y, profiling="timestamps" in device.features)
    other = program.prepare("main", y, y)
    for prepared, value in ((call, 4), (other, 6), (call, 4)):
        prepared.run()
        np.testing.assert_array_equal(prepared.results(), np.full(64, value, np.float32))
    assert len(call.timings) == ("timestamps" in device.features)
    call.write(y, y)
    call.run()
    np.testing.assert_array_equal(call.results(), program.main(y, y))
    with pytest.raises(rt.ArgumentError, match="takes 2 arguments, got 1"):
        call.write(y)


def test_arguments_may_have_strides(device: Device) -> None:
    x = np.arange(128, dtype=np.float32)[::-2]
    got = loaded(axpy_bundle(64)).bind(device).main(x, x)
    np.testing.assert_array_equal(got, 3 * x)


def test_results_are_the_callers_own(device: Device) -> None:
    program = loaded(axpy_bundle(4)).bind(device)
    zeros, ones = np.zeros(4, np.float32), np.ones(4, np.float32)
    first = program.main(zeros, ones)
    program.main(ones, ones)
    np.testing.assert_array_equal(first, ones)
    assert first.flags.writeable


def test_empty_tensors_and_grids(device: Device) -> None:
    empty = np.zeros(0, np.float32)
    got = loaded(axpy_bundle(0)).bind(device).main(empty, empty)
    assert got.shape == (0,) and got.dtype == np.float32


@pytest.mark.parametrize(
    ("dtype", "array"),
    [
        (m.DType.I1, np.array([True, False, True])),
        (m.DType.I8, np.array([-128, 0, 127], np.int8)),
        (m.DType.UI8, np.array([0, 128, 255], np.uint8)),
        (m.DType.I64, np.array([-(2**63), 0, 2**63 - 1])),
        (m.DType.F16, np.array([1.5, np.nan, -np.inf], np.float16)),
        (m.DType.BF16, np.array([1.5, np.nan, -np.inf], ml_dtypes.bfloat16)),
        (m.DType.C64, np.array([1 + 2j, 0, -1j], np.complex64)),
        (m.DType.I4, np.array([-8, 7, -1], ml_dtypes.int4)),
    ],
    ids=lambda value: value.name if isinstance(value, m.DType) else "",
)
def test_every_element_type_passes_through(
    device: Device, dtype: m.DType, array: np.ndarray
) -> None:
    got = loaded(identity_bundle(tensor(dtype, 3))).bind(device).main(array)
    assert got.dtype == array.dtype
    assert got.tobytes() == array.tobytes()


def test_scalars_are_arrays_without_dimensions(device: Device) -> None:
    got = loaded(identity_bundle(tensor(F32))).bind(device).main(np.array(3, np.float32))
    assert got.shape == () and got == 3


def test_unsigned_arrays_pass_for_signless_integers(device: Device) -> None:
    array = np.array([2**32 - 1], np.uint32)
    got = loaded(identity_bundle(tensor(m.DType.I32, 1))).bind(device).main(array)
    assert got.dtype == np.int32 and got[0] == -1


def test_constants_arena_and_several_results(device: Device) -> None:
    """main(x) gives x + w, and 2 * (x + w) + w by way of the arena."""
    n, size = 16, 64
    of = tensor(F32, n)
    w = np.arange(n, dtype=np.float32)
    x_ref, w_ref = whole(m.BufferKind.ARGUMENT, 0, size), whole(m.BufferKind.CONSTANT, 0, size)
    scratch = whole(m.BufferKind.TRANSIENT, 0, size, offset=256)
    results = [whole(m.BufferKind.RESULT, i, size) for i in range(2)]
    body = m.FunctionBody(
        (
            axpy_dispatch(n, 1.0, x_ref, w_ref, scratch),
            m.Barrier(),
            m.Copy(scratch, results[0]),
            axpy_dispatch(n, 2.0, scratch, w_ref, results[1]),
        ),
        transient_size=512,
    )
    none = m.Function("none", (of,), ())
    bundle = make_bundle(
        {m.Function("main", (of,), (of, of)): body, none: m.FunctionBody(())},
        (axpy(),),
        (m.Constant("w", of, w.tobytes()),),
    )
    program = loaded(bundle).bind(device)
    x = np.ones(n, np.float32)
    first, second = program.main(x)
    np.testing.assert_array_equal(first, x + w)
    np.testing.assert_array_equal(second, 2 * (x + w) + w)
    assert program.none(x) is None


def test_profile_times_each_command(device: Device) -> None:
    program = loaded(axpy_bundle(64)).bind(device)
    x = np.ones(64, np.float32)
    if "timestamps" not in device.features:
        with pytest.raises(rt.NoVariantError, match="no timestamps"):
            program.profile("main", x, x)
        return
    result, timings = program.profile("main", x, x)
    np.testing.assert_array_equal(result, 3 * x)
    assert [timing.label for timing in timings if timing.label != "copy"] == ["axpy"]


X = np.zeros(4, np.float32)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ((X,), r"^function 'main' takes 2 arguments, got 1$"),
        (
            (X, X[:3]),
            r"^argument 1 \(y\) of function 'main': expected 4xf32 \(float32\), got shape 3$",
        ),
        ((X, X.astype(np.float64)), r"expected 4xf32 \(float32\), got element type float64$"),
        ((X, X.astype(">f4")), r"got element type >f4$"),
        ((X, [0.0] * 4), r"got list, which is not a NumPy array$"),
        ((X.reshape(2, 2), X), r"^argument 0 \(x\) .* got shape 2x2$"),
        ((np.float32(0), X), r"got shape \(\) \(a scalar\)$"),
    ],
)
def test_wrong_arguments_are_named(
    vulkan: Device, arguments: tuple[object, ...], sentence: str
) -> None:
    program = loaded(axpy_bundle(4)).bind(vulkan)
    with pytest.raises(rt.ArgumentError, match=sentence):
        program.main(*arguments)


def test_unknown_functions_are_named(vulkan: Device) -> None:
    program = loaded(axpy_bundle(4)).bind(vulkan)
    with pytest.raises(rt.ArgumentError, match="no function 'other'; it has 'main'"):
        program.call("other")
    with pytest.raises(AttributeError, match="no function 'other'"):
        _ = program.other
    assert "main" in dir(program)


def test_functions_are_listed() -> None:
    function = loaded(axpy_bundle(4)).functions["main"]
    assert str(function) == "main(x: 4xf32, y: 4xf32) -> (z: 4xf32)"
    assert function.arguments[0].shape == (4,)
    assert function.arguments[0].dtype == np.float32


def test_files_are_loaded(tmp_path: Path, vulkan: Device) -> None:
    path = tmp_path / "axpy.ingot"
    path.write_bytes(write_bundle(axpy_bundle(4)))
    got = rt.load(path).bind(vulkan).main(X + 1, X)
    np.testing.assert_array_equal(got, X + 2)


def test_unreadable_files_are_bundle_errors(tmp_path: Path) -> None:
    with pytest.raises(rt.BundleError, match=r"gone\.ingot: cannot be read: No such file"):
        rt.load(tmp_path / "gone.ingot")
    with pytest.raises(rt.BundleError, match="cannot be read: Is a directory"):
        rt.load(tmp_path)
    empty = tmp_path / "empty.ingot"
    empty.touch()
    with pytest.raises(rt.BundleError, match="not an ingot bundle"):
        rt.load(empty)


def with_kernel(**changes: object) -> m.Bundle:
    bundle = axpy_bundle(4)
    variant = bundle.variants[0]
    kernel = replace(variant.kernels[0], **changes)
    return replace(bundle, variants=(replace(variant, kernels=(kernel,)), *bundle.variants[1:]))


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"spirv": b""}, "has no SPIR-V"),
        ({"spirv_entry_point": "other"}, "has no entry 'other'"),
        ({"spirv": assemble("OpCapability Kernel")}, "needs SPIR-V capability 6"),
        ({"spirv": assemble("OpCapability Shader")}, "has no entry 'axpy_main'"),
        (
            {"spirv": assemble("OpCapability Shader") + struct.pack("<I", 99 << 16)},
            "has a cut-off instruction",
        ),
    ],
)
def test_kernels_that_do_not_load_are_named(
    vulkan: Device, changes: dict[str, object], sentence: str
) -> None:
    with pytest.raises(rt.KernelError, match=f"kernel 'axpy' .*{sentence}"):
        loaded(with_kernel(**changes)).bind(vulkan)
