"""SPIR-V of strangers: validated, its indices clamped, and what cannot be clamped refused."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import ingot.runtime as rt
from ingot.runtime.devices.vulkan.shield import shielded
from ingot.runtime.hal import BufferRange, Device
from ingot.targets.bundle.model import Access, Binding, DType, Kernel

from .kernels import assemble, axpy

_HOSTILE = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %arr ArrayStride 4
OpDecorate %buf Block
OpMemberDecorate %buf 0 Offset 0
OpDecorate %x DescriptorSet {set}
OpDecorate %x Binding {binding}
%void = OpTypeVoid
%fn = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%arr = OpTypeRuntimeArray %u32
%buf = OpTypeStruct %arr
%pbuf = OpTypePointer StorageBuffer %buf
%pu = OpTypePointer StorageBuffer %u32
%x = OpVariable %pbuf StorageBuffer
%c0 = OpConstant %u32 0
%c4 = OpConstant %u32 4
%four = OpTypeArray %u32 %c4
%pshared = OpTypePointer Workgroup %four
%pshared_word = OpTypePointer Workgroup %u32
%pown = OpTypePointer Function %four
%pown_word = OpTypePointer Function %u32
%shared = OpVariable %pshared Workgroup
%main = OpFunction %void None %fn
%entry = OpLabel
%own = OpVariable %pown Function
%p0 = OpAccessChain %pu %x %c0 %c0
%i = OpLoad %u32 %p0
%p1 = OpAccessChain %pshared_word %shared %i
OpStore %p1 %i
%p2 = OpAccessChain %pown_word %own %i
OpStore %p2 %c4
%v = OpLoad %u32 %p2
%p3 = OpAccessChain %pu %x %c0 %i
OpStore %p3 %v
OpReturn
OpFunctionEnd
"""
"""x[i] = 4 for the i in x[0], by way of arrays of four words in threadgroup and private memory."""


def hostile(binding: int = 0, descriptor_set: int = 0) -> Kernel:
    return Kernel(
        "hostile",
        "main",
        (1, 1, 1),
        (Binding("x", DType.UI32, Access.READ_WRITE),),
        spirv=assemble(_HOSTILE.format(binding=binding, set=descriptor_set)),
        spirv_entry_point="main",
    )


@pytest.fixture(scope="module")
def shield() -> Iterator[Device]:
    try:
        opened = rt.open_device("vulkan", untrusted=True)
    except rt.DeviceUnavailableError as error:
        pytest.skip(str(error))
    yield opened
    opened.close()


@pytest.mark.parametrize("index", [2, 5, 2**31 - 1, 2**31, 2**32 - 1])
def test_an_index_beyond_every_array_stays_inside(shield: Device, index: int) -> None:
    """The buffer is the middle of a larger one: the words around it stay what they were."""
    area = shield.allocate(768)
    area.write(0, np.full(192, 9, np.uint32).tobytes())
    area.write(256, np.array([index, 0, 0, 0], np.uint32).tobytes())
    pipeline = shield.load([hostile()], "safe", (0, 0)).pipelines[0]
    commands = shield.create_command_buffer()
    commands.begin()
    commands.dispatch(pipeline, (1, 1, 1), [BufferRange(area, 256, 16)])
    commands.end()
    done = shield.create_semaphore()
    shield.queue.submit([commands], signal=[(done, 1)])
    done.wait(1, 60)
    words = np.frombuffer(area.read(), np.uint32)
    assert set(words[:64]) | set(words[68:]) == {9}
    assert 4 in words[64:68]


@pytest.mark.parametrize(
    ("kernel", "sentence"),
    [
        (axpy(), "uses memory that kernels of strangers may not have"),
        (replace(hostile(), spirv=hostile().spirv[:-8]), "is not valid SPIR-V: "),
        (replace(hostile(), spirv=b""), "has no SPIR-V"),
    ],
    ids=["push constants", "invalid", "none"],
)
def test_what_is_refused(kernel: Kernel, sentence: str) -> None:
    with pytest.raises(rt.KernelError, match=sentence):
        shielded(kernel)


@pytest.mark.parametrize("kernel", [hostile(binding=1), hostile(descriptor_set=1)])
def test_descriptors_that_nobody_binds_are_refused(vulkan: Device, kernel: Kernel) -> None:
    """Also without the shield: a driver would follow a pointer that is not there."""
    with pytest.raises(rt.KernelError, match="uses a buffer that the bundle does not bind"):
        vulkan.load([kernel], "safe", (0, 0))


def test_without_the_shield_kernels_reach_no_other_buffer(vulkan: Device) -> None:
    """Robust buffer access: writes past a buffer are dropped, and reads give its own bytes."""
    assert "robust-buffer-access" in vulkan.features
    areas = [vulkan.allocate(256) for _ in range(9)]
    for area in areas:
        area.write(0, np.full(64, 9, np.float32).tobytes())
    x, out = areas[3], areas[5]
    pipeline = vulkan.load([axpy()], "safe", (0, 0)).pipelines[0]
    commands = vulkan.create_command_buffer()
    commands.begin()
    constants = struct.pack("<If", 1 << 20, 1.0)
    bindings = [x.whole, x.whole, out.whole]
    commands.dispatch(pipeline, (1 << 14, 1, 1), bindings, constants)
    commands.end()
    done = vulkan.create_semaphore()
    vulkan.queue.submit([commands], signal=[(done, 1)])
    done.wait(1, 60)
    for area in areas:
        value = 18 if area is out else 9
        assert set(np.frombuffer(area.read(), np.float32)) == {value}
