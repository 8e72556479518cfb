// <metal_integer>, and min, max, clamp, abs, which exist for every scalar type.
#pragma once

namespace metal {

#define INGOT_ORDERED(T)                                                              \
  constexpr T clamp(T x, T low, T high) { return min(max(x, low), high); }            \
  constexpr T min3(T a, T b, T c) { return min(a, min(b, c)); }                       \
  constexpr T max3(T a, T b, T c) { return max(a, max(b, c)); }                       \
  constexpr T median3(T a, T b, T c) { return max(min(a, b), min(max(a, b), c)); }

// A NaN operand gives the other operand.
#define INGOT_FLOAT(T)                                                                \
  constexpr T min(T a, T b) { return T(__builtin_fminf(float(a), float(b))); }        \
  constexpr T max(T a, T b) { return T(__builtin_fmaxf(float(a), float(b))); }        \
  constexpr T abs(T x) { return T(__builtin_fabsf(float(x))); }                       \
  INGOT_ORDERED(T)                                                                    \
  constexpr T fmedian3(T a, T b, T c) { return median3(a, b, c); }
INGOT_FLOAT(float)
INGOT_FLOAT(half)
INGOT_FLOAT(bfloat)
#undef INGOT_FLOAT

#define INGOT_INTEGER(T, U)                                                           \
  constexpr T min(T a, T b) { return b < a ? b : a; }                                 \
  constexpr T max(T a, T b) { return a < b ? b : a; }                                 \
  INGOT_ORDERED(T)                                                                    \
  constexpr T abs(T x) { return x < T(0) ? T(-U(x)) : x; }                            \
  constexpr U absdiff(T a, T b) { return a < b ? U(U(b) - U(a)) : U(U(a) - U(b)); }   \
  constexpr T addsat(T a, T b) {                                                      \
    T r = 0;                                                                          \
    if (!__builtin_add_overflow(a, b, &r)) return r;                                  \
    return b < T(0) ? numeric_limits<T>::min() : numeric_limits<T>::max();            \
  }                                                                                   \
  constexpr T subsat(T a, T b) {                                                      \
    T r = 0;                                                                          \
    if (!__builtin_sub_overflow(a, b, &r)) return r;                                  \
    return !numeric_limits<T>::is_signed || b > T(0) ? numeric_limits<T>::min()       \
                                                     : numeric_limits<T>::max();      \
  }                                                                                   \
  constexpr T hadd(T a, T b) { return T(((__int128)a + b) >> 1); }                    \
  constexpr T rhadd(T a, T b) { return T(((__int128)a + b + 1) >> 1); }               \
  constexpr T mulhi(T a, T b) { return T(((__int128)a * b) >> (8 * sizeof(T))); }     \
  constexpr T madhi(T a, T b, T c) { return T(U(mulhi(a, b)) + U(c)); }               \
  constexpr T madsat(T a, T b, T c) {                                                 \
    const __int128 r = (__int128)a * b + c;                                           \
    constexpr __int128 low = numeric_limits<T>::min(), high = numeric_limits<T>::max(); \
    return r < low ? T(low) : r > high ? T(high) : T(r);                              \
  }                                                                                   \
  constexpr T rotate(T v, T n) {                                                      \
    const uint bits = 8 * sizeof(T), s = uint(n) & (bits - 1);                        \
    return s ? T(U(U(v) << s) | U(U(v) >> (bits - s))) : v;                           \
  }                                                                                   \
  constexpr T popcount(T v) { return T(__builtin_popcountl(ulong(U(v)))); }           \
  constexpr T clz(T v) {                                                              \
    const int bits = 8 * sizeof(T);                                                   \
    return v ? T(__builtin_clzl(ulong(U(v))) - (64 - bits)) : T(bits);                \
  }                                                                                   \
  constexpr T ctz(T v) { return v ? T(__builtin_ctzl(ulong(U(v)))) : T(8 * sizeof(T)); } \
  constexpr T extract_bits(T v, uint offset, uint count) {                            \
    const uint bits = 8 * sizeof(T);                                                  \
    return count == 0 ? T(0) : T(T(U(v) << (bits - offset - count)) >> (bits - count)); \
  }                                                                                   \
  constexpr T insert_bits(T base, T insert, uint offset, uint count) {                \
    if (count == 0) return base;                                                      \
    const U mask = count >= 8 * sizeof(T) ? U(~U(0)) : U((U(1) << count) - 1);        \
    return T((U(base) & U(~U(mask << offset))) | U(U(U(insert) & mask) << offset));   \
  }                                                                                   \
  constexpr T reverse_bits(T v) {                                                     \
    U r = 0, u = U(v);                                                                \
    for (uint i = 0; i < 8 * sizeof(T); i++, u = U(u >> 1)) r = U(U(r << 1) | (u & 1)); \
    return T(r);                                                                      \
  }
INGOT_INTEGER(char, uchar)
INGOT_INTEGER(uchar, uchar)
INGOT_INTEGER(short, ushort)
INGOT_INTEGER(ushort, ushort)
INGOT_INTEGER(int, uint)
INGOT_INTEGER(uint, uint)
INGOT_INTEGER(long, ulong)
INGOT_INTEGER(ulong, ulong)
#undef INGOT_INTEGER
#undef INGOT_ORDERED

// Operands of 24 bits; wider ones are undefined in Metal.
constexpr int mul24(int a, int b) { return int(uint(a) * uint(b)); }
constexpr uint mul24(uint a, uint b) { return a * b; }
constexpr int mad24(int a, int b, int c) { return int(uint(a) * uint(b) + uint(c)); }
constexpr uint mad24(uint a, uint b, uint c) { return a * b + c; }

INGOT_LIFT1(abs)
INGOT_LIFT1(clz)
INGOT_LIFT1(ctz)
INGOT_LIFT1(popcount)
INGOT_LIFT1(reverse_bits)
INGOT_LIFT2(addsat)
INGOT_LIFT2(hadd)
INGOT_LIFT2(max)
INGOT_LIFT2(min)
INGOT_LIFT2(mul24)
INGOT_LIFT2(mulhi)
INGOT_LIFT2(rhadd)
INGOT_LIFT2(rotate)
INGOT_LIFT2(subsat)
INGOT_LIFT3(clamp)
INGOT_LIFT3(mad24)
INGOT_LIFT3(madhi)
INGOT_LIFT3(madsat)
INGOT_LIFT3(max3)
INGOT_LIFT3(median3)
INGOT_LIFT3(min3)

template <class A, class V = ingot_vector<A>>
constexpr V extract_bits(A v_, uint offset, uint count) {
  V v = v_;
  for (uint i = 0; i < V::n; i++) v[i] = extract_bits(v[i], offset, count);
  return v;
}
template <class A, class B, class V = ingot_vector<A, B>>
constexpr V insert_bits(A base_, B insert_, uint offset, uint count) {
  V base = base_, insert = insert_;
  for (uint i = 0; i < V::n; i++) base[i] = insert_bits(base[i], insert[i], offset, count);
  return base;
}
template <class T, uint N>
constexpr vec<make_unsigned_t<T>, N> absdiff(vec<T, N> a, vec<T, N> b) {
  vec<make_unsigned_t<T>, N> r(make_unsigned_t<T>(0));
  for (uint i = 0; i < N; i++) r[i] = absdiff(a[i], b[i]);
  return r;
}

namespace precise = ::metal;

// What the fast functions do with a NaN is undefined in Metal: here max(NaN, x) is NaN and
// max(x, NaN) is x, so that a kernel which relies on either shows it.
namespace fast {
using namespace ::metal;
#define INGOT_FAST(T)                                                                \
  constexpr T min(T a, T b) { return b < a ? b : a; }                                \
  constexpr T max(T a, T b) { return a < b ? b : a; }                                \
  constexpr T fmin(T a, T b) { return b < a ? b : a; }                               \
  constexpr T fmax(T a, T b) { return a < b ? b : a; }                               \
  constexpr T clamp(T x, T low, T high) { return min(max(x, low), high); }
INGOT_FAST(float)
INGOT_FAST(half)
#undef INGOT_FAST
INGOT_LIFT2(min)
INGOT_LIFT2(max)
INGOT_LIFT2(fmin)
INGOT_LIFT2(fmax)
INGOT_LIFT3(clamp)
}  // namespace fast
}  // namespace metal
