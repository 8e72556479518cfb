// <metal_math>: scalar functions for float, half and bfloat, and their component-wise forms.
//
// half and bfloat functions compute in float and round once; fma is exact before its rounding.
// Constants of double precision are spelled by their bits: literals are single precision here.
#pragma once

namespace metal {

// ---- component-wise forms: any mix of vec, packed_vec and scalars with at least one vector -----
#define INGOT_LIFT1_AS(F, V_OF_A, ...)                                           \
  template <class A, class V = V_OF_A> constexpr __VA_ARGS__ F(A a_) {           \
    using W = __VA_ARGS__;                                                       \
    V a = a_;                                                                    \
    if constexpr (V::n == 2) return W(F(a.x), F(a.y));                           \
    else if constexpr (V::n == 3) return W(F(a.x), F(a.y), F(a.z));              \
    else return W(F(a.x), F(a.y), F(a.z), F(a.w));                               \
  }
#define INGOT_LIFT1_TO(F, ...) INGOT_LIFT1_AS(F, ingot_vector<A>, __VA_ARGS__)
#define INGOT_LIFT1(F) INGOT_LIFT1_AS(F, ingot_vector<A>, V)
#define INGOT_FLOAT_LIFT1(F) INGOT_LIFT1_AS(F, ingot_float_vector<A>, V)
#define INGOT_LIFT2(F)                                                           \
  template <class A, class B, class V = ingot_vector<A, B>> constexpr V F(A a_, B b_) { \
    V a = a_, b = b_;                                                            \
    if constexpr (V::n == 2) return V(F(a.x, b.x), F(a.y, b.y));                 \
    else if constexpr (V::n == 3) return V(F(a.x, b.x), F(a.y, b.y), F(a.z, b.z)); \
    else return V(F(a.x, b.x), F(a.y, b.y), F(a.z, b.z), F(a.w, b.w));           \
  }
#define INGOT_LIFT3(F)                                                           \
  template <class A, class B, class C, class V = ingot_vector<A, B, C>>          \
  constexpr V F(A a_, B b_, C c_) {                                              \
    V a = a_, b = b_, c = c_;                                                    \
    if constexpr (V::n == 2) return V(F(a.x, b.x, c.x), F(a.y, b.y, c.y));       \
    else if constexpr (V::n == 3)                                                \
      return V(F(a.x, b.x, c.x), F(a.y, b.y, c.y), F(a.z, b.z, c.z));            \
    else                                                                         \
      return V(F(a.x, b.x, c.x), F(a.y, b.y, c.y), F(a.z, b.z, c.z), F(a.w, b.w, c.w)); \
  }

// ---- one definition for the three floating-point types, in terms of float x, y, z --------------
#define INGOT_UNARY_AS(F, T, EXPR)        \
  constexpr T F(T x_) {                   \
    const float x = float(x_);            \
    return T(EXPR);                       \
  }
#define INGOT_UNARY(F, EXPR)              \
  INGOT_UNARY_AS(F, float, EXPR)          \
  INGOT_UNARY_AS(F, half, EXPR)           \
  INGOT_UNARY_AS(F, bfloat, EXPR)         \
  INGOT_FLOAT_LIFT1(F)
#define INGOT_BINARY_AS(F, T, EXPR)       \
  constexpr T F(T x_, T y_) {             \
    const float x = float(x_), y = float(y_); \
    return T(EXPR);                       \
  }
#define INGOT_BINARY(F, EXPR)             \
  INGOT_BINARY_AS(F, float, EXPR)         \
  INGOT_BINARY_AS(F, half, EXPR)          \
  INGOT_BINARY_AS(F, bfloat, EXPR)        \
  INGOT_LIFT2(F)
#define INGOT_TERNARY_AS(F, T, EXPR)      \
  constexpr T F(T x_, T y_, T z_) {       \
    const float x = float(x_), y = float(y_), z = float(z_); \
    return T(EXPR);                       \
  }
#define INGOT_TERNARY(F, EXPR)            \
  INGOT_TERNARY_AS(F, float, EXPR)        \
  INGOT_TERNARY_AS(F, half, EXPR)         \
  INGOT_TERNARY_AS(F, bfloat, EXPR)       \
  INGOT_LIFT3(F)

// x modulo 2 is exact, so only the product with pi rounds.
constexpr double ingot_half_turns(float x) {
  const double reduced = double(x - 2.0f * __builtin_rintf(0.5f * x));
  return reduced * as_type<double>(0x400921fb54442d18ul);
}

INGOT_UNARY(acos, __builtin_acosf(x))
INGOT_UNARY(acosh, __builtin_acoshf(x))
INGOT_UNARY(asin, __builtin_asinf(x))
INGOT_UNARY(asinh, __builtin_asinhf(x))
INGOT_UNARY(atan, __builtin_atanf(x))
INGOT_UNARY(atanh, __builtin_atanhf(x))
INGOT_UNARY(ceil, __builtin_ceilf(x))
INGOT_UNARY(cos, __builtin_cosf(x))
INGOT_UNARY(cosh, __builtin_coshf(x))
INGOT_UNARY(cospi, __builtin_cos(ingot_half_turns(x)))
INGOT_UNARY(degrees, x * 57.295779513082320877f)
INGOT_UNARY(exp, __builtin_expf(x))
INGOT_UNARY(exp10, __builtin_pow(double(10), double(x)))
INGOT_UNARY(exp2, __builtin_exp2f(x))
INGOT_UNARY(fabs, __builtin_fabsf(x))
INGOT_UNARY(floor, __builtin_floorf(x))
INGOT_UNARY(log, __builtin_logf(x))
INGOT_UNARY(log10, __builtin_log10f(x))
INGOT_UNARY(log2, __builtin_log2f(x))
INGOT_UNARY(radians, x * 0.017453292519943295769f)
INGOT_UNARY(rint, __builtin_rintf(x))
INGOT_UNARY(round, __builtin_roundf(x))
INGOT_UNARY(rsqrt, 1.0f / __builtin_sqrtf(x))
INGOT_UNARY(saturate, x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f)
INGOT_UNARY(sign, x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x == 0.0f ? x : 0.0f)
INGOT_UNARY(sin, __builtin_sinf(x))
INGOT_UNARY(sinh, __builtin_sinhf(x))
INGOT_UNARY(sinpi, __builtin_sin(ingot_half_turns(x)))
INGOT_UNARY(sqrt, __builtin_sqrtf(x))
INGOT_UNARY(tan, __builtin_tanf(x))
INGOT_UNARY(tanh, __builtin_tanhf(x))
INGOT_UNARY(tanpi, __builtin_tan(ingot_half_turns(x)))
INGOT_UNARY(trunc, __builtin_truncf(x))

// The largest value below 1 is the greatest result.
INGOT_UNARY_AS(fract, float, __builtin_fminf(x - __builtin_floorf(x), 0x1.fffffep-1f))
INGOT_UNARY_AS(fract, half, __builtin_fminf(x - __builtin_floorf(x), 0x1.ffcp-1f))
INGOT_UNARY_AS(fract, bfloat, __builtin_fminf(x - __builtin_floorf(x), 0x1.fep-1f))
INGOT_LIFT1(fract)

INGOT_BINARY(atan2, __builtin_atan2f(x, y))
INGOT_BINARY(copysign, __builtin_copysignf(x, y))
INGOT_BINARY(divide, x / y)
INGOT_BINARY(fdim, x > y ? x - y : x <= y ? 0.0f : __builtin_nanf(""))
INGOT_BINARY(fmax, __builtin_fmaxf(x, y))
INGOT_BINARY(fmin, __builtin_fminf(x, y))
INGOT_BINARY(fmod, __builtin_fmodf(x, y))
INGOT_BINARY(pow, __builtin_powf(x, y))
INGOT_BINARY(powr, x < 0.0f ? __builtin_nanf("") : __builtin_powf(x, y))
INGOT_BINARY(step, y < x ? 0.0f : 1.0f)

INGOT_TERNARY(fmax3, __builtin_fmaxf(x, __builtin_fmaxf(y, z)))
INGOT_TERNARY(fmin3, __builtin_fminf(x, __builtin_fminf(y, z)))
INGOT_TERNARY(mix, x + (y - x) * z)

// A product of two half or bfloat values is exact in double, and so is its sum with a third as
// far as rounding to the narrow type can tell.
constexpr float ingot_round_to_odd(double exact) {
  const float nearest = float(exact);
  if (double(nearest) == exact || nearest != nearest) return nearest;
  uint bits = as_type<uint>(nearest);
  const bool away = __builtin_fabs(double(nearest)) > __builtin_fabs(exact);
  if (away && (bits & 0x7fffffffu)) bits -= 1;
  return as_type<float>(bits | 1u);
}
constexpr float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
constexpr half fma(half x, half y, half z) {
  return half(ingot_round_to_odd(double(x) * double(y) + double(z)));
}
constexpr bfloat fma(bfloat x, bfloat y, bfloat z) {
  return bfloat(ingot_round_to_odd(__builtin_fma(double(x), double(y), double(z))));
}
INGOT_LIFT3(fma)

INGOT_TERNARY_AS(ingot_smoothstep, float,
                 [](float t) constexpr { return t * t * (3.0f - 2.0f * t); }(
                     saturate((z - x) / (y - x))))
INGOT_TERNARY(smoothstep, ingot_smoothstep(x, y, z))

template <class T> constexpr T ingot_nextafter_bits(T x, T y) {
  using B = conditional_t<sizeof(T) == 2, ushort, uint>;
  constexpr B sign = B(1) << (8 * sizeof(T) - 1);
  if (x != x || y != y) return x != x ? x : y;
  if (x == y) return y;
  B bits = as_type<B>(x);
  if ((bits & B(~sign)) == 0) return as_type<T>(B((as_type<B>(y) & sign) | 1));
  bits = (x < y) == (x > T(0.0f)) ? B(bits + 1) : B(bits - 1);
  return as_type<T>(bits);
}
constexpr float nextafter(float x, float y) { return ingot_nextafter_bits(x, y); }
constexpr half nextafter(half x, half y) { return ingot_nextafter_bits(x, y); }
constexpr bfloat nextafter(bfloat x, bfloat y) { return ingot_nextafter_bits(x, y); }
INGOT_LIFT2(nextafter)

// ---- functions with integer or reference parameters --------------------------------------------
constexpr float ldexp(float x, int k) { return __builtin_ldexpf(x, k); }
constexpr half ldexp(half x, int k) { return half(__builtin_ldexpf(float(x), k)); }
template <class T, uint N> constexpr vec<T, N> ldexp(vec<T, N> x, vec<int, N> k) {
  vec<T, N> r = x;
  for (uint i = 0; i < N; i++) r[i] = ldexp(x[i], k[i]);
  return r;
}
constexpr int ilogb(float x) { return __builtin_ilogbf(x); }
constexpr int ilogb(half x) { return __builtin_ilogbf(float(x)); }
INGOT_LIFT1_TO(ilogb, ingot_rebind<V, int>)

inline float modf(float x, INGOT_THREAD float& whole) {
  whole = __builtin_truncf(x);
  return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - whole, x);
}
inline half modf(half x, INGOT_THREAD half& whole) {
  float w;
  const float fraction = modf(float(x), w);
  whole = half(w);
  return half(fraction);
}
template <class T, uint N> vec<T, N> modf(vec<T, N> x, INGOT_THREAD vec<T, N>& whole) {
  vec<T, N> r, w;
  for (uint i = 0; i < N; i++) {
    T part;
    r[i] = modf(x[i], part);
    w[i] = part;
  }
  whole = w;
  return r;
}
inline float frexp(float x, INGOT_THREAD int& exponent) {
  int e = 0;
  const float r = __builtin_frexpf(x, (int*)&e);
  exponent = e;
  return r;
}
inline half frexp(half x, INGOT_THREAD int& exponent) { return half(frexp(float(x), exponent)); }
template <class T, uint N> vec<T, N> frexp(vec<T, N> x, INGOT_THREAD vec<int, N>& exponent) {
  vec<T, N> r;
  vec<int, N> e;
  for (uint i = 0; i < N; i++) {
    int part;
    r[i] = frexp(x[i], part);
    e[i] = part;
  }
  exponent = e;
  return r;
}
template <class T> T sincos(T x, INGOT_THREAD T& cosine) {
  cosine = cos(x);
  return sin(x);
}
}  // namespace metal
