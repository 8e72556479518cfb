"""Fills and copies: any offset, any length, and no byte beside."""

from __future__ import annotations

import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime.hal import Device

from .work import filled, part, record, run

OFFSETS = (0, 1, 2, 3, 4, 7)
LENGTHS = (0, 1, 2, 3, 4, 5, 8, 31, 33, 65_535)
PATTERNS = (b"\xa5", b"\x01\x02", b"\x01\x02\x03\x04")
AREA = 65_536 + 64


@pytest.mark.parametrize("pattern", PATTERNS, ids=len)
def test_fill_any_offset_and_length(device: Device, pattern: bytes) -> None:
    for offset in OFFSETS:
        for length in LENGTHS:
            area = filled(device, b"\xee" * AREA)
            target = part(area, offset, length)
            run(device, lambda c, target=target: c.fill(target, pattern))
            expected = (pattern * (length // len(pattern) + 1))[:length]
            got = area.read()
            assert got[offset : offset + length] == expected, (offset, length)
            assert set(got[:offset] + got[offset + length :]) == {0xEE}, (offset, length)
            area.release()


@pytest.mark.parametrize("target_offset", OFFSETS)
def test_copy_any_offset_and_length(device: Device, target_offset: int) -> None:
    content = np.random.default_rng(0).bytes(AREA)
    source = filled(device, content)
    for offset in OFFSETS:
        for length in LENGTHS:
            area = filled(device, bytes(AREA))
            of, to = part(source, offset, length), part(area, target_offset, length)
            run(device, lambda c, of=of, to=to: c.copy(of, to))
            expected = bytes(target_offset) + content[offset : offset + length]
            assert area.read() == expected.ljust(AREA, b"\0"), (offset, length)
            area.release()


def test_copies_within_a_buffer_do_not_overlap(device: Device) -> None:
    area = filled(device, b"abcdefgh")
    run(device, lambda c: c.copy(part(area, 0, 4), part(area, 4, 4)))
    assert area.read() == b"abcdabcd"
    with pytest.raises(rt.HalUsageError, match="overlap"):
        record(device, lambda c: c.copy(part(area, 0, 4), part(area, 3, 4)))


def test_misuse_is_refused(device: Device) -> None:
    area = device.allocate(8)
    with pytest.raises(rt.HalUsageError, match="has 1, 2 or 4 bytes, not 3"):
        record(device, lambda c: c.fill(area.whole, b"abc"))
    with pytest.raises(rt.HalUsageError, match="a copy of 4 bytes into a range of 3 bytes"):
        record(device, lambda c: c.copy(part(area, 0, 4), part(area, 4, 3)))
