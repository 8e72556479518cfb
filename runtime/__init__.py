"""Ingot's runtime: load a bundle, bind it to a device, call its functions with NumPy arrays.

    import ingot.runtime as rt

    program = rt.load("model.ingot").bind("vulkan")
    y = program.main(x)

It needs neither the compiler nor xDSL. `docs/runtime.md` describes it.
"""

from __future__ import annotations

from ingot.runtime.devices import DeviceInfo, list_devices, open_device
from ingot.runtime.errors import (
    ArgumentError,
    BundleError,
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    DeviceTimeoutError,
    DeviceUnavailableError,
    HalUsageError,
    IngotError,
    KernelError,
    NoVariantError,
)
from ingot.runtime.loading import LoadedBundle, Parameter, Signature, load, loads

__all__ = [
    "ArgumentError",
    "BundleError",
    "DeviceError",
    "DeviceInfo",
    "DeviceLostError",
    "DeviceMemoryError",
    "DeviceTimeoutError",
    "DeviceUnavailableError",
    "HalUsageError",
    "IngotError",
    "KernelError",
    "LoadedBundle",
    "NoVariantError",
    "Parameter",
    "Signature",
    "list_devices",
    "load",
    "loads",
    "open_device",
]
