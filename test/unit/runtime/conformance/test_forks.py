"""A device belongs to the process that opened it, and a process forked from it opens its own."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from multiprocessing import get_context

import pytest

import ingot.runtime as rt
from ingot.runtime.hal import Device

from ..conftest import open_for_test
from .work import SOON, filled, part, record, run, submit_and_wait

pytestmark = pytest.mark.skipif(sys.platform == "darwin", reason="a fork needs an exec there")


def in_a_fork(child: Callable[[], None]) -> None:
    """Run `child` in a forked process, which must end and must not fail."""
    process = get_context("fork").Process(target=child, daemon=True)
    process.start()
    process.join(SOON)
    ended = process.exitcode is not None
    process.kill()
    process.join()
    assert ended, "the forked process waits for threads that it does not have"
    assert process.exitcode == 0


def opened(device_name: str) -> Device:
    """Another device of the same kind, with some work behind it."""
    device = open_for_test(device_name)
    area = filled(device, bytes(64))
    run(device, lambda commands: commands.fill(part(area, 0, 64), b"\1"))
    assert area.read(0, 64) == b"\1" * 64
    return device


def test_a_fork_frees_nothing_of_its_parent(device_name: str) -> None:
    devices = [opened(device_name)]

    def child() -> None:
        devices.clear()
        gc.collect()

    in_a_fork(child)
    opened(device_name).close()
    area = filled(devices[0], bytes(8))
    run(devices[0], lambda commands: commands.fill(part(area, 0, 8), b"\2"))
    assert area.read(0, 8) == b"\2" * 8


def test_a_fork_cannot_use_a_device_of_its_parent(device_name: str) -> None:
    device = opened(device_name)
    commands = record(device, lambda commands: None)

    def child() -> None:
        for use in (lambda: device.allocate(4), lambda: submit_and_wait(device, commands)):
            with pytest.raises(rt.HalUsageError, match=r"open devices after the fork$"):
                use()

    in_a_fork(child)


def test_a_fork_opens_its_own_device(device_name: str) -> None:
    opened(device_name)
    in_a_fork(lambda: opened(device_name).close())
