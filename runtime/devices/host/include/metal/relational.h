// <metal_relational>
#pragma once

namespace metal {
#define INGOT_CLASSIFY(F, EXPR)                                   \
  constexpr bool F(float x) { return EXPR; }                      \
  constexpr bool F(half x_) { const float x = float(x_); return EXPR; } \
  constexpr bool F(bfloat x_) { const float x = float(x_); return EXPR; } \
  INGOT_LIFT1_TO(F, ingot_rebind<V, bool>)
INGOT_CLASSIFY(isfinite, __builtin_isfinite(x))
INGOT_CLASSIFY(isinf, __builtin_isinf(x))
INGOT_CLASSIFY(isnan, __builtin_isnan(x))
INGOT_CLASSIFY(signbit, __builtin_signbit(x) != 0)
#undef INGOT_CLASSIFY
constexpr bool isnormal(float x) { return __builtin_isnormal(x); }
constexpr bool isnormal(half x) {
  return __builtin_isfinite(float(x)) && __builtin_fabsf(float(x)) >= 0x1p-14f;
}
constexpr bool isnormal(bfloat x) { return __builtin_isnormal(float(x)); }
INGOT_LIFT1_TO(isnormal, ingot_rebind<V, bool>)

constexpr bool isordered(float a, float b) { return a == a && b == b; }
constexpr bool isunordered(float a, float b) { return !isordered(a, b); }
template <class T, uint N> constexpr vec<bool, N> isordered(vec<T, N> a, vec<T, N> b) {
  return (a == a) && (b == b);
}
template <class T, uint N> constexpr vec<bool, N> isunordered(vec<T, N> a, vec<T, N> b) {
  return !isordered(a, b);
}

constexpr bool all(bool b) { return b; }
constexpr bool all(bool2 b) { return b.x && b.y; }
constexpr bool all(bool3 b) { return b.x && b.y && b.z; }
constexpr bool all(bool4 b) { return b.x && b.y && b.z && b.w; }
constexpr bool any(bool b) { return b; }
constexpr bool any(bool2 b) { return b.x || b.y; }
constexpr bool any(bool3 b) { return b.x || b.y || b.z; }
constexpr bool any(bool4 b) { return b.x || b.y || b.z || b.w; }

#define INGOT_SELECT(T) \
  constexpr T select(T a, T b, bool c) { return c ? b : a; }
INGOT_SELECT(bool)
INGOT_SELECT(char)
INGOT_SELECT(uchar)
INGOT_SELECT(short)
INGOT_SELECT(ushort)
INGOT_SELECT(int)
INGOT_SELECT(uint)
INGOT_SELECT(long)
INGOT_SELECT(ulong)
INGOT_SELECT(half)
INGOT_SELECT(bfloat)
INGOT_SELECT(float)
#undef INGOT_SELECT
template <class A, class B, class V = ingot_vector<A, B>>
constexpr V select(A a_, B b_, vec<bool, V::n> c) {
  V a = a_, b = b_;
  for (uint i = 0; i < V::n; i++) {
    if (c[i]) a[i] = b[i];
  }
  return a;
}
template <class T, uint N> constexpr vec<T, N> select(vec<T, N> a, vec<T, N> b, bool c) {
  return select(a, b, vec<bool, N>(c));
}
}  // namespace metal
