"""Timeline semaphores: every order of waiting and signalling, failing and giving up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

import ingot.runtime as rt
from ingot.runtime.hal import Device, Semaphore

from .work import SOON, filled, record

ACTORS = ("host", "device")


def signal(device: Device, actor: str, semaphore: Semaphore) -> None:
    """Bring a semaphore to 1."""
    if actor == "host":
        semaphore.signal(1)
    else:
        device.queue.submit([], signal=[(semaphore, 1)])


def fail(device: Device, actor: str, semaphore: Semaphore) -> None:
    """Let a semaphore fail, on the device by work whose own wait has failed."""
    cause = rt.DeviceError("the cause")
    if actor == "host":
        semaphore.fail(cause)
        return
    before = device.create_semaphore()
    device.queue.submit([], wait=[(before, 1)], signal=[(semaphore, 1)])
    before.fail(cause)


def start_wait(
    device: Device, actor: str, semaphore: Semaphore, pool: ThreadPoolExecutor
) -> Future[None]:
    """Wait for 1 in a thread, on the device by work that waits, and whose end is waited for."""
    if actor == "host":
        return pool.submit(semaphore.wait, 1, SOON)
    done = device.create_semaphore()
    device.queue.submit([], wait=[(semaphore, 1)], signal=[(done, 1)])
    return pool.submit(done.wait, 1, SOON)


@pytest.mark.parametrize("first", ["wait", "act"])
@pytest.mark.parametrize("waiter", ACTORS)
@pytest.mark.parametrize("actor", ACTORS)
@pytest.mark.parametrize("act", [signal, fail])
def test_every_order(
    device: Device,
    act: Callable[[Device, str, Semaphore], None],
    actor: str,
    waiter: str,
    first: str,
) -> None:
    semaphore = device.create_semaphore()
    with ThreadPoolExecutor(1) as pool:
        if first == "wait":
            waiting = start_wait(device, waiter, semaphore, pool)
            act(device, actor, semaphore)
        else:
            act(device, actor, semaphore)
            waiting = start_wait(device, waiter, semaphore, pool)
        error = waiting.exception(SOON)
    assert str(error) == ("None" if act is signal else "the cause")


@pytest.mark.parametrize("waiter", ACTORS)
@pytest.mark.parametrize("actor", ACTORS)
@pytest.mark.parametrize("act", [signal, fail])
def test_every_order_after_a_timeout(
    device: Device, act: Callable[[Device, str, Semaphore], None], actor: str, waiter: str
) -> None:
    """Four threads give up waiting, then what they waited for comes, and they try again."""
    semaphore, done = device.create_semaphore(), device.create_semaphore()
    if waiter == "device":
        device.queue.submit([], wait=[(semaphore, 1)], signal=[(done, 1)])
    waited = semaphore if waiter == "host" else done
    with ThreadPoolExecutor(4) as pool:
        early = [pool.submit(waited.wait, 1, 0.01 * turn) for turn in range(4)]
        assert {type(wait.exception(SOON)) for wait in early} == {rt.DeviceTimeoutError}
        act(device, actor, semaphore)
        late = [pool.submit(waited.wait, 1, SOON) for _ in range(4)]
        errors = {str(wait.exception(SOON)) for wait in late}
    assert errors == ({"None"} if act is signal else {"the cause"})


def test_values_only_grow(device: Device) -> None:
    semaphore = device.create_semaphore(5)
    assert semaphore.value == 5
    semaphore.signal(7)
    semaphore.wait(6, timeout=0)
    assert semaphore.value == 7
    for value in (6, 7):
        with pytest.raises(rt.HalUsageError, match=f"at 7 cannot be signalled to {value}"):
            semaphore.signal(value)
    semaphore.signal(2**40)
    semaphore.wait(2**40, SOON)


def test_a_wait_that_gave_up_may_be_tried_again(device: Device) -> None:
    semaphore = device.create_semaphore()
    for timeout in (0, 0.01):
        with pytest.raises(rt.DeviceTimeoutError, match=f"within {timeout:g} seconds"):
            semaphore.wait(1, timeout)
    assert semaphore.value == 0
    semaphore.signal(1)
    semaphore.wait(1, timeout=0)


def test_a_wait_for_work_that_gave_up_may_be_tried_again(device: Device) -> None:
    area = filled(device, bytes(8))
    commands = record(device, lambda c: c.fill(area.whole, b"a"))
    go, done = device.create_semaphore(), device.create_semaphore()
    device.queue.submit([commands], wait=[(go, 1)], signal=[(done, 1)])
    with pytest.raises(rt.DeviceTimeoutError):
        done.wait(1, timeout=0.02)
    if device.unified_memory:
        assert area.read() == bytes(8)
    go.signal(1)
    done.wait(1, SOON)
    assert area.read() == b"a" * 8


def test_the_first_failure_wins_everywhere(device: Device) -> None:
    semaphore = device.create_semaphore()
    with ThreadPoolExecutor(8) as pool:
        waits = [pool.submit(semaphore.wait, 1, SOON) for _ in range(4)]
        for number in range(4):
            pool.submit(semaphore.fail, rt.DeviceError(f"failure {number}"))
        seen = {str(wait.exception(SOON)) for wait in waits}
    assert len(seen) == 1 and next(iter(seen)).startswith("failure ")
    semaphore.fail(rt.DeviceError("late"))
    for use in (lambda: semaphore.wait(0), lambda: semaphore.value, lambda: semaphore.signal(9)):
        with pytest.raises(rt.DeviceError) as caught:
            use()
        assert {str(caught.value)} == seen


def test_threads_wait_for_values_of_their_own(device: Device) -> None:
    semaphore = device.create_semaphore()
    with ThreadPoolExecutor(8) as pool:
        waits = [pool.submit(semaphore.wait, value, SOON) for value in range(1, 9)]
        for value in range(1, 9):
            if value % 2:
                semaphore.signal(value)
            else:
                device.queue.submit([], signal=[(semaphore, value)])
                semaphore.wait(value, SOON)
        assert [wait.exception(SOON) for wait in waits] == [None] * 8
    assert semaphore.value == 8


def test_host_and_device_take_turns(device: Device) -> None:
    area = filled(device, bytes(4))
    commands = record(device, lambda c: c.fill(area.whole, b"abcd"))
    ping, pong = device.create_semaphore(), device.create_semaphore()

    def answer() -> None:
        for turn in range(1, 101):
            ping.wait(turn, SOON)
            device.queue.submit([commands], wait=[(ping, turn)], signal=[(pong, turn)])

    with ThreadPoolExecutor(1) as pool:
        answering = pool.submit(answer)
        for turn in range(1, 101):
            ping.signal(turn)
            pong.wait(turn, SOON)
        answering.result(SOON)
    assert (area.read(), ping.value, pong.value) == (b"abcd", 100, 100)
