"""IREE: its compiler's SPIR-V under its own runtime, on the same Vulkan device.

A compiled program is kept in a folder, under a name that depends on its text, the options and the
version; so a machine without IREE's compiler, which is large, can run what another one compiled.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from bench.cases import Array, Case
from bench.peers import Unavailable

NVIDIA_OPTIONS = ("--iree-vulkan-target=ampere",)
"""Its newest name for NVIDIA's data center GPUs; without it no subgroup feature is used."""


class IreeCall:
    """A function of a loaded module with its arguments as buffer views."""

    dispatches = None

    def __init__(self, runtime: Any, device: Any, module: bytes, inputs: Sequence[Array]) -> None:
        self._runtime, self._device = runtime, device
        context = runtime.SystemContext(config=runtime.Config(device=device))
        loaded = runtime.VmModule.copy_buffer(context.instance, module)
        context.add_vm_module(loaded)
        self._context: Any = context.vm_context
        self._function = loaded.lookup_function("main")
        self._arguments = runtime.VmVariantList(len(inputs))
        for array in inputs:
            on_device = runtime.asdevicearray(device, array)
            self._arguments.push_ref(on_device._buffer_view)
        self._results: Any = None

    def run(self) -> None:
        self._results = self._runtime.VmVariantList(1)
        self._context.invoke(self._function, self._arguments, self._results)

    def results(self) -> list[Array]:
        views = (
            self._results.get_as_object(i, self._runtime.HalBufferView)
            for i in range(len(self._results))
        )
        return [self._fetch(view) for view in views]

    def _fetch(self, view: Any) -> Array:
        """A copy of an array on the device, by way of a buffer that the host can map."""
        rt, device, source = self._runtime, self._device, view.get_buffer()
        staging = device.allocator.allocate_buffer(
            memory_type=int(rt.MemoryType.HOST_LOCAL | rt.MemoryType.DEVICE_VISIBLE),
            allowed_usage=int(rt.BufferUsage.TRANSFER_TARGET | rt.BufferUsage.MAPPING_SCOPED),
            allocation_size=source.byte_length(),
        )
        done = device.create_semaphore(0)
        before, after = (rt.HalFence.create_at(done, value) for value in (0, 1))
        device.queue_copy(source, staging, wait_semaphores=before, signal_semaphores=after)
        after.wait()
        dtype = rt.HalElementType.map_to_dtype(view.element_type)
        return staging.map().asarray(view.shape, dtype).copy()

    def kernel_seconds(self) -> float | None:
        return None


class Iree:
    """The packages `iree-base-compiler` and `iree-base-runtime`."""

    name = "iree"

    def __init__(self, device_name: str, compiled: Path) -> None:
        """`device_name` is what the driver calls the device; raises `Unavailable`."""
        try:
            import iree.runtime as runtime
        except ImportError:
            raise Unavailable("iree-base-runtime is not installed") from None
        self._runtime: Any = runtime
        self._compiled = compiled
        self._options = NVIDIA_OPTIONS if "NVIDIA" in device_name else ()
        try:
            found = [
                d
                for d in runtime.get_driver("vulkan").query_available_devices()
                if device_name in d["name"]
            ]
            if not found:
                raise Unavailable(f"it does not see the Vulkan device {device_name}")
            self._device: Any = runtime.get_driver("vulkan").create_device(found[0])
        except (ValueError, RuntimeError) as error:
            raise Unavailable(f"it has no Vulkan device here: {error}") from error
        self.description = f"iree {version('iree-base-runtime')}, {found[0]['name']}"

    def prepare(self, case: Case, inputs: Sequence[Array]) -> IreeCall:
        return IreeCall(self._runtime, self._device, self._module(case), inputs)

    def _module(self, case: Case) -> bytes:
        key = repr((case.text, self._options, version("iree-base-runtime")))
        path = self._compiled / f"{case.name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}.vmfb"
        if not path.is_file():
            self._compiled.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self._compile(case))
        return path.read_bytes()

    def _compile(self, case: Case) -> bytes:
        try:
            from iree.compiler import CompilerToolError, compile_str

            version("iree-base-compiler")
        except (ImportError, PackageNotFoundError):
            raise Unavailable("iree-base-compiler is not installed") from None
        try:
            return compile_str(
                case.text,
                target_backends=["vulkan-spirv"],
                input_type="auto",
                extra_args=list(self._options),
            )
        except CompilerToolError as error:
            lines = [line for line in str(error).splitlines() if "error:" in line]
            raise Unavailable(lines[0] if lines else "it does not compile") from error
