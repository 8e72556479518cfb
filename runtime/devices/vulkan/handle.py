"""The `VkDevice` and the order in which what belongs to it dies."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from itertools import count
from threading import Lock
from typing import Any, Final


class DeviceHandle:
    """Owns a `VkDevice`; whatever is made on it is adopted, and destroyed at the latest with it."""

    def __init__(self, vk: Any, device: Any) -> None:
        self.vk: Final = vk
        self.device: Final = device
        self.is_open = True
        self._children: dict[int, Callable[[], None]] = {}
        self._tokens = count()
        self._lock: Final = Lock()

    def adopt(self, owner: object, destroy: Callable[[], None]) -> weakref.finalize[..., Any]:
        """Call `destroy` once: when the result is called, when `owner` dies, or at `close`."""
        token = next(self._tokens)
        with self._lock:
            self._children[token] = destroy
        return weakref.finalize(owner, self._destroy, token)

    def close(self) -> None:
        """Wait for the device, then destroy all children, the newest first, and the device."""
        with self._lock:
            if not self.is_open:
                return
            self.is_open = False
            children, self._children = self._children, {}
        self.vk.lib.vkDeviceWaitIdle(self.device)
        for token in sorted(children, reverse=True):
            children[token]()
        self.vk.lib.vkDestroyDevice(self.device, self.vk.ffi.NULL)

    def _destroy(self, token: int) -> None:
        with self._lock:
            destroy = self._children.pop(token, None)
        if destroy is not None:
            destroy()
