"""Whatever the bytes are, the reader gives a module or a MalformedSpirv."""

from __future__ import annotations

import struct
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from unit.spirv.random_modules import RandomKernel

from ingot.targets.spirv import (
    InvalidSpirv,
    MalformedSpirv,
    SpirvError,
    assemble,
    deserialize,
    disassemble,
    serialize,
    validate,
)

BINARIES = [serialize(RandomKernel(Random(seed)).module()) for seed in range(6)]
INTERESTING = [0, 1, 2, 0xFFFFFFFF, 0x00010000, 0x7FFFFFFF]


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A binary with a few words changed, dropped, doubled or cut off."""
    binary = draw(st.sampled_from(BINARIES))
    words = list(struct.unpack(f"<{len(binary) // 4}I", binary))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(words) - 1))
        match draw(st.sampled_from(("set", "nudge", "drop", "double", "cut"))):
            case "set":
                known = st.sampled_from(INTERESTING) | st.sampled_from(words)
                words[place] = draw(known | st.integers(0, 2**32 - 1))
            case "nudge":
                step = draw(st.sampled_from((-1, 1, -(1 << 16), 1 << 16)))
                words[place] = (words[place] + step) & 0xFFFFFFFF
            case "drop":
                del words[place]
            case "double":
                words.insert(place, words[place])
            case _:
                del words[place:]
        words = words or [0]
    return struct.pack(f"<{len(words)}I", *words)


def is_valid(binary: bytes) -> bool:
    try:
        validate(binary)
    except SpirvError:
        return False
    return True


@settings(max_examples=300, deadline=None)
@given(damaged())
def test_damaged_binaries_are_refused_or_read_as_what_they_say(binary: bytes) -> None:
    try:
        module = deserialize(binary)
    except MalformedSpirv:
        return
    if is_valid(binary):
        again = serialize(module)
        validate(again)
        assert serialize(deserialize(again)) == again


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(MalformedSpirv):
        deserialize(data)


HEAD = """
    OpCapability Shader
    OpMemoryModel Logical GLSL450
    OpEntryPoint GLCompute %main "main"
    OpExecutionMode %main LocalSize 1 1 1
    %void = OpTypeVoid
    %bool = OpTypeBool
    %uint = OpTypeInt 32 0
    %true = OpConstantTrue %bool
    %one = OpConstant %uint 1
    %type = OpTypeFunction %void
    %main = OpFunction %void None %type
    %entry = OpLabel
"""
TAIL = "OpReturn\nOpFunctionEnd"


def with_workgroup_size(x: str) -> bytes:
    """A shader of local size 1, 1, 1 whose WorkgroupSize constant is (`x`, 1, 1)."""
    constant = f"""
        %v3 = OpTypeVector %uint 3
        %two = OpConstant %uint 2
        %size = OpConstantComposite %v3 {x} %one %one
        %main = """
    decorated = HEAD.replace("%void = ", "OpDecorate %size BuiltIn WorkgroupSize\n%void = ")
    return assemble(decorated.replace("%main = ", constant) + TAIL)


def test_a_workgroup_size_that_repeats_the_local_size_is_read() -> None:
    validate(serialize(deserialize(with_workgroup_size("%one"))))


REFUSED = {
    "two workgroup sizes": (with_workgroup_size("%two"), "differs from LocalSize"),
    "big-endian": (BINARIES[0][3::-1] + BINARIES[0][4:], "big-endian"),
    "a later major version": (BINARIES[0][:4] + b"\0\0\2\0" + BINARIES[0][8:], "SPIR-V 2.0"),
    "no memory model": (assemble("OpCapability Shader"), "OpMemoryModel"),
    "an unknown capability": (assemble("OpCapability Geometry"), "no Capability known"),
    "an unknown instruction": (
        assemble(HEAD + "%copy = OpCopyObject %uint %one\n" + TAIL),
        "an instruction that is not known here",
    ),
    "an image": (
        assemble(
            HEAD.replace("%main = ", "%image = OpTypeImage %uint 2D 0 0 0 2 Rgba8\n%main = ") + TAIL
        ),
        "not known",
    ),
    "a break inside an if": (
        assemble(
            HEAD
            + """
            OpBranch %header
            %header = OpLabel
            OpLoopMerge %merge %continue None
            OpBranch %body
            %body = OpLabel
            OpSelectionMerge %after None
            OpBranchConditional %true %merge %after
            %after = OpLabel
            OpBranch %continue
            %continue = OpLabel
            OpBranch %header
            %merge = OpLabel
            """
            + TAIL
        ),
        "leaves its loop or selection midway",
    ),
}


@pytest.mark.parametrize(("binary", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_the_dialect_cannot_express_is_named(binary: bytes, sentence: str) -> None:
    with pytest.raises(MalformedSpirv, match=sentence):
        deserialize(binary)


def test_the_tools_refuse_with_the_same_errors() -> None:
    with pytest.raises(MalformedSpirv, match="4-byte words"):
        validate(BINARIES[0][:-1])
    with pytest.raises(MalformedSpirv):
        disassemble(b"\0" * 20)
    with pytest.raises(MalformedSpirv, match="OpNothing"):
        assemble("%1 = OpNothing")
    with pytest.raises(InvalidSpirv, match="OpFunctionEnd"):
        validate(BINARIES[0][:-4])
    with pytest.raises(SpirvError, match="not an environment"):
        validate(BINARIES[0], "metal")
