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


_SHIELDED: dict[str, tuple[str, str]] = {
    "vulkan": ("ingot.runtime.devices.vulkan.shield", "ShieldedVulkanDevice"),
    "host": ("ingot.runtime.devices.host.sandbox", "SandboxedHostDevice"),
}
"""Those that keep the kernels of strangers to their buffers; docs/security.md says how."""


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


def open_device(name: str, untrusted: bool = False) -> Device:
    """Open a device by name: `vulkan`, `vulkan:1`, `vulkan:llvmpipe`, `host`, `metal`.

    With `untrusted` it is one for bundles from strangers, which is slower. Raises
    `DeviceUnavailableError`, in one line that says what to install or which names there are.
    """
    backend, _, selector = name.partition(":")
    if backend not in BACKENDS:
        known = ", ".join(BACKENDS)
        raise DeviceUnavailableError(f"there is no device '{name}'; devices are: {known}")
    if untrusted and backend not in _SHIELDED:
        known = ", ".join(_SHIELDED)
        raise DeviceUnavailableError(
            f"'{backend}' cannot keep strangers' kernels to their buffers; these can: {known}"
        )
    return _backend(backend, untrusted).open(selector)


def _backend(name: str, untrusted: bool = False) -> Backend:
    module, kind = (_SHIELDED if untrusted else BACKENDS)[name]
    return getattr(import_module(module), kind)
