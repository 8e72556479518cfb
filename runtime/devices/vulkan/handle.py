"""The `VkDevice`, which all parts of the Vulkan device share, and when its objects die."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from itertools import count
from threading import RLock
from typing import Any, Final

from ingot.runtime.devices.ownership import finalize_at_home
from ingot.runtime.devices.vulkan.instance import PhysicalDevice
from ingot.runtime.devices.vulkan.native import device_function
from ingot.runtime.errors import HalUsageError


class DeviceHandle:
    """Owns a `VkDevice`; what is made on it is adopted, and the device is destroyed after the last.

    Closing does not pull memory away from under a view or an array that is still in use: it waits
    for the device and refuses new work; each object goes when nobody has it any more.
    """

    def __init__(self, vk: Any, device: Any, physical: PhysicalDevice) -> None:
        self.vk: Final = vk
        self.device: Final = device
        self.physical: Final = physical
        self.memory_properties: Final[Any] = vk.vkGetPhysicalDeviceMemoryProperties(physical.handle)
        self.is_open = True
        self._children: dict[int, Callable[[], None]] = {}
        self._functions: dict[str, Callable[..., int]] = {}
        self._tokens = count()
        self._lock: Final = RLock()

    def adopt(self, owner: object, destroy: Callable[[], None]) -> weakref.finalize[..., Any]:
        """Call `destroy` once: when the result is called or when `owner` dies."""
        self.require_open()
        token = next(self._tokens)
        with self._lock:
            self._children[token] = destroy
        return finalize_at_home(owner, self._destroy, token)

    def function(self, name: str) -> Callable[..., int]:
        """Return the driver's own function `name`, which returns a `VkResult`."""
        if name not in self._functions:
            self._functions[name] = device_function(self.vk, self.device, name)
        return self._functions[name]

    def require_open(self) -> None:
        """Raise `HalUsageError` after `close`."""
        if not self.is_open:
            raise HalUsageError("the Vulkan device was closed")

    def close(self) -> None:
        """Wait for the device and take no more work."""
        with self._lock:
            if self.is_open:
                self.is_open = False
                self.vk.lib.vkDeviceWaitIdle(self.device)
                self._destroy_if_unused()

    def _destroy(self, token: int) -> None:
        with self._lock:
            self._children.pop(token)()
            self._destroy_if_unused()

    def _destroy_if_unused(self) -> None:
        if not self.is_open and not self._children:
            self.vk.lib.vkDestroyDevice(self.device, self.vk.ffi.NULL)
