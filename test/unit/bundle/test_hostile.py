"""Damaged files: the same bundle or `BundleError`, never anything else."""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingot.targets.bundle import layout as fb
from ingot.targets.bundle import model as m
from ingot.targets.bundle.errors import BundleError
from ingot.targets.bundle.flat import FlatBuffer
from ingot.targets.bundle.reader import read_bundle
from ingot.targets.bundle.writer import _Writer, write_bundle

from . import conftest

DATA = write_bundle(conftest.make_sample())


def read_or_refuse(data: bytes) -> m.Bundle | None:
    try:
        return read_bundle(data, "damaged")
    except BundleError as error:
        assert str(error).startswith("damaged: ")
        assert "\n" not in str(error)
        return None


def test_every_truncation_is_refused() -> None:
    for length in range(len(DATA)):
        assert read_or_refuse(DATA[:length]) is None


def test_every_bit_flip_is_read_or_refused() -> None:
    for position in range(len(DATA)):
        for bit in range(8):
            damaged = bytearray(DATA)
            damaged[position] ^= 1 << bit
            read_or_refuse(bytes(damaged))


def test_many_changes_at_once_are_read_or_refused() -> None:
    generator = random.Random(0)
    interesting = [0, 1, 3, 4, 8, 0x7F, 0x80, 0xFE, 0xFF]
    for _ in range(5000):
        damaged = bytearray(DATA)
        for _ in range(generator.randint(1, 6)):
            position = generator.randrange(len(DATA) - 4)
            if generator.random() < 0.5:
                damaged[position] = generator.choice(interesting)
            else:
                struct.pack_into("<I", damaged, position & ~3, generator.getrandbits(32))
        read_or_refuse(bytes(damaged))


@given(st.binary(max_size=200))
def test_any_bytes_behind_the_identifier_are_refused(tail: bytes) -> None:
    assert read_or_refuse(b"\x08\0\0\0INGT" + tail) is None


def test_what_can_be_read_can_be_written_again() -> None:
    for position in range(0, len(DATA), 3):
        damaged = bytearray(DATA)
        damaged[position] ^= 0x10
        bundle = read_or_refuse(bytes(damaged))
        if bundle is not None:
            assert read_bundle(write_bundle(bundle), "again") == bundle


@pytest.mark.parametrize("data", [b"", b"\x7fELF" + bytes(60), b"{}", DATA[4:]])
def test_other_files_are_not_bundles(data: bytes) -> None:
    with pytest.raises(BundleError, match=r"^x: this is not an ingot bundle$"):
        read_bundle(data, "x")


def patched(field: str, code: str, value: int) -> bytes:
    data = bytearray(DATA)
    place = FlatBuffer(memoryview(data), "x").root(fb.BUNDLE).place(field, struct.calcsize(code))
    assert place is not None
    struct.pack_into(code, data, place, value)
    return bytes(data)


def test_newer_major_version_is_named() -> None:
    with pytest.raises(BundleError, match=r"version 2\.\d of the format, and .* up to 1\.x"):
        read_bundle(patched("major", "<H", 2), "x")


def test_appended_bytes_are_refused() -> None:
    with pytest.raises(BundleError, match="should have"):
        read_bundle(DATA + b"\0", "x")


def test_constants_must_begin_inside_the_file() -> None:
    with pytest.raises(BundleError, match="constants cannot begin"):
        read_bundle(patched("data_offset", "<Q", 2**40), "x")


def test_tables_that_share_parts_endlessly_are_refused() -> None:
    """A file of 40 kB that stands for 25 million arguments."""
    writer = _Writer()
    tensor = writer._table(fb.TENSOR_TYPE, dtype=8)
    parameter = writer._table(fb.PARAMETER, type=tensor)
    function = writer._table(fb.FUNCTION, name="f", arguments=[parameter] * 5000)
    provenance = writer._table(fb.PROVENANCE, pipeline="p")
    root = writer._table(
        fb.BUNDLE,
        major=1,
        file_size=1,
        functions=[function] * 5000,
        provenance=provenance,
    )
    writer._builder.Finish(root, fb.IDENTIFIER)
    data = bytearray(writer._builder.Output())
    place = FlatBuffer(memoryview(data), "x").root(fb.BUNDLE).place("file_size", 8)
    assert place is not None
    struct.pack_into("<Q", data, place, len(data))
    with pytest.raises(BundleError, match="refer to each other too often"):
        read_bundle(bytes(data), "x")


def test_reading_costs_at_most_a_multiple_of_the_file() -> None:
    flat = FlatBuffer(memoryview(bytes(1000)), "x")
    for _ in range(4):
        flat.claim(0, 1000, 4, "a table")
    with pytest.raises(BundleError, match="refer to each other too often"):
        flat.claim(0, 4, 4, "a table")


def with_command(command: m.Command) -> m.Bundle:
    bundle = conftest.make_sample()
    variant = bundle.variants[0]
    body = replace(variant.bodies[0], commands=(command,))
    return replace(bundle, variants=(replace(variant, bodies=(body, *variant.bodies[1:])),))


ARGUMENT = conftest.ref(m.BufferKind.ARGUMENT, 0, 0, 16)
TRANSIENT = conftest.ref(m.BufferKind.TRANSIENT, 0, 0, 16)
BOUND = (ARGUMENT, TRANSIENT)
WORD = conftest.ref(m.BufferKind.TRANSIENT, 0, 0, 4)
R0 = conftest.R0


def nested_loops(depth: int) -> m.Command:
    loop = m.Loop(1, ())
    for _ in range(depth):
        loop = m.Loop(1, (loop,))
    return loop


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (m.Dispatch(1, (1, 1, 1), BOUND, b"abcd"), "runs kernel 1, but there are 1"),
        (m.Dispatch(0, (1, 1, 1), BOUND[:1], b"abcd"), "binds 1 buffers, but kernel 'add' has 2"),
        (m.Dispatch(0, (1, 1, 1), BOUND, b""), "0 bytes of push constants"),
        (m.Dispatch(0, (1, 2**32, 1), BOUND, b"abcd"), "the grid of command 0"),
        (m.Dispatch(0, (1, 1, 1), (ARGUMENT, ARGUMENT), b"abcd"), "writes to argument 0"),
        (m.Fill(TRANSIENT, b"abc"), "a pattern of 3 bytes"),
        (m.Fill(replace(TRANSIENT, offset=120), b"a"), "bytes 120 to 136 of transient 0"),
        (m.Fill(replace(TRANSIENT, index=1), b"a"), "transient 1 of 1"),
        (m.Fill(replace(TRANSIENT, offset=-4), b"a"), "a negative offset"),
        (m.Copy(ARGUMENT, replace(TRANSIENT, length=8)), "copies 16 bytes to 8 bytes"),
        (m.Copy(TRANSIENT, replace(TRANSIENT, offset=8)), "copies onto itself"),
        (m.Load(m.Register(2), TRANSIENT), "uses register 2 of 2"),
        (m.Load(m.Register(0), TRANSIENT), "loads no 1, 4 or 8 bytes"),
        (m.Store(TRANSIENT, 1), "a range of no 4 bytes"),
        (m.Loop(2**63, ()), "the number 9223372036854775808"),
        (m.Loop(1, (m.If(1, (), (m.Fill(ARGUMENT, b"a"),)),)), "command 0.0.0 .* writes to arg"),
        (nested_loops(40), "nests control flow more than 32 deep"),
        (
            m.Loop(1, (m.Load(R0, WORD), m.Store(WORD, R0))),
            "depends on a register that is loaded from the device",
        ),
    ],
)
def test_commands_out_of_range_are_refused(command: m.Command, sentence: str) -> None:
    with pytest.raises(BundleError, match=sentence):
        write_bundle(with_command(command))


def test_sizes_that_overflow_are_refused() -> None:
    bundle = conftest.make_sample()
    huge = replace(bundle.functions[1], results=(m.TensorType(m.DType.F32, (2**40, 2**40)),))
    with pytest.raises(BundleError, match="the size of result 0 of function 'nothing' in bytes"):
        write_bundle(replace(bundle, functions=(bundle.functions[0], huge, bundle.functions[2])))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"setup": (m.Size(R0, 0, 1),)}, "asks for dimension 1 of argument 0"),
        ({"setup": (m.Size(m.Register(2), 0, 0),)}, "uses register 2 of 2"),
        ({"result_sizes": ()}, "gives 0 sizes for 1 of its results"),
        ({"transient": 8}, "the arena of function 'sized' has two sizes"),
        ({"registers": 2**20}, "the registers of function 'sized'"),
    ],
)
def test_setups_out_of_range_are_refused(change: dict[str, Any], sentence: str) -> None:
    bundle = conftest.make_sample()
    variant = bundle.variants[0]
    body = replace(variant.bodies[2], **change)
    variant = replace(variant, bodies=(*variant.bodies[:2], body))
    with pytest.raises(BundleError, match=sentence):
        write_bundle(replace(bundle, variants=(variant,)))
