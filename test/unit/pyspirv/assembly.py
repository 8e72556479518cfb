"""SPIR-V binaries for tests, assembled from text by spirv-as."""

from __future__ import annotations

import subprocess
import sysconfig
from functools import lru_cache
from pathlib import Path

_TOOLS = Path(sysconfig.get_paths()["purelib"], "cmeel.prefix", "bin")

_SCALARS = {
    "f32": ("OpTypeFloat 32", 4),
    "f16": ("OpTypeFloat 16", 2),
    "i64": ("OpTypeInt 64 0", 8),
    "i32": ("OpTypeInt 32 0", 4),
    "i16": ("OpTypeInt 16 0", 2),
    "i8": ("OpTypeInt 8 0", 1),
}


@lru_cache(maxsize=256)
def assemble(text: str) -> bytes:
    """The binary of SPIR-V assembly, validated for Vulkan 1.1. Raises `AssertionError`."""
    made = subprocess.run(
        [_TOOLS / "spirv-as", "--target-env", "vulkan1.1", "-", "-o", "-"],
        input=text.encode(),
        capture_output=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr.decode()
    checked = subprocess.run(
        [_TOOLS / "spirv-val", "--target-env", "vulkan1.1", "-"],
        input=made.stdout,
        capture_output=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr.decode()
    return made.stdout


def _size(name: str) -> int:
    scalar, _, count = name.partition("x")
    return _SCALARS[scalar][1] * int(count or 1)


def _types(names: list[str]) -> list[str]:
    lines: dict[str, None] = {}
    for name in names:
        scalar, _, count = name.partition("x")
        lines[f"%{scalar} = {_SCALARS[scalar][0]}"] = None
        if count:
            lines[f"%{name} = OpTypeVector %{scalar} {count}"] = None
    return list(lines)


def kernel(
    body: str,
    *,
    element: str = "f32",
    result: str = "",
    names: tuple[str, ...] = ("a", "b", "out"),
    entry: str = "main",
    local_size: tuple[int, int, int] = (64, 1, 1),
    decorations: str = "",
    declarations: str = "",
    functions: str = "",
) -> str:
    """Assembly of a kernel over buffers of `element`s, the last of them of `result`s and written.

    `body` finds the elements `%x`, `%y`, `%x2`, `%x3`, ... of the read buffers at the thread's
    index `%i`, and defines `%r`, which is stored. `names` are the buffers', in binding order.
    """
    result = result or element
    last = len(names) - 1
    kinds = list(dict.fromkeys((element, result)))
    x, y, z = local_size
    head = [
        "OpCapability Shader",
        "OpCapability Int64",
        "OpCapability Int16",
        "OpCapability Int8",
        "OpCapability Float16",
        "OpCapability StorageBuffer16BitAccess",
        "OpCapability StorageBuffer8BitAccess",
        "OpCapability GroupNonUniformShuffle",
        "OpCapability GroupNonUniformArithmetic",
        'OpExtension "SPV_KHR_storage_buffer_storage_class"',
        'OpExtension "SPV_KHR_16bit_storage"',
        'OpExtension "SPV_KHR_8bit_storage"',
        '%glsl = OpExtInstImport "GLSL.std.450"',
        "OpMemoryModel Logical GLSL450",
        f'OpEntryPoint GLCompute %main "{entry}" %gid %lane',
        f"OpExecutionMode %main LocalSize {x} {y} {z}",
        *(f'OpName %b{n} "{name}"' for n, name in enumerate(names)),
        decorations,
        "OpDecorate %gid BuiltIn GlobalInvocationId",
        "OpDecorate %lane BuiltIn SubgroupLocalInvocationId",
    ]
    for kind in kinds:
        head += [
            f"OpDecorate %array_{kind} ArrayStride {_size(kind)}",
            f"OpDecorate %block_{kind} Block",
            f"OpMemberDecorate %block_{kind} 0 Offset 0",
        ]
    for n in range(len(names)):
        head += [f"OpDecorate %b{n} DescriptorSet 0", f"OpDecorate %b{n} Binding {n}"]
        if n < last:
            head.append(f"OpDecorate %b{n} NonWritable")
    head += [
        "%void = OpTypeVoid",
        "%function = OpTypeFunction %void",
        "%bool = OpTypeBool",
        *_types(["i32", *kinds]),
        "%i32_vec3 = OpTypeVector %i32 3",
        "%input = OpTypePointer Input %i32_vec3",
        "%input_i32 = OpTypePointer Input %i32",
        "%gid = OpVariable %input Input",
        "%lane = OpVariable %input_i32 Input",
        *(f"%c{n} = OpConstant %i32 {n}" for n in range(4)),
        declarations,
    ]
    for kind in kinds:
        head += [
            f"%array_{kind} = OpTypeRuntimeArray %{kind}",
            f"%block_{kind} = OpTypeStruct %array_{kind}",
            f"%pointer_{kind} = OpTypePointer StorageBuffer %block_{kind}",
            f"%element_{kind} = OpTypePointer StorageBuffer %{kind}",
        ]
    for n in range(len(names)):
        kind = result if n == last else element
        head.append(f"%b{n} = OpVariable %pointer_{kind} StorageBuffer")
    head += [
        functions,
        "%main = OpFunction %void None %function",
        "%entry = OpLabel",
        "%g = OpLoad %i32_vec3 %gid",
        "%i = OpCompositeExtract %i32 %g 0",
    ]
    for n in range(last):
        value = ("x", "y")[n] if n < 2 else f"x{n}"
        head += [
            f"%p{n} = OpAccessChain %element_{element} %b{n} %c0 %i",
            f"%{value} = OpLoad %{element} %p{n}",
        ]
    tail = [
        f"%to = OpAccessChain %element_{result} %b{last} %c0 %i",
        "OpStore %to %r",
        "OpReturn",
        "OpFunctionEnd",
    ]
    return "\n".join([*head, body, *tail])
