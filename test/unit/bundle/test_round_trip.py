"""What is written is read again, byte for byte the same, without copying constants."""

from __future__ import annotations

import mmap
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingot.targets.bundle import model as m
from ingot.targets.bundle.errors import BundleError
from ingot.targets.bundle.reader import read_bundle
from ingot.targets.bundle.writer import write_bundle

characters = st.characters(exclude_categories=["Cc", "Cs"])
names = st.text(characters, max_size=8)
shapes = st.lists(st.integers(0, 5), max_size=4).map(tuple)
types = st.builds(m.TensorType, st.sampled_from(m.DType), shapes)


@st.composite
def constants(draw: st.DrawFn) -> m.Constant:
    tensor = draw(types)
    size = tensor.byte_size
    return m.Constant(draw(names), tensor, draw(st.binary(min_size=size, max_size=size)))


@st.composite
def functions(draw: st.DrawFn) -> m.Function:
    arguments, results = draw(st.tuples(*[st.lists(types, max_size=3)] * 2))
    named = draw(st.booleans())
    return m.Function(
        draw(st.text(characters, min_size=1, max_size=8)),
        tuple(arguments),
        tuple(results),
        tuple(f"a{i}" for i in range(len(arguments))) if named else (),
    )


@st.composite
def bundles(draw: st.DrawFn) -> m.Bundle:
    declared = draw(st.lists(functions(), max_size=3, unique_by=lambda f: f.name))
    variants = [
        m.Variant(
            target=draw(names),
            api=draw(st.sampled_from(["metal", "vulkan"])),
            family=draw(st.integers(0, 2**32 - 1)),
            simd_width=draw(st.integers(0, 64)),
            math_mode=draw(st.sampled_from(["safe", "fast", "strict"])),
            msl_version=draw(st.tuples(st.integers(0, 9), st.integers(0, 9))),
            kernels=(),
            bodies=tuple(
                m.FunctionBody(tuple(draw(st.lists(st.just(m.Barrier()), max_size=2))), 64, 3)
                for _ in declared
            ),
            required_features=tuple(draw(st.lists(names, max_size=2))),
        )
        for _ in range(draw(st.integers(1, 2)))
    ]
    return m.Bundle(
        tuple(declared),
        tuple(draw(st.lists(constants(), max_size=4))),
        tuple(variants),
        m.Provenance(*draw(st.tuples(names, names, names, names))),
    )


def test_sample_is_read_as_written(sample: m.Bundle) -> None:
    assert read_bundle(write_bundle(sample), "sample") == sample


def test_writing_is_deterministic(sample: m.Bundle) -> None:
    first = write_bundle(sample)
    assert write_bundle(sample) == first
    assert write_bundle(read_bundle(first, "sample")) == first


@given(bundles())
def test_any_bundle_is_read_as_written(bundle: m.Bundle) -> None:
    data = write_bundle(bundle)
    assert read_bundle(data, "bundle") == bundle
    assert write_bundle(read_bundle(data, "bundle")) == data


def test_constants_are_aligned_views_of_a_mapped_file(sample: m.Bundle, tmp_path: Path) -> None:
    data = write_bundle(sample)
    path = tmp_path / "sample.ingot"
    path.write_bytes(data)
    with path.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    bundle = read_bundle(mapped, "sample")
    for constant, original in zip(bundle.constants, sample.constants, strict=True):
        assert isinstance(constant.data, memoryview)
        assert constant.data.obj is mapped
        assert constant.data.readonly
        assert constant.data == original.data
    for original in (sample.constants[0], sample.constants[2]):
        assert data.rindex(bytes(original.data)) % 64 == 0


def test_writer_refuses_an_inconsistent_bundle(sample: m.Bundle) -> None:
    wrong = replace(sample, constants=(replace(sample.constants[0], data=b"short"),))
    with pytest.raises(BundleError, match="constant 'w' has 5 bytes of data, not 12"):
        write_bundle(wrong)


def test_names_are_kept_only_where_there_are_some() -> None:
    tensor = m.TensorType(m.DType.F32, ())
    function = m.Function("f", (tensor, tensor), (), ("", "b"))
    variant = m.Variant("t", "metal", 7, 32, "safe", (3, 1), (), (m.FunctionBody(()),))
    bundle = m.Bundle((function,), (), (variant,), m.Provenance("", "", "", ""))
    assert read_bundle(write_bundle(bundle), "b").functions[0].argument_names == ("", "b")
