"""Memory between guard pages, for buffers whose end an access must not pass."""

from __future__ import annotations

import ctypes
import weakref
from typing import Final

from ingot.runtime.devices.host.engine import Region, engine
from ingot.runtime.errors import DeviceMemoryError

GUARD = 16 << 20
"""Inaccessible bytes on both sides of a buffer: an access that is off by less is told from it."""


class _Mapping:
    """Lives as long as the memory or a view of it."""


class GuardedMemory:
    """`size` zeroed bytes that end where inaccessible pages begin.

    The data start at a multiple of `alignment`; up to `alignment - 1` bytes lie behind them.
    The memory is given back by `release`, after which `view` must not be used, or with the object
    and the last view.
    """

    def __init__(self, size: int, alignment: int = 16) -> None:
        region = Region()
        error = engine().library.ingot_region_allocate(size, alignment, GUARD, ctypes.byref(region))
        if error:
            raise DeviceMemoryError(f"no memory for a buffer of {size} bytes")
        self.size: Final = size
        self.address: Final[int] = region.data
        self.first: Final[int] = region.mapping + GUARD
        """The first address that can be accessed, at or before `address`."""
        self.last: Final[int] = region.mapping + region.mapping_size - GUARD
        """The address where the upper guard begins."""
        array = (ctypes.c_uint8 * size).from_address(self.address)
        mapping = _Mapping()
        vars(array)["owner"] = mapping
        self.view: Final = memoryview(array).cast("B")
        self._finalizer = weakref.finalize(mapping, _free, region)

    def release(self) -> None:
        """Unmap the memory; a second call does nothing."""
        self._finalizer()


def _free(region: Region) -> None:
    engine().library.ingot_region_free(ctypes.byref(region))
