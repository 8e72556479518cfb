"""What the writer says about modules that are valid IR but no SPIR-V."""

from __future__ import annotations

import pytest

from ingot.compiler.analysis.diagnostics import Refusal
from ingot.compiler.driver.translate import serialize_text

RETURN = "spirv.Return"


def module(body: str, declarations: str = "") -> str:
    return (
        "spirv.module @m Logical GLSL450 requires #spirv.vce<v1.3, [Shader], []> {\n"
        f'{declarations}\nspirv.func @f() "None" {{\n{body}\n}}\n}}\n'
    )


def argument(type_: str) -> str:
    return module(RETURN, f'spirv.func @g(%x: {type_}) "None" {{\n{RETURN}\n}}')


CASES = {
    "type": (argument("index"), "SPIR-V has no type for index"),
    "width": (argument("i24"), "SPIR-V has no integers of 24 bits"),
    "symbol": (
        module(
            "%p = spirv.mlir.addressof @nothing : !spirv.ptr<f32, Private>\n"
            f'%v = spirv.Load "Private" %p : f32\n{RETURN}'
        ),
        "there is no @nothing in the module before its use",
    ),
    "foreign op": (
        module(f"%c = arith.constant 1.0 : f32\n{RETURN}"),
        "'arith.constant' is no op of the spirv dialect",
    ),
    "initialized again and again": (
        module(
            "%t = spirv.Constant true\n%o = spirv.Constant 1.0 : f32\n"
            "spirv.mlir.selection {\nspirv.BranchConditional %t, ^a, ^m\n^a:\n"
            "%v = spirv.Variable init(%o) : !spirv.ptr<f32, Function>\nspirv.Branch ^m\n^m:\n"
            f"spirv.mlir.merge\n}}\n{RETURN}"
        ),
        "must stand in the function's first block, for it is initialized once",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_sentence(name: str) -> None:
    text, sentence = CASES[name]
    with pytest.raises(Refusal) as caught:
        serialize_text(text, "in.mlir")
    assert sentence in caught.value.message
    assert caught.value.location is not None
