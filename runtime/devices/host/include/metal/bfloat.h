// bfloat: float's upper half. Arithmetic is done in float and rounded to nearest even, the same on
// every CPU (the conversions of some CPUs flush subnormals to zero).
#pragma once

#if INGOT_CHECK
typedef __bf16 bfloat;
#else
struct bfloat {
  ushort bits;

  bfloat() = default;
  constexpr bfloat(float value) : bits(round(value)) {}
  constexpr operator float() const { return __builtin_bit_cast(float, uint(bits) << 16); }

#define INGOT_BFLOAT_ASSIGN(OP)                                                 \
  template <class T> constexpr bfloat& operator OP##=(T other) {                \
    return *this = bfloat(static_cast<float>(*this) OP static_cast<float>(other)); \
  }
  INGOT_BFLOAT_ASSIGN(+)
  INGOT_BFLOAT_ASSIGN(-)
  INGOT_BFLOAT_ASSIGN(*)
  INGOT_BFLOAT_ASSIGN(/)
#undef INGOT_BFLOAT_ASSIGN

 private:
  static constexpr ushort round(float value) {
    const uint whole = __builtin_bit_cast(uint, value);
    const uint nearest = (whole + 0x7fffu + (whole >> 16 & 1u)) >> 16;
    const uint quiet_nan = whole >> 16 | 0x40u;
    return static_cast<ushort>((whole & 0x7fffffffu) > 0x7f800000u ? quiet_nan : nearest);
  }
};

// Templates, so that they match only when both operands are bfloat; a mix with float is float.
#define INGOT_BFLOAT_BINARY(OP)                                                              \
  template <class A, class B,                                                                \
            class = metal::enable_if_t<metal::is_same_v<A, bfloat> && metal::is_same_v<B, bfloat>>> \
  constexpr bfloat operator OP(A a, B b) {                                                   \
    return bfloat(static_cast<float>(a) OP static_cast<float>(b));                           \
  }
INGOT_BFLOAT_BINARY(+)
INGOT_BFLOAT_BINARY(-)
INGOT_BFLOAT_BINARY(*)
INGOT_BFLOAT_BINARY(/)
#undef INGOT_BFLOAT_BINARY
constexpr bfloat operator-(bfloat a) { return bfloat(-static_cast<float>(a)); }
constexpr bfloat operator+(bfloat a) { return a; }
#endif

namespace metal {
using ::bfloat;
template <> struct is_floating_point<bfloat> : true_type {};
}  // namespace metal
