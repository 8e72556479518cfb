"""Weights beside the bundle: written for everybody, mapped, and refused when they changed."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import ingot.runtime as rt
from ingot.targets.bundle import model as m
from ingot.targets.bundle.errors import BundleError
from ingot.targets.bundle.reader import read_bundle
from ingot.targets.bundle.weights import LARGE, save_bundle
from ingot.targets.bundle.writer import write_bundle

F32 = np.arange(LARGE // 4 + 1, dtype="f4")
I8 = np.arange(LARGE, dtype=np.uint8).view("i1").reshape(64, -1)


@pytest.fixture
def bundle(sample: m.Bundle) -> m.Bundle:
    """The sample with two large constants, one of them twice under one name, and a small one."""
    constants = (
        m.Constant("w", m.TensorType(m.DType.F32, F32.shape), F32.tobytes()),
        m.Constant("w", m.TensorType(m.DType.I8, I8.shape), I8.tobytes()),
        m.Constant("small", m.TensorType(m.DType.F32, (2,)), bytes(8)),
    )
    return replace(sample, constants=(*sample.constants, *constants))


def save(bundle: m.Bundle, folder: Path) -> tuple[Path, Path]:
    paths = folder / "model.ingot", folder / "model.safetensors"
    save_bundle(bundle, *paths)
    return paths


def test_the_package_reads_what_is_written(bundle: m.Bundle, tmp_path: Path) -> None:
    path, weights = save(bundle, tmp_path)
    tensors = load_file(weights)
    assert sorted(tensors) == sorted(
        {
            c.weight.key
            for c in read_bundle(path.read_bytes(), "b").constants
            if c.weight is not None
        }
    )
    assert np.array_equal(tensors["w"], F32)
    (other,) = (tensor for key, tensor in tensors.items() if key != "w")
    assert np.array_equal(other, I8)


def test_a_loaded_bundle_has_the_data_in_place(bundle: m.Bundle, tmp_path: Path) -> None:
    path, _ = save(bundle, tmp_path)
    loaded = rt.load(path).bundle
    assert [bytes(c.data) for c in loaded.constants] == [bytes(c.data) for c in bundle.constants]
    aligned = next(c for c in loaded.constants if c.type.shape == I8.shape)
    assert np.frombuffer(aligned.data, np.uint8).ctypes.data % 64 == 0
    assert len(path.read_bytes()) < F32.nbytes + I8.nbytes


def test_the_same_bundle_gives_the_same_files(bundle: m.Bundle, tmp_path: Path) -> None:
    first = [p.read_bytes() for p in save(bundle, tmp_path)]
    assert [p.read_bytes() for p in save(bundle, tmp_path)] == first


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda t: {**t, "w": t["w"] + 1}, r"have changed: w has other values"),
        (lambda t: {**t, "w": t["w"].astype("f8")}, r"have changed: w has the dtype F64, not F32"),
        (lambda t: {**t, "w": t["w"][:5]}, r"have changed: w has the shape \[5\], not \[1025\]"),
        (lambda t: {k: v for k, v in t.items() if k != "w"}, r"have changed: w is missing"),
    ],
    ids=["values", "dtype", "shape", "missing"],
)
def test_changed_weights_are_refused(
    bundle: m.Bundle, tmp_path: Path, damage: object, sentence: str
) -> None:
    path, weights = save(bundle, tmp_path)
    assert callable(damage)
    save_file(damage(load_file(weights)), weights)
    with pytest.raises(BundleError, match=rf"model\.ingot: its weights {sentence}"):
        rt.load(path)


@pytest.mark.parametrize("content", [b"", bytes(7), b"\xff" * 64, b"\x02" + bytes(7) + b"[]"])
def test_a_file_of_another_kind_is_refused(
    bundle: m.Bundle, tmp_path: Path, content: bytes
) -> None:
    path, weights = save(bundle, tmp_path)
    weights.write_bytes(content)
    with pytest.raises(BundleError, match="is not a safetensors file"):
        rt.load(path)


def test_missing_weights_are_refused(bundle: m.Bundle, tmp_path: Path) -> None:
    path, weights = save(bundle, tmp_path)
    weights.unlink()
    with pytest.raises(BundleError, match=r"weights are missing: .*model\.safetensors cannot"):
        rt.load(path)
    with pytest.raises(BundleError, match="no folder is known"):
        rt.loads(path.read_bytes())


def test_tensors_share_no_bytes_and_have_the_size_of_their_type(tmp_path: Path) -> None:
    """Else a small file could ask for much hashing, or a constant be shorter than it says."""
    digest = sha256(bytes(8)).digest()
    body = m.FunctionBody(())
    variant = m.Variant("metal:x", "metal", 0, 0, "safe", (3, 1), (), (body,))

    def load(keys: str, size: int, header: bytes) -> None:
        constants = tuple(
            m.Constant(key, m.TensorType(m.DType.I8, (size,)), b"", m.Weight("w", key, digest))
            for key in keys
        )
        bundle = m.Bundle(
            (m.Function("main", (), ()),), constants, (variant,), m.Provenance("", "", "", "")
        )
        (tmp_path / "m.ingot").write_bytes(write_bundle(bundle))
        (tmp_path / "w").write_bytes(len(header).to_bytes(8, "little") + header + bytes(8))
        rt.load(tmp_path / "m.ingot")

    entry = b'"%c":{"dtype":"I8","shape":[%d],"data_offsets":[0,8]}'
    load("a", 8, b"{" + entry % (ord("a"), 8) + b"}")
    with pytest.raises(BundleError, match="b is there twice"):
        load("ab", 8, b"{" + entry % (ord("a"), 8) + b"," + entry % (ord("b"), 8) + b"}")
    with pytest.raises(BundleError, match="a lies outside of the file"):
        load("a", 16, b"{" + entry % (ord("a"), 16) + b"}")


def test_weights_belong_beside_the_bundle(bundle: m.Bundle, tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="belong beside the bundle"):
        save_bundle(bundle, tmp_path / "m.ingot", tmp_path / "other" / "m.safetensors")


def test_a_weight_names_a_file_and_no_path(bundle: m.Bundle, tmp_path: Path) -> None:
    weight = m.Weight("../m.safetensors", "w", bytes(32))
    constants = (replace(bundle.constants[0], weight=weight), *bundle.constants[1:])
    with pytest.raises(BundleError, match="is not the name of a file"):
        save_bundle(replace(bundle, constants=constants), tmp_path / "m.ingot")
