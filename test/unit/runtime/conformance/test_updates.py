"""Updates: bytes of the host written in the order of the commands."""

from __future__ import annotations

import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime.hal import CommandBuffer, Device

from .work import filled, part, record, run

KIB = 1024


@pytest.mark.parametrize("offset", [0, 1, 3])
def test_any_offset_and_length(device: Device, offset: int) -> None:
    content = np.random.default_rng(1).bytes(200 * KIB + 5)
    for length in (0, 1, 3, 4, 31, 33, 65_535, 65_536, 65_537, 128 * KIB, len(content)):
        area = filled(device, b"\xee" * (len(content) + 8))
        target, data = part(area, offset, length), content[:length]
        run(device, lambda c, target=target, data=data: c.update(target, data))
        expected = b"\xee" * offset + data
        assert area.read() == expected.ljust(area.size, b"\xee"), length
        area.release()


def test_three_updates_of_64_kib_in_one_command_buffer(device: Device) -> None:
    content = np.random.default_rng(2).bytes(3 * 64 * KIB)
    area = filled(device, bytes(len(content)))

    def write(commands: CommandBuffer) -> None:
        for start in range(0, len(content), 64 * KIB):
            data = memoryview(content)[start : start + 64 * KIB]
            commands.update(part(area, start, 64 * KIB), data)

    run(device, write)
    assert area.read() == content


def test_the_data_are_those_of_the_recording_and_the_order_is_kept(device: Device) -> None:
    area, copied = filled(device, bytes(8)), filled(device, bytes(8))
    data = bytearray(b"first...")

    def write(commands: CommandBuffer) -> None:
        commands.update(area.whole, memoryview(data))
        commands.barrier()
        commands.copy(area.whole, copied.whole)
        commands.barrier()
        commands.update(part(area, 1, 3), b"***")

    commands = record(device, write)
    data[:] = b"changed!"
    for _ in range(2):
        area.write(0, bytes(8))
        run(device, lambda c: c.fill(copied.whole, b"-"))
        done = device.create_semaphore()
        device.queue.submit([commands], signal=[(done, 1)])
        done.wait(1, timeout=60)
        assert (area.read(), copied.read()) == (b"f***t...", b"first...")


def test_other_sizes_are_refused(device: Device) -> None:
    area = device.allocate(8)
    with pytest.raises(rt.HalUsageError, match="an update with 3 bytes of a range of 8 bytes"):
        record(device, lambda c: c.update(area.whole, b"abc"))
