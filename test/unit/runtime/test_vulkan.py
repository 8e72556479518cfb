"""What only the Vulkan device promises: life times, faults, and memory it may not map."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime.devices.vulkan.memory import memory_type
from ingot.runtime.devices.vulkan.sync import VulkanSemaphore
from ingot.runtime.hal import Device, Memory

from .conftest import axpy_bundle, loaded

X = np.arange(64, dtype=np.float32)


def test_a_closed_device_refuses_work_and_keeps_views_valid(vulkan: Device) -> None:
    device = rt.open_device("vulkan")
    buffer = device.allocate(64, Memory.HOST)
    program = loaded(axpy_bundle(64)).bind(device)
    program.main(X, X)
    device.close()
    device.close()
    buffer.map()[:] = bytes(64)
    for use in (lambda: device.allocate(4), lambda: program.main(X, X)):
        with pytest.raises(rt.HalUsageError, match="was closed"):
            use()


def test_an_interrupted_call_does_not_disturb_the_next(
    vulkan: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = loaded(axpy_bundle(64)).bind(vulkan)
    program.main(X, X)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(VulkanSemaphore, "wait", interrupt)
        with pytest.raises(KeyboardInterrupt):
            program.main(X, X)
    np.testing.assert_array_equal(program.main(X, X + 1), 3 * X + 1)


@pytest.mark.parametrize(
    ("code", "kind", "sentence"),
    [
        (-4, rt.DeviceLostError, "the Vulkan device was lost while submitting work"),
        (-2, rt.DeviceMemoryError, "out of memory while submitting work"),
        (-13, rt.DeviceError, "Vulkan failed while submitting work: VkErrorUnknown"),
        (-999, rt.DeviceError, "VkResult -999"),
    ],
)
def test_a_refused_submission_is_reported_and_the_next_call_works(
    vulkan: Device,
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    kind: type[rt.DeviceError],
    sentence: str,
) -> None:
    program = loaded(axpy_bundle(64)).bind(vulkan)
    with monkeypatch.context() as patch:
        patch.setattr(vulkan.queue, "_submit_function", lambda *_: code)
        with pytest.raises(kind, match=sentence):
            program.main(X, X)
    np.testing.assert_array_equal(program.main(X, X), 3 * X)


def test_memory_types_are_chosen_by_use() -> None:
    """The types of a discrete GPU: device memory, a mappable window of it, host memory."""
    flags = [1, 1 | 2 | 4, 2 | 4, 2 | 4 | 8]
    types = SimpleNamespace(
        memoryTypeCount=4, memoryTypes=[SimpleNamespace(propertyFlags=f) for f in flags]
    )
    assert memory_type(types, 0b1111, Memory.DEVICE, unified=False) == 0
    assert memory_type(types, 0b1111, Memory.HOST, unified=False) == 3
    assert memory_type(types, 0b0111, Memory.HOST, unified=False) == 1
    assert memory_type(types, 0b1111, Memory.DEVICE, unified=True) == 1
    assert memory_type(types, 0b1000, Memory.DEVICE, unified=True) == 3
    assert memory_type(types, 0b0001, Memory.HOST, unified=False) is None
