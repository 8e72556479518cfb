"""The `vulkan` package (cffi) behind one door: loading it, and its errors in our words.

The package has no annotations, so `vk` is `Any` here and everywhere. Quirks: its `VK_WHOLE_SIZE` is
negative, `vkCreateComputePipelines` returns an array, and results that are neither success nor an
error (such as `VK_TIMEOUT`) make its wrappers raise `KeyError`, so hot and waiting calls go to the
driver's own functions.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, Final

from ingot.runtime.errors import (
    DeviceError,
    DeviceLostError,
    DeviceMemoryError,
    DeviceUnavailableError,
)

SUCCESS: Final = 0
TIMEOUT: Final = 2
DEVICE_LOST: Final = -4


def install_hint() -> str:
    """What to install for a Vulkan driver, as the end of a sentence."""
    if sys.platform == "darwin":
        return "install MoltenVK (`brew install molten-vk vulkan-loader`)"
    return "install a driver (`apt install mesa-vulkan-drivers libvulkan1` has one for the CPU)"


@cache
def load_vulkan() -> Any:
    """Return the `vulkan` package; `DeviceUnavailableError` when it or the loader is missing."""
    try:
        return import_module("vulkan")
    except ImportError:
        raise DeviceUnavailableError(
            "the 'vulkan' device needs the Python package 'vulkan' (`pip install vulkan`)"
        ) from None
    except OSError:
        raise DeviceUnavailableError(f"there is no Vulkan loader here: {install_hint()}") from None


def error_of(vk: Any, code: int, doing: str) -> DeviceError:
    """Return the error for a negative `VkResult`."""
    known = vk.exception_codes.get(code)
    reason = known.__name__ if known else f"VkResult {code}"
    if code == DEVICE_LOST:
        return DeviceLostError(f"the Vulkan device was lost while {doing}")
    if code in (-1, -2):
        return DeviceMemoryError(f"out of memory while {doing} ({reason})")
    return DeviceError(f"Vulkan failed while {doing}: {reason}")


@contextmanager
def translated(vk: Any, doing: str) -> Generator[None]:
    """Turn errors of the package's wrappers into ours; `doing` completes "failed while ..."."""
    try:
        yield
    except vk.VkError as error:
        for code, kind in vk.exception_codes.items():
            if kind is type(error):
                raise error_of(vk, code, doing) from None
        raise DeviceError(f"Vulkan failed while {doing}: {type(error).__name__}") from None


def device_function(vk: Any, device: Any, name: str) -> Callable[..., int]:
    """Return the driver's own function `name`, which returns a `VkResult`."""
    address = vk.lib.vkGetDeviceProcAddr(device, vk.ffi.new("char[]", name.encode()))
    if address == vk.ffi.NULL:
        raise DeviceUnavailableError(f"the Vulkan driver has no function {name}")
    return vk.ffi.cast(f"PFN_{name}", address)
