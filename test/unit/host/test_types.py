"""Scalars of 1 to 8 bytes, half and bfloat, vectors, packed vectors, layouts."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from .launch import launch

RNG = np.random.default_rng(5)
INTEGERS = {
    "char": "i1",
    "uchar": "u1",
    "short": "i2",
    "ushort": "u2",
    "int": "i4",
    "uint": "u4",
    "long": "i8",
    "ulong": "u8",
}


def integer_kernel(kind: str) -> str:
    return f"""
    kernel void k(device const {kind}* a [[buffer(0)]], device const {kind}* b [[buffer(1)]],
                  device {kind}* o [[buffer(2)]], uint i [[thread_position_in_grid]]) {{
      {kind} x = a[i], y = b[i];
      device {kind}* r = o + 12 * i;
      r[0] = x + y; r[1] = x * y; r[2] = x - y; r[3] = min(x, y); r[4] = max(x, y);
      r[5] = popcount(x); r[6] = clz(x); r[7] = ctz(x); r[8] = mulhi(x, y);
      r[9] = addsat(x, y); r[10] = subsat(x, y); r[11] = rotate(x, {kind}(3));
    }}"""


def integer_reference(x: int, y: int, dtype: np.dtype[np.signedinteger]) -> list[int]:  # pyright: ignore
    bits = dtype.itemsize * 8
    info = np.iinfo(dtype)
    word = x & (2**bits - 1)

    def wrap(value: int) -> int:
        value &= 2**bits - 1
        return value - 2**bits if info.min < 0 and value >> (bits - 1) else value

    def clamp(value: int) -> int:
        return min(max(value, int(info.min)), int(info.max))

    return [
        wrap(x + y),
        wrap(x * y),
        wrap(x - y),
        min(x, y),
        max(x, y),
        word.bit_count(),
        bits - word.bit_length(),
        (word & -word).bit_length() - 1 if word else bits,
        wrap(x * y >> bits),
        clamp(x + y),
        clamp(x - y),
        wrap(word << 3 | word >> (bits - 3)),
    ]


@pytest.mark.parametrize("kind", INTEGERS)
def test_integers_of_every_width(kind: str) -> None:
    dtype = np.dtype(INTEGERS[kind])
    info = np.iinfo(dtype)
    edges = [0, 1, int(info.max), int(info.min), int(info.max) // 3]
    values = edges + RNG.integers(info.min, info.max, 27, dtype=dtype).tolist()
    a, b = np.array(values, dtype), np.array(values[::-1], dtype)
    out = np.zeros((32, 12), dtype)
    launch(integer_kernel(kind), "k", {"a": a, "b": b, "out": out})
    expected = [integer_reference(int(x), int(y), dtype) for x, y in zip(a, b, strict=True)]
    assert out.tolist() == expected


def test_half_rounds_to_nearest_even_after_every_operation() -> None:
    source = """
    kernel void k(device const half* a [[buffer(0)]], device const half* b [[buffer(1)]],
                  device half* o [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      half x = a[i], y = b[i];
      o[4 * i] = x * y + x; o[4 * i + 1] = x / y; o[4 * i + 2] = fma(x, y, x);
      o[4 * i + 3] = half(float(x) * 1.0009765625f);
    }"""
    a = RNG.integers(0, 0x7C00, 4096).astype("u2").view("f2")
    b = RNG.integers(0x3000, 0x4C00, 4096).astype("u2").view("f2")
    out = np.zeros((4096, 4), "f2")
    launch(source, "k", {"a": a, "b": b, "out": out}, 64, 64)
    with np.errstate(over="ignore"):
        exact = a.astype("f8") * b.astype("f8") + a.astype("f8")
        np.testing.assert_array_equal(out[:, 0], a * b + a)
        np.testing.assert_array_equal(out[:, 1], a / b)
        np.testing.assert_array_equal(out[:, 2], exact.astype("f2"))
        scaled = (a.astype("f4") * np.float32(1.0009765625)).astype("f2")
        np.testing.assert_array_equal(out[:, 3], scaled)


def test_bfloat_rounds_to_nearest_even_and_keeps_subnormals() -> None:
    source = """
    kernel void k(device const float* a [[buffer(0)]], device const bfloat* b [[buffer(1)]],
                  device bfloat* o [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      bfloat x = bfloat(a[i]);
      o[3 * i] = x; o[3 * i + 1] = x * b[i]; o[3 * i + 2] = max(x, b[i]) + 1.0bf;
    }"""
    bits = RNG.integers(0, 2**32, 4096, dtype=np.uint32)
    bits[:6] = [0x7F800000, 0xFF800000, 0x00000001, 0x007FFFFF, 0x3F808000, 0x3F818000]
    a = bits.view("f4")
    a[np.isnan(a)] = 1.5
    b = RNG.standard_normal(4096).astype(ml_dtypes.bfloat16)
    out = np.zeros((4096, 3), ml_dtypes.bfloat16)
    launch(source, "k", {"a": a, "b": b, "out": out}, 64, 64)
    x = a.astype(ml_dtypes.bfloat16)
    with np.errstate(over="ignore", invalid="ignore"):
        np.testing.assert_array_equal(out[:, 0].view("u2"), x.view("u2"))
        np.testing.assert_array_equal(out[:, 1], x * b)
        np.testing.assert_array_equal(out[:, 2], np.maximum(x, b) + ml_dtypes.bfloat16(1))


def test_vectors_swizzles_and_packed_vectors() -> None:
    source = """
    kernel void k(device packed_float3* p [[buffer(0)]], device half4* h [[buffer(1)]],
                  device float4* o [[buffer(2)]], uint i [[thread_position_in_grid]]) {
      float3 v = p[i];
      v.xy += float2(1, 2);
      v.zyx = v;
      float4 q = float4(v, 1.0).wzyx;
      q.rgb *= 2;
      q = select(q, float4(-1), q > 5.0);
      h[i] = half4(q) * 0.5h + h[i].yxwz;
      p[i] = v;
      p[i].y = v.z;
      o[i] = clamp(q, 0.0, 100.0) + precise::sqrt(abs(q.x));
    }"""
    p = RNG.standard_normal((16, 3)).astype("f4")
    h = RNG.standard_normal((16, 4)).astype("f2")
    o = np.zeros((16, 4), "f4")
    v = (p + np.array([1, 2, 0], "f4"))[:, ::-1]
    q = np.concatenate([v, np.ones((16, 1), "f4")], 1)[:, ::-1].copy()
    q[:, :3] *= 2
    q = np.where(q > 5, np.float32(-1), q)
    new_h = (q.astype("f2") * np.float16(0.5) + h[:, [1, 0, 3, 2]]).astype("f2")
    launch(source, "k", {"p": p, "h": h, "o": o}, 1, 16)
    np.testing.assert_array_equal(p, v[:, [0, 2, 2]])
    np.testing.assert_array_equal(h, new_h)
    np.testing.assert_array_equal(o, np.clip(q, 0, 100) + np.sqrt(np.abs(q[:, :1])))


def test_layouts_and_constant_expressions() -> None:
    sizes = {
        "float2": (8, 8),
        "float3": (16, 16),
        "float4": (16, 16),
        "half3": (8, 8),
        "bfloat4": (8, 8),
        "packed_float3": (12, 4),
        "packed_half3": (6, 2),
        "uchar3": (4, 4),
        "bool4": (4, 4),
        "long3": (32, 32),
        "float2x3": (32, 16),
        "float3x3": (48, 16),
        "half3x2": (12, 4),
        "atomic_uint": (4, 4),
        "size_t": (8, 8),
        "bfloat": (2, 2),
    }
    checks = "".join(
        f'static_assert(sizeof({t}) == {size} && alignof({t}) == {alignment}, "{t}");\n'
        for t, (size, alignment) in sizes.items()
    )
    source = (
        checks
        + """
    static_assert(sizeof(0.1) == 4, "literals are float");
    static_assert(float4(float2(1, 2), 3, 4).zwxy.x == 3, "");
    static_assert(all(uint3(1, 2, 3) == uint3(1, 2, 3)), "");
    static_assert(extract_bits(0xF0u, 4, 4) == 0xF, "");
    static_assert(insert_bits(0u, 0xFu, 4, 4) == 0xF0u, "");
    static_assert(reverse_bits(1u) == 0x80000000u && absdiff(3, -4) == 7u, "");
    static_assert(bfloat(1.00390625f) == bfloat(1.0f) && bfloat(1.01171875f).bits == 0x3f82, "");
    kernel void k(device int* o [[buffer(0)]]) { o[0] = 1; }
    """
    )
    out = np.zeros(1, "i4")
    launch(source, "k", {"out": out}, 1, 1)
    assert out[0] == 1


def test_structures_arrays_and_helper_templates() -> None:
    source = """
    template<typename T, size_t Num> struct spvUnsafeArray {
      T elements[Num ? Num : 1];
      thread T& operator[](size_t pos) thread { return elements[pos]; }
      constexpr const thread T& operator[](size_t pos) const thread { return elements[pos]; }
      device T& operator[](size_t pos) device { return elements[pos]; }
      constexpr const device T& operator[](size_t pos) const device { return elements[pos]; }
      threadgroup T& operator[](size_t pos) threadgroup { return elements[pos]; }
      constexpr const constant T& operator[](size_t pos) const constant { return elements[pos]; }
    };
    struct Item { float3 a; half b; packed_float3 c; };
    constant spvUnsafeArray<float, 4> table = spvUnsafeArray<float, 4>({ 1.0, 2.0, 3.0, 4.0 });
    template<typename T> [[clang::optnone]] T spvFMul(T l, T r) { return fma(l, r, T(0)); }
    kernel void k(device Item* items [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
      threadgroup spvUnsafeArray<float, 32> shared;
      spvUnsafeArray<float, 2> local = spvUnsafeArray<float, 2>({ table[i % 4], 10.0 });
      shared[i] = spvFMul(local[0], local[1]);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      items[i].a.y = shared[31u - i];
      items[i].c = packed_float3(float3(float(i)));
    }"""
    raw = np.zeros((32, 32), "u1")
    launch(source, "k", {"items": raw})
    floats = raw.view("f4")
    np.testing.assert_array_equal(floats[:, 1], 10 * ((31 - np.arange(32)) % 4 + 1))
    np.testing.assert_array_equal(
        raw[:, 20:32].copy().view("f4"), np.arange(32)[:, None].repeat(3, 1)
    )
