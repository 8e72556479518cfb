"""Queues: submissions are ordered by the semaphores they name, and by nothing else."""

from __future__ import annotations

import pytest

import ingot.runtime as rt
from ingot.runtime.hal import Device, Semaphore

from ..conftest import open_for_test
from .work import SOON, filled, record


def semaphores(device: Device, count: int) -> list[Semaphore]:
    return [device.create_semaphore() for _ in range(count)]


def test_a_chain_of_submissions(device: Device) -> None:
    area, copied = filled(device, bytes(8)), filled(device, bytes(8))
    fill = record(device, lambda c: c.fill(area.whole, b"a"))
    copy = record(device, lambda c: c.copy(area.whole, copied.whole))
    (steps,) = semaphores(device, 1)
    device.queue.submit([fill], signal=[(steps, 1)])
    device.queue.submit([copy], wait=[(steps, 1)], signal=[(steps, 2)])
    steps.wait(2, SOON)
    assert copied.read() == b"a" * 8


def test_a_chain_submitted_from_its_end(device: Device) -> None:
    """Work waits for work that is submitted later."""
    areas = [filled(device, bytes([turn] * 8)) for turn in range(6)]
    (steps,) = semaphores(device, 1)
    for turn in range(4, -1, -1):
        source, target = areas[turn].whole, areas[turn + 1].whole
        copy = record(device, lambda c, s=source, t=target: c.copy(s, t))
        device.queue.submit([copy], wait=[(steps, turn + 1)], signal=[(steps, turn + 2)])
    device.queue.submit([], signal=[(steps, 1)])
    steps.wait(6, SOON)
    assert areas[5].read() == bytes(8)


def test_work_that_waits_holds_nothing_else_up(device: Device) -> None:
    area = filled(device, bytes(4))
    fill = record(device, lambda c: c.fill(area.whole, b"b"))
    go, waited, other = semaphores(device, 3)
    device.queue.submit([], wait=[(go, 1)], signal=[(waited, 1)])
    device.queue.submit([fill], signal=[(other, 1)])
    other.wait(1, SOON)
    assert area.read() == b"bbbb"
    go.signal(1)
    waited.wait(1, SOON)


def test_all_waits_and_all_signals_count(device: Device) -> None:
    first, second, one, two = semaphores(device, 4)
    device.queue.submit([], wait=[(first, 2), (second, 3)], signal=[(one, 5), (two, 1)])
    first.signal(2)
    second.signal(2)
    with pytest.raises(rt.DeviceTimeoutError):
        one.wait(5, timeout=0.02)
    second.signal(3)
    one.wait(5, SOON)
    two.wait(1, SOON)


def test_a_failure_goes_all_the_way_and_no_further(device: Device) -> None:
    area = filled(device, bytes(4))
    fill = record(device, lambda c: c.fill(area.whole, b"c"))
    go, middle, done, after = semaphores(device, 4)
    device.queue.submit([fill], wait=[(go, 1)], signal=[(middle, 1)])
    device.queue.submit([fill], wait=[(middle, 1)], signal=[(done, 1)])
    go.fail(rt.DeviceError("the cause"))
    for semaphore in (middle, done):
        with pytest.raises(rt.DeviceError, match="the cause"):
            semaphore.wait(1, SOON)
    assert area.read() == bytes(4)
    device.queue.submit([fill], signal=[(after, 1)])
    after.wait(1, SOON)
    assert area.read() == b"cccc"


def test_a_closed_device_fails_what_still_waits(device: Device, device_name: str) -> None:
    opened = open_for_test(device_name)
    go, done = semaphores(opened, 2)
    opened.queue.submit([], wait=[(go, 1)], signal=[(done, 1)])
    opened.close()
    assert opened is not device
    with pytest.raises(rt.DeviceError, match="was closed"):
        done.wait(1, SOON)
    with pytest.raises(rt.HalUsageError, match="was closed"):
        opened.queue.submit([], signal=[(done, 2)])
