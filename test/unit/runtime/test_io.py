"""Inputs and outputs as the command line writes them."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime.io import parse_literal, read_inputs, write_outputs
from ingot.targets.bundle import model as m


def signature(*types: m.TensorType) -> rt.Signature:
    return rt.Signature("main", tuple(rt.Parameter("", t) for t in types), ())


F32 = m.TensorType(m.DType.F32, (2,))
BF16 = m.TensorType(m.DType.BF16, (2,))


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("2x3xf32=1.5", np.full((2, 3), 1.5, np.float32)),
        ("f32=-inf", np.array(-np.inf, np.float32)),
        ("3xi32=[1, -2,0x10]", np.array([1, -2, 16], np.int32)),
        ("2x2xf16=[[1 2][3 nan]]", np.array([[1, 2], [3, np.nan]], np.float16)),
        ("2xi1=[true, 0]", np.array([True, False])),
        ("2xi8=[255, -128]", np.array([-1, -128], np.int8)),
        ("1xui64=[18446744073709551615]", np.array([2**64 - 1], np.uint64)),
        ("1xi64=[-9223372036854775808]", np.array([-(2**63)])),
        ("2xbf16=[1.0, 3.14]", np.array([1.0, 3.14], ml_dtypes.bfloat16)),
        ("2xi4=[-8, 15]", np.array([-8, -1], ml_dtypes.int4)),
        ("1xc64=[1-2j]", np.array([1 - 2j], np.complex64)),
        ("0x3xf32=[]", np.zeros((0, 3), np.float32)),
    ],
)
def test_literals(spec: str, expected: np.ndarray) -> None:
    got = parse_literal(spec)
    assert got.dtype == expected.dtype and got.shape == expected.shape
    assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("nonsense", "is none of SHAPExTYPE=VALUE, @file.npy, @file.npz or random:SEED"),
        ("4xf99=1", "is none of"),
        ("-4xf32=1", "is none of"),
        ("4xf32=[1, 2]", "has 2 values for 4 elements of 4xf32"),
        ("4xf32=", "has 0 values for 4 elements of 4xf32"),
        ("4xf32=one", "'one' in the input '4xf32=one' is not a value of type f32"),
        ("1xi8=[256]", "'256' in the input '1xi8=\\[256\\]' is not a value of type i8"),
        ("1xui8=-1", "is not a value of type ui8"),
        ("999999999999999x9999999999999xf32=0", "has 9999999999998"),
        ("random:x", "needs a whole number as its seed"),
        ("@gone.npy", "the input file 'gone.npy' does not exist"),
        ("@gone.npz", "the input file 'gone.npz' does not exist"),
        ("@gone.txt", "is none of"),
    ],
)
def test_specs_that_cannot_be_understood(spec: str, sentence: str) -> None:
    with pytest.raises(rt.ArgumentError, match=sentence):
        read_inputs([spec], signature(F32))


def test_number_of_inputs_is_checked() -> None:
    with pytest.raises(rt.ArgumentError, match="takes 2 arguments, got 1"):
        read_inputs(["f32=1"], signature(F32, F32))


def test_random_values_depend_on_seed_and_position_only() -> None:
    types = (F32, F32, BF16, m.TensorType(m.DType.I1, (9,)), m.TensorType(m.DType.I32, (9,)))
    first = read_inputs(["random:1"], signature(*types))
    again = read_inputs(["random:1"] * 5, signature(*types))
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, again, strict=True))
    assert first[0].tobytes() != first[1].tobytes()
    assert first[0].tobytes() != read_inputs(["random:2"], signature(F32))[0].tobytes()
    assert [str(a.dtype) for a in first] == ["float32", "float32", "bfloat16", "bool", "int32"]
    assert first[4].min() >= 0 and first[4].max() < 8


def test_outputs_come_back_as_inputs(tmp_path: Path) -> None:
    arrays = [
        np.array([1, 2], np.float32),
        np.array([1.5, np.nan], ml_dtypes.bfloat16),
        np.array([-8, 7], ml_dtypes.int4),
    ]
    types = signature(F32, BF16, m.TensorType(m.DType.I4, (2,)))
    files = [f"@{tmp_path}/{i}.npy" for i in range(3)]
    write_outputs(files, arrays)
    assert np.load(tmp_path / "1.npy").dtype == np.uint16
    for got, array in zip(read_inputs(files, types), arrays, strict=True):
        assert got.dtype == array.dtype and got.tobytes() == array.tobytes()


def test_archives_hold_all_arrays(tmp_path: Path) -> None:
    write_outputs([f"@{tmp_path}/out.npz"], [np.zeros(2, np.float32), np.ones(3, np.int32)])
    with np.load(tmp_path / "out.npz") as archive:
        assert sorted(archive) == ["out0", "out1"]
    np.savez(tmp_path / "in.npz", in0=np.zeros(2, np.float32), in1=np.zeros(2, np.uint16))
    spec = [f"@{tmp_path}/in.npz"]
    got = read_inputs(spec, signature(F32, BF16))
    assert [str(a.dtype) for a in got] == ["float32", "bfloat16"]
    with pytest.raises(rt.ArgumentError, match="no array 'in2' for argument 2"):
        read_inputs(spec, signature(F32, F32, F32))
    with pytest.raises(rt.ArgumentError, match="has an array 'in1', but the function takes 1"):
        read_inputs(spec, signature(F32))


def test_files_that_are_no_arrays_are_refused(tmp_path: Path) -> None:
    for name in ("bad.npy", "bad.npz"):
        (tmp_path / name).write_bytes(b"not an array")
        with pytest.raises(rt.ArgumentError, match="cannot be read"):
            read_inputs([f"@{tmp_path}/{name}"], signature(F32))
    np.save(tmp_path / "objects.npy", np.array([{}], object))
    with pytest.raises(rt.ArgumentError, match="cannot be read"):
        read_inputs([f"@{tmp_path}/objects.npy"], signature(F32))


@pytest.mark.parametrize(
    ("specs", "sentence"),
    [
        (["out.npy"], "neither @file.npy nor @file.npz"),
        (["@out.txt"], "neither @file.npy nor @file.npz"),
        (["@a.npy"], "the function has 2 results, got 1 files"),
        (["@a.npz", "@b.npy"], "takes all results"),
        (["@/no/such/folder/a.npz"], "cannot be written: No such file"),
    ],
)
def test_outputs_that_cannot_be_written(specs: list[str], sentence: str) -> None:
    with pytest.raises(rt.ArgumentError, match=sentence):
        write_outputs(specs, [np.zeros(1), np.zeros(1)])
