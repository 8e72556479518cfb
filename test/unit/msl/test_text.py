"""The text functions on the shapes of text that versions of SPIRV-Cross print."""

from __future__ import annotations

from ingot.targets.msl.buffers import BufferVariable, simplify_buffers
from ingot.targets.msl.math_mode import apply_math_mode
from ingot.targets.msl.versions import settle_versions

READ = BufferVariable("x", "X", "data", read_only=True)
WRITTEN = BufferVariable("y", "Y", "data", read_only=False)


def test_references_become_pointers_with_their_const() -> None:
    text = (
        "struct X\n{\n    packed_float3 data[1];\n};\n\nstruct Y\n{\n    float data[1];\n};\n\n"
        "float f(device X& x, uint i)\n{\n    return x.data[i].y;\n}\n\n"
        "kernel void k(device X& x [[buffer(0)]], device Y& y [[buffer(1)]])\n"
        "{\n    y.data[0] = f(x, 0u) + y.data[x.data[1].x];\n"
        "    atomic_add((device atomic_uint*)&y.data[2], 1u);\n}\n"
    )
    assert simplify_buffers(text, [READ, WRITTEN]) == (
        "float f(const device packed_float3* x, uint i)\n{\n    return x[i].y;\n}\n\n"
        "kernel void k(const device packed_float3* x [[buffer(0)]], "
        "device float* y [[buffer(1)]])\n"
        "{\n    y[0] = f(x, 0u) + y[x[1].x];\n"
        "    atomic_add((device atomic_uint*)&y[2], 1u);\n}\n"
    )


def test_const_is_not_doubled() -> None:
    text = (
        "struct X\n{\n    float data[1];\n};\n\n"
        "void k(const device X& x, volatile device X& x)\n{\n}\n"
    )
    assert simplify_buffers(text, [READ]) == (
        "void k(const device float* x, volatile const device float* x)\n{\n}\n"
    )


def test_argument_buffers_are_dereferenced() -> None:
    text = (
        "struct X\n{\n    float data[1];\n};\n\nstruct S\n{\n    device X* x [[id(0)]];\n};\n\n"
        "kernel void k(constant S& s [[buffer(0)]])\n{\n    g((*s.x).data[1], (*s.x));\n}\n"
    )
    assert simplify_buffers(text, [READ]) == (
        "struct S\n{\n    const device float* x [[id(0)]];\n};\n\n"
        "kernel void k(constant S& s [[buffer(0)]])\n{\n    g(s.x[1], s.x);\n}\n"
    )


def test_blocks_of_other_shapes_stay() -> None:
    text = (
        "struct X\n{\n    uint n;\n    float data[1];\n};\n\nvoid k(device X& x)\n{\n    x.n;\n}\n"
    )
    expected = text.replace("device X& x", "const device X& x")
    assert simplify_buffers(text, [READ]) == expected


def test_safe_math_names_precise_variants() -> None:
    text = "a = fast::max(exp(x), fast::sinh(y)) + v.exp(z) + max(i, j) + my::exp(x) + exponent;"
    assert apply_math_mode(text, "safe", {27, 19}) == (
        "a = precise::max(precise::exp(x), precise::sinh(y)) + v.exp(z) + max(i, j) + my::exp(x)"
        " + exponent;"
    )


def test_functions_that_the_module_does_not_use_are_left_alone() -> None:
    assert apply_math_mode("exp(x);", "safe", set()) == "exp(x);"


def test_fast_math_drops_qualifiers() -> None:
    text = "precise::exp(x) + fast::max(a, b) + precise::max(a, b) + precise::powr(a, b);"
    assert apply_math_mode(text, "fast", {26, 27}) == (
        "exp(x) + max(a, b) + precise::max(a, b) + pow(a, b);"
    )


def test_simd_wrappers_are_unfolded() -> None:
    text = (
        '#pragma clang diagnostic ignored "-Wb"\n#pragma clang diagnostic ignored "-Wa"\n\n'
        "#include <metal_stdlib>\n\nusing namespace metal;\n\n"
        "template<typename T>\ninline T spvSubgroupShuffle(T value, ushort lane)\n"
        "{\n    return simd_shuffle(value, lane);\n}\n\n"
        "template<uint N>\n"
        "inline vec<bool, N> spvSubgroupShuffle(vec<bool, N> value, ushort lane)\n"
        "{\n    return (vec<bool, N>)simd_shuffle((vec<ushort, N>)value, lane);\n}\n\n"
        "inline ulong3 spvSubgroupShuffle(ulong3 value, ushort lane)\n"
        "{\n    return ulong3(spvSubgroupShuffle(value.xy, lane), value.z);\n}\n\n"
        "kernel void k()\n{\n    a = spvSubgroupShuffle(b, 1u);\n}\n"
    )
    assert settle_versions(text) == (
        '#pragma clang diagnostic ignored "-Wa"\n#pragma clang diagnostic ignored "-Wb"\n\n'
        "#include <metal_stdlib>\n\nusing namespace metal;\n\n"
        "kernel void k()\n{\n    a = simd_shuffle(b, 1u);\n}\n"
    )


def test_unused_copies_go() -> None:
    used = "template<typename T, uint A>\ninline void spvArrayCopyFromStackToStack1()\n{\n}\n\n"
    unused = used.replace("ToStack1", "ToDevice1")
    call = "void k()\n{\n    spvArrayCopyFromStackToStack1();\n}\n"
    assert settle_versions(used + unused + call) == used + call


def test_uncontracted_operations_are_operators_under_a_pragma() -> None:
    text = (
        "template<typename T>\n[[clang::optnone]] T spvFMul(T l, T r)\n"
        "{\n    return fma(l, r, T(0));\n}\n\n"
        "template<typename T, int C, int R>\n"
        "[[clang::optnone]] vec<T, R> spvFMulMatrixVector(matrix<T, C, R> m, vec<T, C> v)\n"
        "{\n    return m * v;\n}\n\n"
        "void k()\n{\n    c = spvFMul(a, b) + c;\n}\n"
    )
    assert settle_versions(text) == (
        "template<typename T>\ninline T spvFMul(T l, T r)\n{\n"
        "#pragma METAL fp contract(off)\n#pragma clang fp contract(off)\n"
        "    return l * r;\n}\n\n"
        "void k()\n{\n    c = spvFMul(a, b) + c;\n}\n"
    )


def test_a_float_atomic_is_metals() -> None:
    assert settle_versions("float r = atomicAdd(y.data[f(i, 2)], a + b);\n") == (
        "float r = atomic_fetch_add_explicit((device atomic_float*)&y.data[f(i, 2)], a + b, "
        "memory_order_relaxed);\n"
    )
