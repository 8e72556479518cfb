"""Tokens, reflection and rewriting of MSL text, without a compiler."""

from __future__ import annotations

from ingot.runtime.devices.host.entry import may_wait
from ingot.runtime.devices.host.reflection import program_scope_functions, reflect
from ingot.runtime.devices.host.rewrite import for_checking, for_execution
from ingot.runtime.devices.host.tokens import Edit, EditedText, line_and_column, tokenize


def test_tokens_skip_comments_and_keep_directives_whole() -> None:
    texts = [t.text for t in tokenize('a /* b */ + 1.5e-3f // c\n  #define X \\\n 1\n"s;" [[x]]')]
    assert texts == ["a", "+", "1.5e-3f", "#define X \\\n 1", '"s;"', "[[", "x", "]]"]


def test_nested_subscripts_are_no_attribute() -> None:
    found = reflect(
        "void f() { a[b[i]] = c[d[e[0]]]; } kernel void k(device int* x [[buffer(3)]]) {}"
    )
    assert [a.text for a in found.attributes] == ["buffer(3)"]
    assert found.kernels[0].parameters[0].buffer == 3


def test_parameters_of_a_kernel() -> None:
    found = reflect(
        "template <typename T> struct P { T x; };\n"
        "[[kernel]] void first(device float* a, constant P<vec<int, 2>>& p [[buffer(0)]],\n"
        "  const device float* b, threadgroup half* t [[threadgroup(1)]],\n"
        "  uint3 g [[thread_position_in_grid]],\n"
        "  uint l [[maybe_unused]] [[thread_index_in_simdgroup]])\n"
        "{ }\n"
        "kernel void second(device float* restrict a [[buffer(2)]]) { }\n"
        "kernel void declared(device float* a [[buffer(2)]]);\n"
    )
    first, second = found.kernels
    assert [p.name for p in first.parameters] == ["a", "p", "b", "t", "g", "l"]
    assert [p.buffer for p in first.parameters] == [1, 0, 2, None, None, None]
    assert first.parameters[1].type == "constant P < vec < int , 2 > > &"
    assert first.parameters[3].threadgroup == 1
    assert [p.builtin for p in first.parameters[4:]] == [
        "thread_position_in_grid",
        "thread_index_in_simdgroup",
    ]
    assert (second.name, second.return_type) == ("second", "void")


def test_threadgroup_variables() -> None:
    found = reflect(
        "kernel void k() {\n"
        "  threadgroup float a[4][8], b;\n"
        "  threadgroup spvUnsafeArray<half, 4> c;\n"
        "  threadgroup float* p = a[0];\n"
        "  threadgroup float& r = b;\n"
        "  if (x) { threadgroup vec<float, 2> d[2]; }\n"
        "}\n"
        "struct S { threadgroup float* q; };\n"
        "threadgroup float& f(threadgroup float* p);\n"
    )
    variables = [(v.base, v.name, v.dimensions) for v in found.threadgroup_variables]
    assert variables == [
        ("float", "a", "[4][8]"),
        ("float", "b", ""),
        ("spvUnsafeArray<half, 4>", "c", ""),
        ("vec<float, 2>", "d", "[2]"),
    ]


def test_rewriting_keeps_line_numbers() -> None:
    source = (
        "#include <metal_stdlib>\nkernel void k(device int* a [[buffer(0)]]) {\n"
        "  threadgroup int t[\n    4];\n  a[0] = 1;\n}\n"
    )
    text = for_execution(reflect(source)).text
    assert text.splitlines()[4] == "  a[0] = 1;"
    assert "metal_stdlib" not in text and "[[" not in text


def test_functions_equal_but_for_address_spaces_are_kept_once() -> None:
    source = (
        "struct A {\n"
        "  thread int& at(int i) thread { return x; }\n"
        "  device int& at(int i) device { return x; }\n"
        "  const device int& at(int i) const device { return x; }\n"
        "  int x;\n"
        "};\n"
        "void f(thread int* p) { }\n"
        "void f(device int* p) { }\n"
        "void f(device float* p) { }\n"
    )
    lines = for_execution(reflect(source)).text.splitlines()
    kept = [number for number, line in enumerate(lines, 1) if line.strip()]
    assert kept == [1, 2, 4, 5, 6, 7, 9]


def test_conditionals_are_wrapped_for_the_check() -> None:
    text = for_checking(reflect("void f() { x = a ? b : c ? d : e; }")).text
    assert "a ? ingot_value(b ): ingot_value(c ? ingot_value(d ): ingot_value(e));" in text


def test_an_edited_text_knows_where_characters_came_from() -> None:
    edited = EditedText("one two three", [Edit(4, 7, "TWENTYTWO"), Edit(8, 8, "+")])
    assert edited.text == "one TWENTYTWO +three"
    assert [edited.origin(i) for i in (0, 4, 12, 14, 15)] == [0, 4, 7, 8, 8]
    assert line_and_column("a\nbc", 3) == (2, 2)


def test_waiting_is_seen_in_names_but_not_in_attributes() -> None:
    parameter = "uint g [[simdgroup_index_in_threadgroup]]"
    assert not may_wait(reflect(f"kernel void k({parameter}) {{ x = g; }}"))
    assert may_wait(reflect(f"kernel void k({parameter}) {{ x = simd_sum(g); }}"))
    assert may_wait(reflect("kernel void k() { threadgroup_barrier(mem_flags::mem_none); }"))


def test_functions_of_the_program_scope() -> None:
    found = reflect(
        "constant uint3 size = uint3(1u);\n"
        "template <typename T> inline T twice(T x) { return helper(x); }\n"
        "struct S { void method(); };\n"
        "static __attribute__((always_inline)) float once(float x) { return x; }\n"
    )
    assert program_scope_functions(found) == {"twice", "once"}
