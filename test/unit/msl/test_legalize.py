"""What each instruction is in MSL: the same for every SPIRV-Cross, and what SPIR-V says."""

from __future__ import annotations

import pytest
from unit.pyspirv.assembly import assemble, kernel
from unit.pyspirv.libraries import LIBRARIES

from ingot.targets.msl import MslError, MslOptions, cross_compile
from ingot.targets.pyspirv import Library


def expression(code: bytes, library: Library, math: str = "safe") -> str:
    """What the kernel stores, with its elements called a and b."""
    options = MslOptions(math=math)  # pyright: ignore[reportArgumentType]
    text = cross_compile(code, kernel_name="k", options=options, library=library).text
    (line,) = (x for x in text.splitlines() if x.startswith("    out["))
    stored = line.split(" = ", 1)[1].rstrip(";")
    return stored.replace("[thread_position_in_grid.x]", "")


def binary(op: str, element: str) -> bytes:
    return assemble(kernel(f"%r = {op} %{element} %x %y", element=element))


def compare(op: str) -> bytes:
    body = f"%c = {op} %bool %x %y\n%r = OpSelect %i32 %c %c1 %c0"
    return assemble(kernel(body, element="f32", result="i32"))


def glsl(op: str, element: str, operands: str = "%x") -> bytes:
    return assemble(kernel(f"%r = OpExtInst %{element} %glsl {op} {operands}", element=element))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (binary("OpSRem", "i32"), "a - (uint(int(a) / int(b)) * b)"),
        (binary("OpSRem", "i64"), "a - (ulong(long(a) / long(b)) * b)"),
        (binary("OpSRem", "i32x4"), "a - (uint4(int4(a) / int4(b)) * b)"),
        (binary("OpSDiv", "i32"), "uint(int(a) / int(b))"),
        (binary("OpUMod", "i32"), "a % b"),
        (binary("OpShiftRightArithmetic", "i16"), "ushort(short(a) >> short(b))"),
    ],
    ids=["srem_i32", "srem_i64", "srem_vector", "sdiv", "umod", "shift"],
)
def test_signed_operations_on_unsigned_types_are_signed(
    library: Library, code: bytes, expected: str
) -> None:
    assert expression(code, library) == expected


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("OpFOrdEqual", "a == b"),
        ("OpFOrdNotEqual", "(a < b) || (a > b)"),
        ("OpFOrdLessThan", "a < b"),
        ("OpFOrdGreaterThanEqual", "a >= b"),
        ("OpFUnordEqual", "!((a < b) || (a > b))"),
        ("OpFUnordNotEqual", "a != b"),
        ("OpFUnordLessThan", "!(a >= b)"),
        ("OpFUnordGreaterThan", "!(a <= b)"),
        ("OpFUnordLessThanEqual", "!(a > b)"),
        ("OpFUnordGreaterThanEqual", "!(a < b)"),
    ],
)
def test_comparisons_with_nan_are_as_written(library: Library, op: str, expected: str) -> None:
    assert expression(compare(op), library) == f"uint({expected})"


@pytest.mark.parametrize("math", ["safe", "strict"])
@pytest.mark.parametrize(
    ("op", "function"),
    [("Exp", "exp"), ("Sin", "sin"), ("Sqrt", "sqrt"), ("Tanh", "tanh"), ("InverseSqrt", "rsqrt")],
)
def test_functions_are_precise_unless_math_is_fast(
    library: Library, math: str, op: str, function: str
) -> None:
    assert expression(glsl(op, "f32"), library, math) == f"precise::{function}(a)"
    assert expression(glsl(op, "f32x4"), library, math) == f"precise::{function}(a)"
    assert expression(glsl(op, "f16"), library, math) == f"half(precise::{function}(float(a)))"


def test_binary_functions_are_precise(library: Library) -> None:
    for op, function in (("Pow", "pow"), ("Atan2", "atan2"), ("FMax", "max"), ("NMin", "min")):
        assert expression(glsl(op, "f32", "%x %y"), library) == f"precise::{function}(a, b)"


def test_fast_math_leaves_the_choice_to_the_compiler(library: Library) -> None:
    assert expression(glsl("Exp", "f32"), library, "fast") == "exp(a)"
    assert expression(glsl("Sinh", "f32"), library, "fast") == "sinh(a)"
    assert expression(glsl("FMax", "f32", "%x %y"), library, "fast") == "max(a, b)"
    # What SPIR-V defines for NaN, and what is wrong when fast, stays.
    assert expression(glsl("NMax", "f32", "%x %y"), library, "fast") == "precise::max(a, b)"
    assert expression(glsl("Tanh", "f32"), library, "fast") == "precise::tanh(a)"


def test_strict_math_keeps_signed_zeros_and_forbids_contraction(library: Library) -> None:
    code = assemble(
        kernel(
            "%p = OpFMul %f32 %x %y\n%r = OpFAdd %f32 %p %y",
            decorations="OpDecorate %p NoContraction\nOpDecorate %r NoContraction",
        )
    )
    assert expression(code, library, "strict") == "(a * b) + b"
    text = cross_compile(
        code, kernel_name="k", options=MslOptions(math="strict"), library=library
    ).text
    assert "#pragma METAL fp contract(off)\n" in text
    assert "spvF" not in text


def test_operations_marked_in_safe_math_are_not_contracted(library: Library) -> None:
    code = assemble(
        kernel("%p = OpFMul %f32 %x %y\n%r = OpFAdd %f32 %p %y").replace(
            "OpDecorate %gid", "OpDecorate %p NoContraction\nOpDecorate %gid", 1
        )
    )
    assert expression(code, library) == "spvFMul(a, b) + b"
    text = cross_compile(code, kernel_name="k", library=library).text
    assert "optnone" not in text
    assert "contract(off)\n    return l * r;" in text


def test_shuffles_of_wide_integers_move_their_halves(library: Library) -> None:
    code = assemble(kernel("%r = OpGroupNonUniformShuffleXor %i64 %c3 %x %c1", element="i64"))
    assert expression(code, library) == "as_type<ulong>(simd_shuffle_xor(as_type<uint2>(a), 1u))"


def test_shuffles_of_bools_move_numbers(library: Library) -> None:
    body = (
        "%t = OpINotEqual %bool %x %c0\n"
        "%s = OpGroupNonUniformShuffleDown %bool %c3 %t %c1\n"
        "%r = OpSelect %i32 %s %c1 %c0"
    )
    code = assemble(
        kernel(body, element="i32").replace(
            "OpCapability GroupNonUniformShuffle\n",
            "OpCapability GroupNonUniformShuffle\nOpCapability GroupNonUniformShuffleRelative\n",
        )
    )
    assert expression(code, library) == "uint(simd_shuffle_down(uint(a != 0u), 1u) != 0u)"


def test_infinite_and_nan_halves_are_constants(library: Library) -> None:
    for literal, name in (("0x1p+16", "INFINITY"), ("-0x1p+16", "-INFINITY"), ("0x1.8p+16", "NAN")):
        code = assemble(
            kernel(
                "%r = OpFAdd %f16 %x %k",
                element="f16",
                declarations=f"%k = OpConstant %f16 {literal}",
            )
        )
        assert expression(code, library) == f"a + half({name})"


@pytest.mark.parametrize(
    ("body", "element", "reason"),
    [
        ("%r = OpSMod %i32 %x %y", "i32", "SMod"),
        ("%r = OpGroupNonUniformIAdd %i64 %c3 Reduce %x", "i64", "reduction of 64-bit"),
        ("%r = OpGroupNonUniformShuffle %i64x2 %c3 %x %c1", "i64x2", "shuffle of 64-bit vectors"),
    ],
)
def test_what_no_version_prints_right_is_refused(
    library: Library, body: str, element: str, reason: str
) -> None:
    with pytest.raises(MslError, match=reason):
        cross_compile(assemble(kernel(body, element=element)), kernel_name="k", library=library)


_BINARY = "IAdd ISub IMul UDiv SDiv UMod SRem BitwiseAnd BitwiseXor ShiftLeftLogical"
_FLOAT = "FAdd FSub FMul FDiv FRem FMod"
_UNARY_GLSL = """RoundEven Trunc FAbs FSign Floor Ceil Fract Sin Cos Tan Asin Acos Atan Sinh Cosh
Tanh Asinh Acosh Atanh Exp Log Exp2 Log2 Sqrt InverseSqrt"""
_REDUCTIONS = "FAdd FMul FMin FMax"


def every_operation() -> dict[str, bytes]:
    """One kernel for each operation and type that the compiler may use."""
    cases: dict[str, bytes] = {}
    for op in _BINARY.split():
        for element in ("i8", "i16", "i32", "i64", "i32x4"):
            cases[f"{op}_{element}"] = binary(f"Op{op}", element)
    for op in _FLOAT.split():
        for element in ("f16", "f32", "f32x4"):
            cases[f"{op}_{element}"] = binary(f"Op{op}", element)
    for op in _UNARY_GLSL.split():
        for element in ("f16", "f32"):
            cases[f"{op}_{element}"] = glsl(op, element)
    for op in ["FMin", "FMax", "NMin", "NMax", "Pow", "Atan2"]:
        for element in ("f16", "f32"):
            cases[f"{op}_{element}"] = glsl(op, element, "%x %y")
    for op in _REDUCTIONS.split():
        for element in ("f16", "f32"):
            body = f"%r = OpGroupNonUniform{op} %{element} %c3 Reduce %x"
            cases[f"reduce_{op}_{element}"] = assemble(kernel(body, element=element))
    for element in ("f16", "f32", "i32", "f32x2", "i64"):
        body = f"%r = OpGroupNonUniformShuffle %{element} %c3 %x %c1"
        cases[f"shuffle_{element}"] = assemble(kernel(body, element=element))
    return cases


@pytest.mark.skipif(len(LIBRARIES) < 2, reason="one SPIRV-Cross only")
@pytest.mark.parametrize("math", ["safe", "fast", "strict"])
def test_every_version_writes_the_same_kernel(math: str) -> None:
    first, *others = LIBRARIES
    options = MslOptions(math=math)  # pyright: ignore[reportArgumentType]
    for name, code in every_operation().items():
        texts = [
            cross_compile(code, kernel_name="k", options=options, library=x).text.split("\n", 1)[1]
            for x in (first, *others)
        ]
        assert len(set(texts)) == 1, name
