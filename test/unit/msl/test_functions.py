"""Native bodies in the place of portable ones."""

from __future__ import annotations

import pytest
from unit.pyspirv.assembly import assemble, kernel

from ingot.targets.msl import FunctionNotFound, cross_compile, substitute_function_body
from ingot.targets.pyspirv import Library

# A function of two fragments that reads the lane and shuffles, called twice.
_FUNCTIONS = """
%mma = OpFunction %f32x2 None %mma_type
%fa = OpFunctionParameter %f32x2
%fb = OpFunctionParameter %f32x2
%mma_entry = OpLabel
%id = OpLoad %i32 %lane
%low = OpBitwiseAnd %i32 %id %c3
%moved = OpGroupNonUniformShuffle %f32x2 %c3 %fa %low
%product = OpFMul %f32x2 %moved %fb
OpReturnValue %product
OpFunctionEnd
"""
MMA = assemble(
    kernel(
        "%one = OpFunctionCall %f32x2 %mma %x %y\n%r = OpFunctionCall %f32x2 %mma %one %y",
        element="f32x2",
        decorations='OpName %mma "simdgroup_mma_f32"\nOpName %fa "a"\nOpName %fb "b"',
        declarations="%mma_type = OpTypeFunction %f32x2 %f32x2 %f32x2",
        functions=_FUNCTIONS,
    )
)
_NATIVE = """
simdgroup_float8x8 x;
thread_elements(x) = $0 * float2($2);
return thread_elements(x) + $1;
"""


def test_the_body_is_replaced_and_its_parameters_are_named(library: Library) -> None:
    text = cross_compile(MMA, kernel_name="k", library=library).text
    native = substitute_function_body(text, "simdgroup_mma_f32", _NATIVE)
    start = native.index("float2 simdgroup_mma_f32(")
    head = native[start : native.index("{", start)]
    body = native[native.index("{", start) : native.index("}", start)]
    assert head == text[text.index("float2 simdgroup_mma_f32(") :][: len(head)]
    assert "simd_shuffle" not in body
    names = [x.split()[-1].lstrip("&") for x in head[head.index("(") + 1 : -2].split(",")]
    assert len(names) == 3
    assert f"thread_elements(x) = {names[0]} * float2({names[2]});" in body
    assert f"return thread_elements(x) + {names[1]};" in body
    # Nothing outside the body has changed.
    assert native[: native.index("{", start)] == text[: text.index("{", start)]
    assert native[native.index("[[max_total") :] == text[text.index("[[max_total") :]


def test_the_lane_is_the_last_parameter(library: Library) -> None:
    text = cross_compile(MMA, kernel_name="k", library=library).text
    start = text.index("float2 simdgroup_mma_f32(")
    parameters = text[start : text.index("{", start)].split(",")
    assert parameters[-1].strip().rstrip(")") == "thread uint& thread_index_in_simdgroup"


@pytest.mark.parametrize(
    "definition",
    [
        # As SPIRV-Cross 1.3.239 and later print one; with and without forward declaration.
        "static inline __attribute__((always_inline))\nfloat2 f(thread const float2& a, "
        "float2 b, thread uint& gl_SubgroupInvocationID)\n{\n    return a;\n}\n",
        "float2 f(float2 a, float2 b, uint lane);\n\nfloat2 f(float2 a, float2 b, uint lane)\n"
        "{\n    if (lane > 1u)\n    {\n        return b;\n    }\n    return a;\n}\n",
    ],
)
def test_one_definition_is_found_among_calls_and_declarations(definition: str) -> None:
    text = definition + "kernel void k()\n{\n    float2 r = f(f(x, y, i), y, i);\n}\n"
    result = substitute_function_body(text, "f", "#pragma unroll\nreturn $0;")
    assert "{\n#pragma unroll\n    return a;\n}" in result
    assert result.endswith("float2 r = f(f(x, y, i), y, i);\n}\n")


def test_array_parameters_have_names() -> None:
    text = "void f(thread float (&dst)[2], device float* src)\n{\n}\n"
    assert "dst[0] = src[0];" in substitute_function_body(text, "f", "$0[0] = $1[0];")


def test_a_missing_function_is_an_error() -> None:
    with pytest.raises(FunctionNotFound, match="no definition of a function 'g'"):
        substitute_function_body("void f() { g(); }", "g", "")


def test_a_missing_parameter_is_an_error() -> None:
    with pytest.raises(ValueError, match="uses parameter 1; the function has 1"):
        substitute_function_body("void f(uint a) { }", "f", "$1;")
