"""The instruction table of arithmetic, bits, comparisons, conversions and GLSL.std.450.

One line for each op: mnemonic, opcode (SPIR-V specification, 3.49.11 to 3.49.15; GLSL.std.450,
section 2), operand kind. The class comes out of a family.
"""

from __future__ import annotations

from ingot.compiler.dialects.spirv.base import (
    Instruction,
    InstructionSet,
    Kind,
    define_row,
    operand_fields,
)
from ingot.compiler.dialects.spirv.families import (
    BinaryOp,
    BitFieldExtractOp,
    CastOp,
    CompareOp,
    ExtendedBinaryOp,
    PredicateOp,
    ShiftOp,
    TernaryOp,
    UnaryOp,
    WidthCastOp,
)


def _row(opcode: int, arity: int) -> Instruction:
    return Instruction(opcode, operand_fields(arity))


def _unary(mnemonic: str, opcode: int, kind: Kind) -> type[UnaryOp]:
    return define_row(UnaryOp, mnemonic, _row(opcode, 1), KIND=kind)


def _binary(mnemonic: str, opcode: int, kind: Kind) -> type[BinaryOp]:
    return define_row(BinaryOp, mnemonic, _row(opcode, 2), KIND=kind)


def _test(mnemonic: str, opcode: int, kind: Kind) -> type[PredicateOp]:
    return define_row(PredicateOp, mnemonic, _row(opcode, 1), KIND=kind)


def _compare(mnemonic: str, opcode: int, kind: Kind) -> type[CompareOp]:
    return define_row(CompareOp, mnemonic, _row(opcode, 2), KIND=kind)


def _cast(
    mnemonic: str, opcode: int, kind: Kind, result: Kind, family: type[CastOp] = CastOp
) -> type[CastOp]:
    return define_row(family, mnemonic, _row(opcode, 1), KIND=kind, RESULT_KIND=result)


def _gl_row(opcode: int, arity: int) -> Instruction:
    return Instruction(opcode, operand_fields(arity), instruction_set=InstructionSet.GLSL)


def _gl(mnemonic: str, opcode: int, kind: Kind) -> type[UnaryOp]:
    return define_row(UnaryOp, f"GL.{mnemonic}", _gl_row(opcode, 1), KIND=kind)


def _gl2(mnemonic: str, opcode: int, kind: Kind) -> type[BinaryOp]:
    return define_row(BinaryOp, f"GL.{mnemonic}", _gl_row(opcode, 2), KIND=kind)


def _gl3(mnemonic: str, opcode: int, kind: Kind) -> type[TernaryOp]:
    return define_row(TernaryOp, f"GL.{mnemonic}", _gl_row(opcode, 3), KIND=kind)


SNegateOp = _unary("SNegate", 126, Kind.INTEGER)
FNegateOp = _unary("FNegate", 127, Kind.FLOAT)
IAddOp = _binary("IAdd", 128, Kind.INTEGER)
FAddOp = _binary("FAdd", 129, Kind.FLOAT)
ISubOp = _binary("ISub", 130, Kind.INTEGER)
FSubOp = _binary("FSub", 131, Kind.FLOAT)
IMulOp = _binary("IMul", 132, Kind.INTEGER)
FMulOp = _binary("FMul", 133, Kind.FLOAT)
UDivOp = _binary("UDiv", 134, Kind.INTEGER)
SDivOp = _binary("SDiv", 135, Kind.INTEGER)
FDivOp = _binary("FDiv", 136, Kind.FLOAT)
UModOp = _binary("UMod", 137, Kind.INTEGER)
SRemOp = _binary("SRem", 138, Kind.INTEGER)
SModOp = _binary("SMod", 139, Kind.INTEGER)
FRemOp = _binary("FRem", 140, Kind.FLOAT)
FModOp = _binary("FMod", 141, Kind.FLOAT)

IAddCarryOp = define_row(ExtendedBinaryOp, "IAddCarry", _row(149, 2))
ISubBorrowOp = define_row(ExtendedBinaryOp, "ISubBorrow", _row(150, 2))
UMulExtendedOp = define_row(ExtendedBinaryOp, "UMulExtended", _row(151, 2))
SMulExtendedOp = define_row(ExtendedBinaryOp, "SMulExtended", _row(152, 2))

ShiftRightLogicalOp = define_row(ShiftOp, "ShiftRightLogical", _row(194, 2))
ShiftRightArithmeticOp = define_row(ShiftOp, "ShiftRightArithmetic", _row(195, 2))
ShiftLeftLogicalOp = define_row(ShiftOp, "ShiftLeftLogical", _row(196, 2))
BitwiseOrOp = _binary("BitwiseOr", 197, Kind.INTEGER)
BitwiseXorOp = _binary("BitwiseXor", 198, Kind.INTEGER)
BitwiseAndOp = _binary("BitwiseAnd", 199, Kind.INTEGER)
NotOp = _unary("Not", 200, Kind.INTEGER)
BitFieldSExtractOp = define_row(BitFieldExtractOp, "BitFieldSExtract", _row(202, 3))
BitFieldUExtractOp = define_row(BitFieldExtractOp, "BitFieldUExtract", _row(203, 3))
BitReverseOp = _unary("BitReverse", 204, Kind.INTEGER)
BitCountOp = _unary("BitCount", 205, Kind.INTEGER)

IsNanOp = _test("IsNan", 156, Kind.FLOAT)
IsInfOp = _test("IsInf", 157, Kind.FLOAT)
LogicalEqualOp = _compare("LogicalEqual", 164, Kind.BOOLEAN)
LogicalNotEqualOp = _compare("LogicalNotEqual", 165, Kind.BOOLEAN)
LogicalOrOp = _binary("LogicalOr", 166, Kind.BOOLEAN)
LogicalAndOp = _binary("LogicalAnd", 167, Kind.BOOLEAN)
LogicalNotOp = _unary("LogicalNot", 168, Kind.BOOLEAN)
IEqualOp = _compare("IEqual", 170, Kind.INTEGER)
INotEqualOp = _compare("INotEqual", 171, Kind.INTEGER)
UGreaterThanOp = _compare("UGreaterThan", 172, Kind.INTEGER)
SGreaterThanOp = _compare("SGreaterThan", 173, Kind.INTEGER)
UGreaterThanEqualOp = _compare("UGreaterThanEqual", 174, Kind.INTEGER)
SGreaterThanEqualOp = _compare("SGreaterThanEqual", 175, Kind.INTEGER)
ULessThanOp = _compare("ULessThan", 176, Kind.INTEGER)
SLessThanOp = _compare("SLessThan", 177, Kind.INTEGER)
ULessThanEqualOp = _compare("ULessThanEqual", 178, Kind.INTEGER)
SLessThanEqualOp = _compare("SLessThanEqual", 179, Kind.INTEGER)
FOrdEqualOp = _compare("FOrdEqual", 180, Kind.FLOAT)
FUnordEqualOp = _compare("FUnordEqual", 181, Kind.FLOAT)
FOrdNotEqualOp = _compare("FOrdNotEqual", 182, Kind.FLOAT)
FUnordNotEqualOp = _compare("FUnordNotEqual", 183, Kind.FLOAT)
FOrdLessThanOp = _compare("FOrdLessThan", 184, Kind.FLOAT)
FUnordLessThanOp = _compare("FUnordLessThan", 185, Kind.FLOAT)
FOrdGreaterThanOp = _compare("FOrdGreaterThan", 186, Kind.FLOAT)
FUnordGreaterThanOp = _compare("FUnordGreaterThan", 187, Kind.FLOAT)
FOrdLessThanEqualOp = _compare("FOrdLessThanEqual", 188, Kind.FLOAT)
FUnordLessThanEqualOp = _compare("FUnordLessThanEqual", 189, Kind.FLOAT)
FOrdGreaterThanEqualOp = _compare("FOrdGreaterThanEqual", 190, Kind.FLOAT)
FUnordGreaterThanEqualOp = _compare("FUnordGreaterThanEqual", 191, Kind.FLOAT)

ConvertFToUOp = _cast("ConvertFToU", 109, Kind.FLOAT, Kind.INTEGER)
ConvertFToSOp = _cast("ConvertFToS", 110, Kind.FLOAT, Kind.INTEGER)
ConvertSToFOp = _cast("ConvertSToF", 111, Kind.INTEGER, Kind.FLOAT)
ConvertUToFOp = _cast("ConvertUToF", 112, Kind.INTEGER, Kind.FLOAT)
UConvertOp = _cast("UConvert", 113, Kind.INTEGER, Kind.INTEGER, WidthCastOp)
SConvertOp = _cast("SConvert", 114, Kind.INTEGER, Kind.INTEGER, WidthCastOp)
FConvertOp = _cast("FConvert", 115, Kind.FLOAT, Kind.FLOAT, WidthCastOp)

GLRoundOp = _gl("Round", 1, Kind.FLOAT)
GLRoundEvenOp = _gl("RoundEven", 2, Kind.FLOAT)
GLTruncOp = _gl("Trunc", 3, Kind.FLOAT)
GLFAbsOp = _gl("FAbs", 4, Kind.FLOAT)
GLSAbsOp = _gl("SAbs", 5, Kind.INTEGER)
GLFSignOp = _gl("FSign", 6, Kind.FLOAT)
GLSSignOp = _gl("SSign", 7, Kind.INTEGER)
GLFloorOp = _gl("Floor", 8, Kind.FLOAT)
GLCeilOp = _gl("Ceil", 9, Kind.FLOAT)
GLFractOp = _gl("Fract", 10, Kind.FLOAT)
GLSinOp = _gl("Sin", 13, Kind.FLOAT)
GLCosOp = _gl("Cos", 14, Kind.FLOAT)
GLTanOp = _gl("Tan", 15, Kind.FLOAT)
GLAsinOp = _gl("Asin", 16, Kind.FLOAT)
GLAcosOp = _gl("Acos", 17, Kind.FLOAT)
GLAtanOp = _gl("Atan", 18, Kind.FLOAT)
GLSinhOp = _gl("Sinh", 19, Kind.FLOAT)
GLCoshOp = _gl("Cosh", 20, Kind.FLOAT)
GLTanhOp = _gl("Tanh", 21, Kind.FLOAT)
GLAsinhOp = _gl("Asinh", 22, Kind.FLOAT)
GLAcoshOp = _gl("Acosh", 23, Kind.FLOAT)
GLAtanhOp = _gl("Atanh", 24, Kind.FLOAT)
GLAtan2Op = _gl2("Atan2", 25, Kind.FLOAT)
GLPowOp = _gl2("Pow", 26, Kind.FLOAT)
GLExpOp = _gl("Exp", 27, Kind.FLOAT)
GLLogOp = _gl("Log", 28, Kind.FLOAT)
GLExp2Op = _gl("Exp2", 29, Kind.FLOAT)
GLLog2Op = _gl("Log2", 30, Kind.FLOAT)
GLSqrtOp = _gl("Sqrt", 31, Kind.FLOAT)
GLInverseSqrtOp = _gl("InverseSqrt", 32, Kind.FLOAT)
GLFMinOp = _gl2("FMin", 37, Kind.FLOAT)
GLUMinOp = _gl2("UMin", 38, Kind.INTEGER)
GLSMinOp = _gl2("SMin", 39, Kind.INTEGER)
GLFMaxOp = _gl2("FMax", 40, Kind.FLOAT)
GLUMaxOp = _gl2("UMax", 41, Kind.INTEGER)
GLSMaxOp = _gl2("SMax", 42, Kind.INTEGER)
GLFClampOp = _gl3("FClamp", 43, Kind.FLOAT)
GLUClampOp = _gl3("UClamp", 44, Kind.INTEGER)
GLSClampOp = _gl3("SClamp", 45, Kind.INTEGER)
GLFmaOp = _gl3("Fma", 50, Kind.FLOAT)
GLFindILsbOp = _gl("FindILsb", 73, Kind.INTEGER)
GLFindSMsbOp = _gl("FindSMsb", 74, Kind.INTEGER)
GLFindUMsbOp = _gl("FindUMsb", 75, Kind.INTEGER)
GLNMinOp = _gl2("NMin", 79, Kind.FLOAT)
GLNMaxOp = _gl2("NMax", 80, Kind.FLOAT)
GLNClampOp = _gl3("NClamp", 81, Kind.FLOAT)
