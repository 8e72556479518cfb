"""What the Metal device asks of Metal, on objects that only record it; no Mac is needed.

This shows the order of calls and their arguments, not that Metal accepts them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime.devices.metal import device as metal_device
from ingot.runtime.devices.metal import native
from ingot.runtime.hal import BufferRange, CommandBuffer

from .conftest import axpy_bundle, loaded
from .kernels import axpy


class Recorder:
    """Stands for encoders: keeps the names and arguments of all calls but signposts."""

    def __init__(self, kind: str, calls: list[tuple[Any, ...]]) -> None:
        self._kind, self._calls = kind, calls

    def insertDebugSignpost_(self, name: str) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self._calls.append((self._kind, name, *arguments))


class FakeBuffer:
    def __init__(self, size: int) -> None:
        self.bytes = bytearray(size)

    def contents(self) -> SimpleNamespace:
        return SimpleNamespace(as_buffer=lambda size: memoryview(self.bytes)[:size])


def fake_metal(calls: list[tuple[Any, ...]], compile_error: str = "") -> MagicMock:
    """An `MTLDevice` of family 7 that signals every event at once."""
    mtl = MagicMock()
    mtl.name.return_value = "Apple M1"
    mtl.supportsFamily_.side_effect = lambda family: family <= 1007
    mtl.maxThreadsPerThreadgroup.return_value = SimpleNamespace(width=1024, height=1024, depth=1024)
    mtl.maxThreadgroupMemoryLength.return_value = 32768
    mtl.maxBufferLength.return_value = 2**33
    mtl.newBufferWithLength_options_.side_effect = lambda size, options: FakeBuffer(size)
    library = MagicMock()
    error = MagicMock()
    error.localizedDescription.return_value = compile_error
    mtl.newLibraryWithSource_options_error_.return_value = (
        (None, error) if compile_error else (library, None)
    )
    state = MagicMock()
    state.maxTotalThreadsPerThreadgroup.return_value = 64
    state.threadExecutionWidth.return_value = 32
    make = mtl.newComputePipelineStateWithDescriptor_options_reflection_error_
    make.return_value = (state, None)
    mtl.newBinaryArchiveWithDescriptor_error_.return_value = (None, None)
    buffer = mtl.newCommandQueue().commandBufferWithDescriptor_()
    buffer.computeCommandEncoderWithDispatchType_.side_effect = lambda _: Recorder("compute", calls)
    buffer.blitCommandEncoder.side_effect = lambda: Recorder("blit", calls)
    buffer.status.return_value = 4
    mtl.newSharedEvent().waitUntilSignaledValue_timeoutMS_.return_value = True
    return mtl


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[tuple[Any, ...]]:
    monkeypatch.setattr(native, "load_metal", MagicMock())
    monkeypatch.setattr(native, "load_foundation", MagicMock())
    monkeypatch.setattr(native, "load_objc", MagicMock())
    monkeypatch.setenv("INGOT_CACHE_DIR", str(tmp_path))
    return []


def names(calls: list[tuple[Any, ...]]) -> list[str]:
    return [f"{kind}.{name}" for kind, name, *_ in calls]


def encode(device: rt.DeviceInfo, write: Any) -> None:
    commands: CommandBuffer = device.create_command_buffer()
    commands.begin()
    write(commands)
    commands.end()
    done = device.create_semaphore()
    device.queue.submit([commands], signal=[(done, 1)])
    done.wait(1)


def test_a_call_encodes_bindings_constants_and_grid(calls: list[tuple[Any, ...]]) -> None:
    mtl = fake_metal(calls)
    program = loaded(axpy_bundle(100)).bind(metal_device.MetalDevice(mtl))
    x = np.ones(100, np.float32)
    program.main(x, x)
    assert names(calls) == [
        "compute.setComputePipelineState_",
        *["compute.setBuffer_offset_atIndex_"] * 3,
        "compute.setBytes_length_atIndex_",
        "compute.dispatchThreadgroups_threadsPerThreadgroup_",
        "compute.endEncoding",
    ]
    assert [call[4] for call in calls[1:4]] == [0, 1, 2]
    assert calls[4][3:] == (8, 3)
    assert calls[5][2:] == ((2, 1, 1), (64, 1, 1))
    assert bytes(calls[1][2].bytes[:400]) == x.tobytes()
    buffer = mtl.newCommandQueue().commandBufferWithDescriptor_()
    buffer.encodeSignalEvent_value_.assert_called_once()
    buffer.commit.assert_called_once()


def test_fills_and_copies_use_the_blit_encoder_where_aligned(calls: list[tuple[Any, ...]]) -> None:
    device = metal_device.MetalDevice(fake_metal(calls))
    area = device.allocate(64)

    def write(commands: CommandBuffer) -> None:
        commands.fill(BufferRange(area, 0, 32), b"a")
        commands.barrier()
        commands.copy(BufferRange(area, 0, 32), BufferRange(area, 32, 32))
        commands.barrier()
        commands.fill(BufferRange(area, 1, 3), b"a")
        commands.barrier()
        commands.copy(BufferRange(area, 0, 3), BufferRange(area, 8, 3))

    encode(device, write)
    used = [name for name in names(calls) if ".set" not in name]
    assert used == [
        "blit.fillBuffer_range_value_",
        "blit.updateFence_",
        "blit.endEncoding",
        "blit.waitForFence_",
        "blit.copyFromBuffer_sourceOffset_toBuffer_destinationOffset_size_",
        "blit.updateFence_",
        "blit.endEncoding",
        "compute.waitForFence_",
        "compute.dispatchThreadgroups_threadsPerThreadgroup_",
        "compute.memoryBarrierWithScope_",
        "compute.dispatchThreadgroups_threadsPerThreadgroup_",
        "compute.endEncoding",
    ]


def test_argument_buffers_make_their_buffers_resident(calls: list[tuple[Any, ...]]) -> None:
    device = metal_device.MetalDevice(fake_metal(calls))
    kernel = replace(axpy(), argument_buffer=True)
    pipeline = device.load([kernel], "safe", (3, 1)).pipelines[0]
    pipeline.function.newArgumentEncoderWithBufferIndex_().encodedLength.return_value = 24
    area = BufferRange(device.allocate(64), 0, 64)
    encode(device, lambda c: c.dispatch(pipeline, (1, 1, 1), [area] * 3, bytes(8)))
    assert names(calls)[1:4] == [
        "compute.setBuffer_offset_atIndex_",
        *["compute.useResources_count_usage_"] * 2,
    ]
    assert [call[3:] for call in calls[2:4]] == [(2, 1), (1, 2)]
    assert calls[4][1:2] + calls[4][4:] == ("setBytes_length_atIndex_", 1)


def test_a_failed_command_buffer_fails_the_call(calls: list[tuple[Any, ...]]) -> None:
    mtl = fake_metal(calls)
    buffer = mtl.newCommandQueue().commandBufferWithDescriptor_()
    buffer.status.return_value = 5
    buffer.error().localizedDescription.return_value = "GPU\nhang"
    program = loaded(axpy_bundle(4)).bind(metal_device.MetalDevice(mtl))
    x = np.ones(4, np.float32)
    with pytest.raises(rt.DeviceError, match=r"^Metal failed: GPU hang$"):
        program.main(x, x)


def test_compile_errors_name_the_kernel(calls: list[tuple[Any, ...]]) -> None:
    device = metal_device.MetalDevice(fake_metal(calls, "bad\n token"))
    with pytest.raises(rt.KernelError, match=r"^kernel 'axpy' does not compile: bad token$"):
        device.load([axpy()], "safe", (3, 1))


def test_too_many_threads_for_the_pipeline_are_refused(calls: list[tuple[Any, ...]]) -> None:
    device = metal_device.MetalDevice(fake_metal(calls))
    kernel = replace(axpy(), threadgroup_size=(65, 1, 1))
    with pytest.raises(rt.KernelError, match="65 threads a threadgroup; 'Apple M1' runs at most"):
        device.load([kernel], "safe", (3, 1))
