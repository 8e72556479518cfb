"""Everything that a device can fail in, one after the other: an error, and the next call works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.checking_device import CheckingDevice

import ingot.runtime as rt
from ingot.runtime.devices.host import commands as host_commands
from ingot.runtime.devices.host.memory import GuardedMemory
from ingot.runtime.hal import Device
from ingot.targets.bundle import model as m

from .conftest import axpy_bundle, axpy_dispatch, loaded, make_bundle, open_for_test, tensor, whole
from .kernels import axpy

N = 256
X = np.arange(N, dtype=np.float32)


class Faults:
    """Counts what may fail, and lets one of it."""

    def __init__(self) -> None:
        self.left = 0

    def is_due(self) -> bool:
        self.left -= 1
        return self.left == 0


def fail_each(
    faults: Faults,
    attempt: Callable[[], Callable[[], Any]],
    harmless: int = 0,
    most: int = 500,
) -> int:
    """Let the first, the second, ... fail until nothing is left; how many there were.

    `attempt` opens, binds and returns the call; a call that failed once is made again. So many
    failures may be `harmless`: no error, and right values all the same.
    """
    for number in range(1, most):
        faults.left, call = number, None
        try:
            call = attempt()
            got = call()
            harmless -= faults.left <= 0
            assert harmless >= 0, f"failure {number} was swallowed"
        except rt.IngotError as error:
            assert str(error)
            faults.left = 0
            got = (call or attempt())()
        finished = faults.left > 0
        faults.left = 0
        assert np.array_equal(got, 3 * X)
        if finished:
            return number - 1
    raise AssertionError("there is no end of what may fail")


def test_a_hundred_kernels_are_one_submission() -> None:
    of = tensor(m.DType.F32, N)
    ends = [whole(kind, 0, 4 * N) for kind in (m.BufferKind.ARGUMENT, m.BufferKind.RESULT)]
    dispatch = axpy_dispatch(N, 1.0, ends[0], ends[0], ends[1])
    body = m.FunctionBody((dispatch, m.Barrier()) * 100)
    bundle = make_bundle({m.Function("main", (of,), (of,)): body}, (axpy(),))
    device = CheckingDevice("vulkan", commands=10**4)
    program = loaded(bundle).bind(device)
    for turn in range(1, 4):
        program.main(X)
        assert device.submissions == turn


def test_while_loops_in_conditions_are_recorded_once() -> None:
    """Copies within copies would be 2^30 commands, from a bundle of a few kilobytes."""
    of = tensor(m.DType.I8, 4)
    result = whole(m.BufferKind.RESULT, 0, 4)
    commands: tuple[m.Command, ...] = (m.Fill(result, b"\1"),)
    for _ in range(30):
        commands = (m.While(commands, 0, ()),)
    bundle = make_bundle({m.Function("main", (), (of,)): m.FunctionBody(commands)})
    got = loaded(bundle).bind(CheckingDevice("vulkan", commands=5000)).main()
    assert isinstance(got, np.ndarray) and set(got) == {1}


def test_many_loops_do_not_fill_the_memory() -> None:
    of = tensor(m.DType.I8, 4)
    fill = m.Fill(whole(m.BufferKind.RESULT, 0, 4), b"\1")
    body = m.FunctionBody((m.Loop(1000, (fill,)),) * 200)
    bundle = make_bundle({m.Function("main", (), (of,)): body})
    device = CheckingDevice("vulkan", commands=10**9)
    program = loaded(bundle).bind(device)
    program.main()
    recorded = sum(len(step.commands._log) for step in _submits(program))  # type: ignore[attr-defined]
    assert recorded < 150_000


def _submits(program: rt.Program) -> list[Any]:
    found: list[Any] = []

    def visit(steps: Any) -> None:
        for step in steps:
            if hasattr(step, "commands"):
                found.append(step)
            for name in ("batch", "single", "steps"):
                visit(getattr(step, name, ()))

    for call in program._calls.values():
        visit(call.steps)
    return found


def test_a_device_that_fails_anywhere() -> None:
    faults = Faults()

    def before(what: str) -> None:
        if faults.is_due():
            raise rt.DeviceMemoryError(f"no memory to {what}")

    def attempt() -> Callable[[], Any]:
        device = CheckingDevice("vulkan", commands=10**6, before=before)
        program = loaded(_copies()).bind(device)
        return lambda: program.main(X) * 3

    assert fail_each(faults, attempt) > 8


def _copies() -> m.Bundle:
    """main(x) = x, by way of the arena, with a constant to upload and a loop."""
    of = tensor(m.DType.F32, N)
    argument, result, _, transient = (whole(kind, 0, 4 * N) for kind in m.BufferKind)
    again = m.Loop(5, (m.Copy(argument, transient), m.Barrier()))
    first = m.Copy(whole(m.BufferKind.CONSTANT, 0, 4), whole(m.BufferKind.RESULT, 0, 4))
    commands = (first, m.Copy(argument, transient), again, m.Copy(transient, result))
    body = m.FunctionBody(commands, transient_size=4 * N, transient_lower_bound=4 * N)
    constant = m.Constant("c", tensor(m.DType.F32, 1), bytes(4))
    return make_bundle({m.Function("main", (of,), (of,)): body}, (), (constant,))


class FaultyVulkan:
    """The `vulkan` package, whose functions can fail."""

    def __init__(self, real: Any, faults: Faults, code: int) -> None:
        self._real, self._faults, self._code = real, faults, code

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if not name.startswith(("vkCreate", "vkAllocate", "vkBind", "vkBegin", "vkEnd", "vkReset")):
            return found

        def call(*arguments: Any) -> Any:
            if self._faults.is_due():
                raise self._real.exception_codes[self._code]
            return found(*arguments)

        return call


@pytest.mark.parametrize("code", [-2, -4], ids=["memory", "lost"])
@pytest.mark.parametrize("is_unified", [True, False], ids=["unified", "discrete"])
def test_a_vulkan_driver_that_fails_anywhere(
    vulkan: Device, monkeypatch: pytest.MonkeyPatch, code: int, is_unified: bool
) -> None:
    from ingot.runtime.devices.vulkan import device as device_module
    from ingot.runtime.devices.vulkan import handle as handle_module
    from ingot.runtime.devices.vulkan.native import device_function

    del vulkan
    faults = Faults()
    faulty: Any = FaultyVulkan(device_module.load_vulkan(), faults, code)
    monkeypatch.setattr(device_module, "load_vulkan", lambda: faulty)

    def function(vk: Any, device: Any, name: str) -> Callable[..., int]:
        found = device_function(vk, device, name)
        return lambda *arguments: code if faults.is_due() else found(*arguments)

    monkeypatch.setattr(handle_module, "device_function", function)
    bundle = loaded(axpy_bundle(N))

    def attempt() -> Callable[[], Any]:
        program = bundle.bind(open_for_test("vulkan" if is_unified else "vulkan-discrete"))
        return lambda: program.main(X, X)

    # After its submission the queue asks how far it is, to let go of what is done; nothing waits
    # for the answer.
    assert fail_each(faults, attempt, harmless=1) > 20


def test_a_counter_that_cannot_be_read_stays_where_it_was(vulkan: Device) -> None:
    semaphore: Any = vulkan.create_semaphore()
    semaphore.signal(3)
    assert semaphore.reached == 3
    out_of_memory, lost = -2, -4
    semaphore._get_value = lambda *_: out_of_memory
    assert semaphore.reached == 3
    semaphore._get_value = lambda *_: lost
    assert semaphore.reached > 2**63


def test_a_host_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    faults = Faults()

    class Scarce(GuardedMemory):
        def __init__(self, size: int, alignment: int = 16) -> None:
            if faults.is_due():
                raise rt.DeviceMemoryError(f"no memory for a buffer of {size} bytes")
            super().__init__(size, alignment)

    monkeypatch.setattr(host_commands, "GuardedMemory", Scarce)
    bundle = loaded(axpy_bundle(N))
    device = rt.open_device("host")

    def attempt() -> Callable[[], Any]:
        program = bundle.bind(device)
        return lambda: program.main(X, X)

    assert fail_each(faults, attempt) >= 3
    device.close()


def test_a_metal_device_without_memory(metal: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    from support.metal_stand_in.device import MTLDevice

    faults = Faults()
    for name in ("newBufferWithLength_options_", "newBufferWithBytes_length_options_"):
        found = getattr(MTLDevice, name)

        def scarce(*arguments: Any, found: Callable[..., Any] = found) -> Any:
            return None if faults.is_due() else found(*arguments)

        monkeypatch.setattr(MTLDevice, name, scarce)
    bundle = loaded(axpy_bundle(N))

    def attempt() -> Callable[[], Any]:
        program = bundle.bind(metal)
        return lambda: program.main(X, X)

    assert fail_each(faults, attempt) >= 3


def test_a_metal_command_buffer_that_fails(metal: Device) -> None:
    """Of two programs on one device the one that reaches past its buffers fails, and only that."""
    right = loaded(axpy_bundle(N)).bind(metal)
    bad = axpy_bundle(N)
    dispatch = bad.variants[0].bodies[0].commands[0]
    assert isinstance(dispatch, m.Dispatch)
    past = axpy_dispatch(N + 64, 2.0, *dispatch.bindings)
    wrong = loaded(make_bundle({bad.functions[0]: m.FunctionBody((past,))}, (axpy(),))).bind(metal)
    for _ in range(3):
        with pytest.raises(rt.KernelError, match="Metal failed"):
            wrong.main(X, X)
        assert np.array_equal(right.main(X, X), 3 * X)
