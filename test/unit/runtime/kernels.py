"""Small kernels written by hand, as SPIR-V assembly and as MSL, for tests of the runtime."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import cmeel

from ingot.targets.bundle.model import Access, Binding, DType, Kernel

_SPIRV_AS = Path(cmeel.__file__).parents[1] / "cmeel.prefix" / "bin" / "spirv-as"

_HEADER = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "{entry}" %gid{interface}
OpExecutionMode %main LocalSize 64 1 1
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %arr ArrayStride 4
OpDecorate %buf Block
OpMemberDecorate %buf 0 Offset 0
{decorations}
%void = OpTypeVoid
%fn = OpTypeFunction %void
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%f32 = OpTypeFloat 32
%v3 = OpTypeVector %u32 3
%pv3 = OpTypePointer Input %v3
%pu = OpTypePointer Input %u32
%arr = OpTypeRuntimeArray %f32
%buf = OpTypeStruct %arr
%pbuf = OpTypePointer StorageBuffer %buf
%pf = OpTypePointer StorageBuffer %f32
%gid = OpVariable %pv3 Input
%c0 = OpConstant %u32 0
{globals}
%main = OpFunction %void None %fn
%entry = OpLabel
%px = OpAccessChain %pu %gid %c0
%i = OpLoad %u32 %px
"""

_AXPY = (
    _HEADER.format(
        entry="axpy_main",
        interface="",
        decorations="""
OpDecorate %x DescriptorSet 0
OpDecorate %x Binding 0
OpDecorate %y DescriptorSet 0
OpDecorate %y Binding 1
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 2
OpDecorate %pc_t Block
OpMemberDecorate %pc_t 0 Offset 0
OpMemberDecorate %pc_t 1 Offset 4
""",
        globals="""
%c1 = OpConstant %u32 1
%pc_t = OpTypeStruct %u32 %f32
%ppc = OpTypePointer PushConstant %pc_t
%ppu = OpTypePointer PushConstant %u32
%ppf = OpTypePointer PushConstant %f32
%pc = OpVariable %ppc PushConstant
%x = OpVariable %pbuf StorageBuffer
%y = OpVariable %pbuf StorageBuffer
%out = OpVariable %pbuf StorageBuffer
""",
    )
    + """
%pn = OpAccessChain %ppu %pc %c0
%n = OpLoad %u32 %pn
%inside = OpULessThan %bool %i %n
OpSelectionMerge %done None
OpBranchConditional %inside %work %done
%work = OpLabel
%pa = OpAccessChain %ppf %pc %c1
%a = OpLoad %f32 %pa
%p0 = OpAccessChain %pf %x %c0 %i
%v0 = OpLoad %f32 %p0
%p1 = OpAccessChain %pf %y %c0 %i
%v1 = OpLoad %f32 %p1
%m = OpFMul %f32 %v0 %a
%s = OpFAdd %f32 %m %v1
%p2 = OpAccessChain %pf %out %c0 %i
OpStore %p2 %s
OpBranch %done
%done = OpLabel
OpReturn
OpFunctionEnd
"""
)

_AXPY_MSL = """
#include <metal_stdlib>
using namespace metal;
struct Constants { uint n; float a; };
kernel void axpy_main(const device float* x [[buffer(0)]], const device float* y [[buffer(1)]],
                      device float* out [[buffer(2)]], constant Constants& c [[buffer(3)]],
                      uint3 gid [[thread_position_in_grid]]) {
    if (gid.x < c.n) { out[gid.x] = x[gid.x] * c.a + y[gid.x]; }
}
"""


_IDS = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "ids_main" %group %groups
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %group BuiltIn WorkgroupId
OpDecorate %groups BuiltIn NumWorkgroups
OpDecorate %arr ArrayStride 4
OpDecorate %buf Block
OpMemberDecorate %buf 0 Offset 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%v3 = OpTypeVector %u32 3
%pv3 = OpTypePointer Input %v3
%arr = OpTypeRuntimeArray %u32
%buf = OpTypeStruct %arr
%pbuf = OpTypePointer StorageBuffer %buf
%pu = OpTypePointer StorageBuffer %u32
%group = OpVariable %pv3 Input
%groups = OpVariable %pv3 Input
%out = OpVariable %pbuf StorageBuffer
%c0 = OpConstant %u32 0
%c8 = OpConstant %u32 8
%c24 = OpConstant %u32 24
%main = OpFunction %void None %fn
%entry = OpLabel
%g = OpLoad %v3 %group
%n = OpLoad %v3 %groups
%x = OpCompositeExtract %u32 %g 0
%y = OpCompositeExtract %u32 %g 1
%z = OpCompositeExtract %u32 %g 2
%nx = OpCompositeExtract %u32 %n 0
%ny = OpCompositeExtract %u32 %n 1
%zy = OpIMul %u32 %z %ny
%row = OpIAdd %u32 %zy %y
%rx = OpIMul %u32 %row %nx
%at = OpIAdd %u32 %rx %x
%y8 = OpShiftLeftLogical %u32 %y %c8
%z24 = OpShiftLeftLogical %u32 %z %c24
%xy = OpBitwiseOr %u32 %x %y8
%xyz = OpBitwiseOr %u32 %xy %z24
%p = OpAccessChain %pu %out %c0 %at
OpStore %p %xyz
OpReturn
OpFunctionEnd
"""

_IDS_MSL = """
#include <metal_stdlib>
using namespace metal;
kernel void ids_main(device uint* out [[buffer(0)]], uint3 g [[threadgroup_position_in_grid]],
                     uint3 n [[threadgroups_per_grid]]) {
    out[(g.z * n.y + g.y) * n.x + g.x] = g.x | g.y << 8 | g.z << 24;
}
"""

_ENTRIES = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %first "first_main"
OpEntryPoint GLCompute %second "second_main"
OpExecutionMode %first LocalSize 1 1 1
OpExecutionMode %second LocalSize 1 1 1
OpDecorate %buf Block
OpMemberDecorate %buf 0 Offset 0
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%buf = OpTypeStruct %u32
%pbuf = OpTypePointer StorageBuffer %buf
%pu = OpTypePointer StorageBuffer %u32
%out = OpVariable %pbuf StorageBuffer
%c0 = OpConstant %u32 0
%c1 = OpConstant %u32 1
%c2 = OpConstant %u32 2
%first = OpFunction %void None %fn
%e1 = OpLabel
%p1 = OpAccessChain %pu %out %c0
OpStore %p1 %c1
OpReturn
OpFunctionEnd
%second = OpFunction %void None %fn
%e2 = OpLabel
%p2 = OpAccessChain %pu %out %c0
OpStore %p2 %c2
OpReturn
OpFunctionEnd
"""

_ENTRIES_MSL = """
#include <metal_stdlib>
using namespace metal;
kernel void first_main(device uint* out [[buffer(0)]]) { out[0] = 1; }
kernel void second_main(device uint* out [[buffer(0)]]) { out[0] = 2; }
"""


@cache
def assemble(text: str) -> bytes:
    """Return the SPIR-V of an assembly listing."""
    command = [str(_SPIRV_AS), "--target-env", "vulkan1.1", "-o", "-", "-"]
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout


def axpy() -> Kernel:
    """out[i] = a * x[i] + y[i] for i below n; push constants are n (u32) and a (f32)."""
    names = (("x", Access.READ), ("y", Access.READ), ("out", Access.WRITE))
    return Kernel(
        name="axpy",
        entry_point="axpy_main",
        threadgroup_size=(64, 1, 1),
        bindings=tuple(Binding(name, DType.F32, access) for name, access in names),
        spirv=assemble(_AXPY),
        msl=_AXPY_MSL,
        spirv_entry_point="axpy_main",
        push_constant_size=8,
    )


def ids() -> Kernel:
    """One thread a threadgroup: out[its linear index in the grid] = x | y << 8 | z << 24."""
    return _writer("ids", "ids_main", _IDS, _IDS_MSL)


def entries() -> tuple[Kernel, Kernel]:
    """Two entry points of one text: out[0] = 1 and out[0] = 2; names that no language allows."""
    return (
        _writer("_first.of two", "first_main", _ENTRIES, _ENTRIES_MSL),
        _writer(".second_", "second_main", _ENTRIES, _ENTRIES_MSL),
    )


def _writer(name: str, entry_point: str, spirv: str, msl: str) -> Kernel:
    """A kernel of one thread that only writes to its only buffer."""
    return Kernel(
        name=name,
        entry_point=entry_point,
        threadgroup_size=(1, 1, 1),
        bindings=(Binding("out", DType.UI32, Access.WRITE),),
        spirv=assemble(spirv),
        msl=msl,
        spirv_entry_point=entry_point,
    )
