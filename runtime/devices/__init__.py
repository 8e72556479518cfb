"""The devices by name: `metal`, `vulkan`, `host`. A backend is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from ingot.runtime.devices.info import DeviceInfo
from ingot.runtime.errors import DeviceUnavailableError

if TYPE_CHECKING:
    from ingot.runtime.hal import Device

__all__ = ["BACKENDS", "DeviceInfo", "list_devices", "open_device"]

BACKENDS: dict[str, tuple[str, str]] = {
    "metal": ("ingot.runtime.devices.metal.device", "MetalDevice"),
    "vulkan": ("ingot.runtime.devices.vulkan.device", "VulkanDevice"),
    "host": ("ingot.runtime.devices.host.device", "HostDevice"),
}
"""Module and class of each backend."""


class Backend(Protocol):
    """The class methods that a device class offers beside the HAL's `Device`."""

    def list_devices(self) -> list[DeviceInfo]:
        """Return the devices that can be opened; raises `DeviceUnavailableError` when none can."""
        ...

    def open(self, selector: str) -> Device:
        """Open the device that `selector` names; "" is the backend's first."""
        ...


def list_devices() -> list[DeviceInfo]:
    """Return the devices of all backends; a backend without one has an entry that says why."""
    found: list[DeviceInfo] = []
    for name in BACKENDS:
        try:
            found += _backend(name).list_devices()
        except DeviceUnavailableError as error:
            found.append(DeviceInfo(name, "", "", problem=str(error)))
    return found


def open_device(name: str) -> Device:
    """Open a device by name: `vulkan`, `vulkan:1`, `vulkan:llvmpipe`, `host`, `metal`.

    Raises `DeviceUnavailableError`, in one line that says what to install or which names there are.
    """
    backend, _, selector = name.partition(":")
    if backend not in BACKENDS:
        known = ", ".join(BACKENDS)
        raise DeviceUnavailableError(f"there is no device '{name}'; devices are: {known}")
    return _backend(backend).open(selector)


def _backend(name: str) -> Backend:
    module, kind = BACKENDS[name]
    return getattr(import_module(module), kind)
