"""From a lowered module to the code of its kernels: SPIR-V words, checked, and MSL for Metal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingot.targets.bundle import model

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel of a target: its code and what a dispatch of it needs."""

    name: str
    grid: tuple[int, int, int]
    kernel: model.Kernel
    capabilities: frozenset[str]
    """SPIR-V capabilities that the code declares."""

    @property
    def spirv(self) -> bytes:
        """The SPIR-V words."""
        return self.kernel.spirv

    @property
    def msl(self) -> str:
        """The MSL, empty for targets that are not Metal's."""
        return self.kernel.msl
