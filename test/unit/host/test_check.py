"""What the checking mode refuses, and what it must let pass."""

from __future__ import annotations

import re

import pytest

from ingot.runtime.devices.host.check import check_msl

from .launch import HEADER

KERNEL = (
    "kernel void k(device float* d [[buffer(0)]], constant float* c [[buffer(1)]], "
    "device float4* v [[buffer(2)]], threadgroup float* t [[threadgroup(0)]], "
    "uint g [[thread_position_in_grid]]) "
)
REFUSED: dict[str, tuple[str, str]] = {
    "device pointer as thread pointer": (
        "float f(thread float* p) { return *p; }\n" + KERNEL + "{ d[g] = f(d); }",
        "no matching function",
    ),
    "constant pointer as device pointer": (
        "float f(device const float* p) { return *p; }\n" + KERNEL + "{ d[g] = f(c); }",
        "no matching function",
    ),
    "device pointer as constant pointer": (
        "float f(constant float* p) { return *p; }\n" + KERNEL + "{ d[g] = f(d); }",
        "no matching function",
    ),
    "threadgroup pointer as device pointer": (
        "float f(device float* p) { return *p; }\n" + KERNEL + "{ d[g] = f(t); }",
        "no matching function",
    ),
    "device reference as thread reference": (
        "void f(thread float& p) { p = 1; }\n" + KERNEL + "{ f(d[g]); }",
        "no matching function",
    ),
    "reinterpret_cast to another address space": (
        KERNEL + "{ thread float* p = reinterpret_cast<thread float*>(d); d[g] = p[0]; }",
        "reinterpret_cast from 'device float \\*' to 'thread float \\*'",
    ),
    "cast to another address space": (
        KERNEL + "{ thread float* p = (thread float*)d; d[g] = p[0]; }",
        "mismatching address spaces",
    ),
    "kernel pointer without address space": (
        "kernel void k(float* d [[buffer(0)]], uint g [[thread_position_in_grid]]) { d[g] = 1; }",
        "must have an address space",
    ),
    "local pointer without address space": (
        KERNEL + "{ float* p = d; p[g] = 1; }",
        "pointer type must have an address space",
    ),
    "reference without address space": (
        "void f(float& x) { x = 1; }\n" + KERNEL + "{ float x; f(x); d[g] = x; }",
        "reference type must have an address space",
    ),
    "member pointer without address space": (
        "struct S { float* p; };\n" + KERNEL + "{ d[g] = 1; }",
        "pointer type must have an address space",
    ),
    "template reference without address space": (
        "template <typename T> void f(T& x) { x = 1; }\n" + KERNEL + "{ d[g] = 1; }",
        "reference type must have an address space",
    ),
    "write to a constant buffer": (KERNEL + "{ c[g] = 1; }", "not assignable"),
    "float4 to int4": (KERNEL + "{ int4 i = v[g]; d[g] = i.x; }", "no viable conversion"),
    "float3 plus float4": (KERNEL + "{ d[g] = (v[g].xyz + v[g]).x; }", "invalid operands"),
    "swizzle beyond the vector": (KERNEL + "{ float2 a = v[g].xy; d[g] = a.z; }", "no member"),
    "undeclared name": (KERNEL + "{ d[g] = missing; }", "undeclared identifier 'missing'"),
    "unknown function": (KERNEL + "{ d[g] = sine(1.0); }", "undeclared identifier 'sine'"),
    "missing semicolon": (KERNEL + "{ d[g] = 1.0 }", "expected ';'"),
    "double": (KERNEL + "{ double x = 1; d[g] = x; }", "MSL has no type 'double'"),
    "remainder of floats": (KERNEL + "{ d[g] = d[g] % 2.0; }", "invalid operands"),
    "initialized threadgroup variable": (
        KERNEL + "{ threadgroup float s = 0; s = 1; d[g] = s; }",
        "initializer",
    ),
    "threadgroup variable in a function": (
        "float f() { threadgroup float s; s = 1; return s; }\n" + KERNEL + "{ d[g] = f(); }",
        "non-kernel function",
    ),
    "atomic operation on plain memory": (
        KERNEL + "{ atomic_fetch_add_explicit((device uint*)d, 1u, memory_order_relaxed); }",
        "no matching function",
    ),
    "atomic operation on private memory": (
        KERNEL + "{ atomic_uint a; atomic_fetch_add_explicit(&a, 1u, memory_order_relaxed); }",
        "no matching function",
    ),
    "as_type of another size": (
        KERNEL + "{ float2 a = as_type<float2>(d[g]); d[g] = a.x; }",
        "different sizes",
    ),
    "max of int and uint": (KERNEL + "{ int a = 1; d[g] = max(a, g); }", "ambiguous"),
    "vector from too few scalars": (KERNEL + "{ v[g] = float4(1, 2, 3); }", "ambiguous|matching"),
    "half4 times float4": (KERNEL + "{ half4 h = half4(v[g]); v[g] = h * v[g]; }", "invalid"),
    "virtual function": (
        "struct A { virtual void f(); };\n" + KERNEL + "{ }",
        "virtual",
    ),
    "new": (KERNEL + "{ thread float* p = new float[4]; d[g] = p[0]; }", "MSL has no 'new'"),
    "exception": (KERNEL + "{ throw 1; }", "MSL has no exceptions"),
    "standard library": ("#include <vector>\n" + KERNEL + "{ d[g] = 1; }", "file not found"),
    "barrier without flags": (KERNEL + "{ threadgroup_barrier(); }", "no matching function"),
    "barrier with a number": (KERNEL + "{ threadgroup_barrier(3); }", "no matching function"),
    "kernel with a result": (
        "kernel float k(device float* d [[buffer(0)]]) { return d[0]; }",
        "void return type",
    ),
    "variable at program scope": ("float G = 1;\n" + KERNEL + "{ d[g] = G; }", "program scope"),
    "constant without a value": ("constant float G;\n" + KERNEL + "{ d[g] = G; }", "initialized"),
    "two buffers with one index": (
        "kernel void k(device float* a [[buffer(2)]], device float* b [[buffer(2)]]) { }",
        "'b' and 'a' have the same buffer index 2",
    ),
    "buffer index 31": (
        "kernel void k(device float* a [[buffer(31)]]) { }",
        "out of range: 0 to 30",
    ),
    "position as float": (
        "kernel void k(device float* a [[buffer(0)]], float g [[thread_position_in_grid]]) { }",
        "'thread_position_in_grid' has type 'float'",
    ),
    "lane as a vector": (
        "kernel void k(device float* a [[buffer(0)]], uint2 g [[thread_index_in_simdgroup]]) { }",
        "must be one of ushort, uint",
    ),
    "unknown attribute": (
        "kernel void k(device float* a [[buffer(0)]], uint g [[thread_position]]) { }",
        "no attribute of a kernel parameter",
    ),
    "parameter without attribute": (
        "kernel void k(device float* a [[buffer(0)]], uint g) { }",
        "'g' has no attribute",
    ),
    "buffer by value": ("kernel void k(float a [[buffer(0)]]) { }", "pointer or a reference"),
    "thread pointer as buffer": (
        "kernel void k(thread float* a [[buffer(0)]]) { }",
        "asks for device or constant",
    ),
    "more than 32 KiB of threadgroup memory": (
        KERNEL + "{ threadgroup float a[64][64]; threadgroup half b[8193]; b[g] = 1; }",
        "exceed 32768 bytes",
    ),
}
ACCEPTED: dict[str, str] = {
    "baseline": "float f(thread float& x) { return x; }\n"
    + KERNEL
    + "{ float x = d[g]; d[g] = f(x) + c[g] + t[0]; }",
    "threadgroup variable in a block": KERNEL
    + "{ if (g > 1) { threadgroup float s; s = 1; d[g] = s; } }",
    "explicit vector conversions": KERNEL + "{ half4 h = half4(v[g]); v[g] = float4(h); }",
    "constant table": "constant constexpr float T[2] = {1, 2};\n" + KERNEL + "{ d[g] = T[g & 1]; }",
    "exactly 32 KiB": KERNEL + "{ threadgroup float a[8192]; a[g] = 1; }",
    "copy of a constant structure": "struct S { float a, b; };\nconstant S s = {1, 2};\n"
    + KERNEL
    + "{ S x = s; d[g] = x.a; }",
    "conditional between memories": KERNEL + "{ float4 x = g > 1 ? v[g] : float4(0); v[g] = x; }",
    "bfloat": "kernel void k(device bfloat* d [[buffer(0)]], uint g [[thread_position_in_grid]]) "
    "{ bfloat x = d[g] * bfloat(2.0); d[g] = x + 1.0bf; }",
    "products and comparisons": KERNEL + "{ uint half_count = g * 3; bool b = g < 3 && d[g] > 2; "
    "d[g] = b ? half_count & g : 0; }",
    "every id": "kernel void k(device uint* o [[buffer(0)]], "
    "ushort2 a [[thread_position_in_grid]], uint3 b [[threadgroup_position_in_grid]], "
    "uint l [[thread_index_in_simdgroup]], "
    "ushort s [[simdgroup_index_in_threadgroup]], uint n [[threads_per_simdgroup]]) "
    "{ o[a.x] = b.z + l + s + n; }",
    "simdgroup matrix": "#include <metal_simdgroup_matrix>\n"
    + KERNEL
    + "{ simdgroup_float8x8 a, b, s(0.0f); simdgroup_load(a, d, 8); simdgroup_load(b, t, 8, "
    "ulong2(0, 0), true); simdgroup_multiply_accumulate(s, a, b, s); s.thread_elements() *= 2.0f; "
    "simdgroup_store(s, d); }",
    "argument buffer": "struct A { device float* a [[id(0)]]; const device float* b [[id(1)]]; };\n"
    "kernel void k(constant A& x [[buffer(0)]], uint g [[thread_position_in_grid]]) "
    "{ x.a[g] = x.b[g]; }",
}


pytestmark = pytest.mark.usefixtures("checker")


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    source, message = REFUSED[case]
    found = check_msl(HEADER + source)
    assert any(re.search(message, d.message) for d in found), found


@pytest.mark.parametrize("case", ACCEPTED)
def test_accepted(case: str) -> None:
    assert check_msl(HEADER + ACCEPTED[case]) == []


def test_a_diagnostic_points_into_the_text_as_written() -> None:
    source = (
        "#include <metal_stdlib>\n"
        "using namespace metal;\n"
        "kernel void k(device float4* v [[buffer(0)]], uint g [[thread_position_in_grid]])\n"
        "{\n"
        "  v[g] = g > 2 ? v[0] : float4(0);  v[g] = wrong;\n"
        "}\n"
    )
    (found,) = check_msl(source)
    assert (found.line, found.column) == (5, 44)
    assert str(found).startswith("5:44: error: ")


def test_an_error_inside_a_header_is_placed_where_the_text_caused_it() -> None:
    source = HEADER + KERNEL + "{\n  float2 a = as_type<float2>(d[g]);\n  d[g] = a.x;\n}\n"
    (found,) = check_msl(source)
    assert found.line == 4
