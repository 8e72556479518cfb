// <metal_pack> and <metal_array>.
#pragma once

namespace metal {
#define INGOT_PACK(NAME, N, BITS, LOW, SCALE)                                              \
  inline uint pack_float_to_##NAME(vec<float, N> v) {                                      \
    const uint mask = (1u << (BITS)) - 1u;                                                 \
    uint r = 0;                                                                            \
    for (uint i = 0; i < N; i++) {                                                         \
      r |= (uint(int(rint(clamp(v[i], LOW, 1.0f) * SCALE))) & mask) << (i * (BITS));       \
    }                                                                                      \
    return r;                                                                              \
  }
INGOT_PACK(unorm4x8, 4, 8, 0.0f, 255.0f)
INGOT_PACK(snorm4x8, 4, 8, -1.0f, 127.0f)
INGOT_PACK(unorm2x16, 2, 16, 0.0f, 65535.0f)
INGOT_PACK(snorm2x16, 2, 16, -1.0f, 32767.0f)
#undef INGOT_PACK
#define INGOT_UNPACK(NAME, N, BITS, T, SCALE)                                              \
  inline vec<float, N> unpack_##NAME##_to_float(uint packed) {                             \
    vec<float, N> v(0.0f);                                                                 \
    for (uint i = 0; i < N; i++) v[i] = max(float(T(packed >> (i * (BITS)))) / SCALE, -1.0f); \
    return v;                                                                              \
  }
INGOT_UNPACK(unorm4x8, 4, 8, uchar, 255.0f)
INGOT_UNPACK(snorm4x8, 4, 8, char, 127.0f)
INGOT_UNPACK(unorm2x16, 2, 16, ushort, 65535.0f)
INGOT_UNPACK(snorm2x16, 2, 16, short, 32767.0f)
#undef INGOT_UNPACK

template <class T, size_t N> struct array {
  T elements[N];
  INGOT_SUBSCRIPT(T, elements[i])
  constexpr size_t size() const { return N; }
};
}  // namespace metal
namespace simd {
using namespace ::metal;
}
