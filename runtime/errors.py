"""Errors of the runtime: a closed set, each with the sentence that the user sees."""

from __future__ import annotations

from ingot.targets.bundle.errors import BundleError, IngotError

__all__ = [
    "ArgumentError",
    "BundleError",
    "DeviceError",
    "DeviceLostError",
    "DeviceMemoryError",
    "DeviceTimeoutError",
    "DeviceUnavailableError",
    "HalUsageError",
    "IngotError",
    "KernelError",
    "NoVariantError",
]


class ArgumentError(IngotError):
    """A call whose inputs do not fit the function, or an input that cannot be parsed."""


class DeviceUnavailableError(IngotError):
    """A device that does not exist here: no driver, wrong operating system, unknown name."""


class NoVariantError(IngotError):
    """A bundle none of whose variants the device satisfies; the sentence names what is missing."""


class DeviceError(IngotError):
    """A failure that the device reported, with the device's message."""


class DeviceLostError(DeviceError):
    """The device stopped answering; everything on it is gone and it must be opened again."""


class DeviceMemoryError(DeviceError):
    """The device, or the host on its behalf, has no memory left for an allocation."""


class DeviceTimeoutError(DeviceError):
    """A wait that ended before the value was reached; the work goes on."""


class KernelError(DeviceError):
    """A kernel that does not compile or load on the device, or failed while it ran."""


class HalUsageError(IngotError):
    """A call that breaks the HAL's contract: a bug of the caller, never of the user's data."""
