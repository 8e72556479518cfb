"""GLSL.std.450 functions whose operands and results differ in type or in assembly."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, result_def, traits_def
from xdsl.traits import Pure

from ingot.compiler.dialects.spirv.base import (
    Instruction,
    InstructionSet,
    Kind,
    SpirvOp,
    instruction,
    operand_fields,
)
from ingot.compiler.dialects.spirv.families import Value
from ingot.compiler.dialects.spirv.types import (
    StructType,
    with_element,
)


def _glsl(opcode: int, arity: int) -> Instruction:
    return Instruction(opcode, operand_fields(arity), instruction_set=InstructionSet.GLSL)


@instruction(_glsl(46, 3))
class GLFMixOp(SpirvOp):
    """`spirv.GL.FMix %x : f32, %y : f32, %a : f32 -> f32`: x * (1 - a) + y * a."""

    name = "spirv.GL.FMix"

    x = operand_def()
    y = operand_def()
    a = operand_def()
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = (
        "attr-dict $x `:` type($x) `,` $y `:` type($y) `,` $a `:` type($a) `->` type($result)"
    )

    def __init__(self, x: Value, y: Value, a: Value) -> None:
        super().__init__(operands=[x, y, a], result_types=[SSAValue.get(x).type])

    def verify_(self) -> None:
        self.expect_kind(self.x, Kind.FLOAT)
        for value in (self.y, self.a, self.result):
            self.expect(value.type == self.x.type, "operands and result must have one type")


@instruction(_glsl(53, 2))
class GLLdexpOp(SpirvOp):
    """`spirv.GL.Ldexp %x : f32, %exp : i32 -> f32`: x * 2^exp."""

    name = "spirv.GL.Ldexp"

    x = operand_def()
    exp = operand_def()
    y = result_def()
    traits = traits_def(Pure())
    assembly_format = "attr-dict $x `:` type($x) `,` $exp `:` type($exp) `->` type($y)"

    def __init__(self, x: Value, exp: Value) -> None:
        super().__init__(operands=[x, exp], result_types=[SSAValue.get(x).type])

    def verify_(self) -> None:
        self.expect_kind(self.x, Kind.FLOAT)
        self.expect_kind(self.exp, Kind.INTEGER, "exponent")
        self.expect(self.y.type == self.x.type, "result must have the operand's type")
        self.expect(
            with_element(self.x.type, i32) == with_element(self.exp.type, i32),
            "operand and exponent must have one shape",
        )


@instruction(_glsl(52, 1))
class GLFrexpStructOp(SpirvOp):
    """`spirv.GL.FrexpStruct %x : f32 -> !spirv.struct<(f32, i32)>`: significand and exponent."""

    name = "spirv.GL.FrexpStruct"

    operand = operand_def()
    result = result_def(StructType)
    traits = traits_def(Pure())
    assembly_format = "attr-dict $operand `:` type($operand) `->` type($result)"

    def __init__(self, operand: Value) -> None:
        type = SSAValue.get(operand).type
        super().__init__(
            operands=[operand], result_types=[StructType.get([type, with_element(type, i32)])]
        )

    def verify_(self) -> None:
        self.expect_kind(self.operand, Kind.FLOAT)
        type = self.operand.type
        self.expect(
            self.result.type.members == (type, with_element(type, i32)),
            f"result must be a struct of {type} and {with_element(type, i32)}",
        )
