"""Opcodes that no row of the dialect's table holds: declarations, debug and control flow.

Numbers from the SPIR-V specification, section 3.49. The instructions of a function's body are in
the dialect itself (`ingot.compiler.dialects.spirv.base.Instruction`).
"""

from __future__ import annotations

from enum import IntEnum

from ingot.compiler.dialects.spirv.enums import Decoration

MAGIC = 0x07230203
GENERATOR = 0
"""The generator's number; 0 stands for a tool that is not registered with Khronos."""
HEADER_WORDS = 5
GLSL_SET = "GLSL.std.450"


BFLOAT16_ENCODING = 0
"""Of `OpTypeFloat`, by SPV_KHR_bfloat16."""


class Op(IntEnum):
    """Opcodes without the `Op` prefix."""

    Undef = 1
    SourceContinued = 2
    Source = 3
    SourceExtension = 4
    Name = 5
    MemberName = 6
    String = 7
    Line = 8
    Extension = 10
    ExtInstImport = 11
    ExtInst = 12
    MemoryModel = 14
    EntryPoint = 15
    ExecutionMode = 16
    Capability = 17
    TypeVoid = 19
    TypeBool = 20
    TypeInt = 21
    TypeFloat = 22
    TypeVector = 23
    TypeArray = 28
    TypeRuntimeArray = 29
    TypeStruct = 30
    TypePointer = 32
    TypeFunction = 33
    ConstantTrue = 41
    ConstantFalse = 42
    Constant = 43
    ConstantComposite = 44
    ConstantNull = 46
    SpecConstantTrue = 48
    SpecConstantFalse = 49
    SpecConstant = 50
    Function = 54
    FunctionParameter = 55
    FunctionEnd = 56
    FunctionCall = 57
    Variable = 59
    Decorate = 71
    MemberDecorate = 72
    Phi = 245
    LoopMerge = 246
    SelectionMerge = 247
    Label = 248
    Branch = 249
    BranchConditional = 250
    Return = 253
    ReturnValue = 254
    Unreachable = 255
    NoLine = 317
    ModuleProcessed = 330
    TypeCooperativeMatrixKHR = 4456


DEBUG_OPS = frozenset(
    {
        Op.SourceContinued,
        Op.Source,
        Op.SourceExtension,
        Op.MemberName,
        Op.String,
        Op.Line,
        Op.NoLine,
        Op.ModuleProcessed,
    }
)
"""Instructions without meaning, which the reader skips."""


def string_words(text: str) -> list[int]:
    """A string literal: UTF-8, ended by a zero byte and filled up to a word."""
    data = text.encode() + b"\0"
    data += b"\0" * (-len(data) % 4)
    return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]


def snake_case(name: str) -> str:
    """`NonWritable` to `non_writable`: the name of a decoration's attribute on an op."""
    return "".join("_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(name))


UNIT_DECORATIONS = {
    snake_case(d.name): d
    for d in (
        Decoration.RelaxedPrecision,
        Decoration.Restrict,
        Decoration.Aliased,
        Decoration.Volatile,
        Decoration.Coherent,
        Decoration.NonWritable,
        Decoration.NonReadable,
        Decoration.NoContraction,
    )
}
"""Decorations without operands, by the name of the unit attribute that stands for them."""
