"""What a device backend says about the devices that it can open."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class DeviceInfo:
    """One line of `list_devices`: a device, or why a backend has none."""

    name: str
    """What `open_device` takes: `vulkan:0`."""
    api: str
    """Which variants it runs; empty when unavailable."""
    description: str
    """What the driver calls it; empty when unavailable."""
    features: frozenset[str] = field(default_factory=lambda: frozenset[str]())
    simd_width: int = 0
    problem: str = ""
    """Why it cannot be opened; empty when it can."""

    @property
    def is_available(self) -> bool:
        """Whether `open_device(name)` works."""
        return not self.problem
