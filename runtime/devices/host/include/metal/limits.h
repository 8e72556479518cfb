// <metal_limits>
#pragma once

namespace metal {
template <class T> struct numeric_limits {
  static constexpr bool is_specialized = false;
};

#define INGOT_INTEGER_LIMITS(T, LEAST, GREATEST)                            \
  template <> struct numeric_limits<T> {                                    \
    static constexpr bool is_specialized = true, is_integer = true;         \
    static constexpr bool has_infinity = false, has_quiet_NaN = false;      \
    static constexpr bool is_signed = LEAST != 0;                           \
    static constexpr int digits = 8 * sizeof(T) - (is_signed ? 1 : 0);      \
    static constexpr T min() { return LEAST; }                              \
    static constexpr T max() { return GREATEST; }                           \
    static constexpr T lowest() { return LEAST; }                           \
  };
INGOT_INTEGER_LIMITS(bool, false, true)
INGOT_INTEGER_LIMITS(char, -128, 127)
INGOT_INTEGER_LIMITS(signed char, -128, 127)
INGOT_INTEGER_LIMITS(uchar, 0, 255)
INGOT_INTEGER_LIMITS(short, -32768, 32767)
INGOT_INTEGER_LIMITS(ushort, 0, 65535)
INGOT_INTEGER_LIMITS(int, INT_MIN, INT_MAX)
INGOT_INTEGER_LIMITS(uint, 0, UINT_MAX)
INGOT_INTEGER_LIMITS(long, LONG_MIN, LONG_MAX)
INGOT_INTEGER_LIMITS(ulong, 0, ULONG_MAX)
#undef INGOT_INTEGER_LIMITS

#define INGOT_FLOAT_LIMITS(T, DIGITS, LEAST, GREATEST, EPSILON)                            \
  template <> struct numeric_limits<T> {                                                   \
    static constexpr bool is_specialized = true, is_integer = false, is_signed = true;     \
    static constexpr bool has_infinity = true, has_quiet_NaN = true;                       \
    static constexpr int digits = DIGITS;                                                  \
    static constexpr T min() { return static_cast<T>(LEAST); }                             \
    static constexpr T max() { return static_cast<T>(GREATEST); }                          \
    static constexpr T lowest() { return static_cast<T>(-GREATEST); }                      \
    static constexpr T epsilon() { return static_cast<T>(EPSILON); }                       \
    static constexpr T infinity() { return static_cast<T>(__builtin_inff()); }             \
    static constexpr T quiet_NaN() { return static_cast<T>(__builtin_nanf("")); }          \
  };
INGOT_FLOAT_LIMITS(float, 24, 0x1p-126f, 0x1.fffffep+127f, 0x1p-23f)
INGOT_FLOAT_LIMITS(half, 11, 0x1p-14f, 65504.0f, 0x1p-10f)
INGOT_FLOAT_LIMITS(bfloat, 8, 0x1p-126f, 0x1.fep+127f, 0x1p-7f)
#undef INGOT_FLOAT_LIMITS

template <class T, uint N> struct numeric_limits<vec<T, N>> {
  static constexpr vec<T, N> min() { return vec<T, N>(numeric_limits<T>::min()); }
  static constexpr vec<T, N> max() { return vec<T, N>(numeric_limits<T>::max()); }
  static constexpr vec<T, N> lowest() { return vec<T, N>(numeric_limits<T>::lowest()); }
  static constexpr vec<T, N> infinity() { return vec<T, N>(numeric_limits<T>::infinity()); }
};
}  // namespace metal
