"""Kernels, ready to be dispatched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ingot.runtime.errors import HalUsageError

if TYPE_CHECKING:
    from ingot.runtime.hal.device import Device
    from ingot.targets.bundle.model import Kernel


class Pipeline:
    """One kernel, ready to be dispatched; made by `Device.load`.

    `kernel` is the bundle's record: names, threadgroup size, bindings with their access, bytes of
    push constants and of threadgroup memory.
    """

    def __init__(self, device: Device, kernel: Kernel) -> None:
        self.device: Final = device
        self.kernel: Final = kernel


@dataclass(frozen=True)
class Executable:
    """The kernels of one variant, in the order of the bundle."""

    pipelines: tuple[Pipeline, ...]

    @property
    def exports(self) -> tuple[str, ...]:
        """The kernels' source names, which may have any characters."""
        return tuple(pipeline.kernel.name for pipeline in self.pipelines)

    def lookup(self, export: str) -> Pipeline:
        """Return the pipeline whose kernel has the source name `export`."""
        for pipeline in self.pipelines:
            if pipeline.kernel.name == export:
                return pipeline
        known = ", ".join(f"'{name}'" for name in self.exports) or "none"
        raise HalUsageError(f"no kernel is named '{export}'; there are {known}")
