// <metal_simdgroup> and <metal_quadgroup>: every operation is one exchange among the lanes that
// reach it together.
#pragma once

namespace metal {

typedef INGOT_GENERIC ingot_exchange* ingot_lanes;

template <class T> INGOT_INLINE ingot_lanes ingot_post(T v) {
  return ingot_simd_exchange(&v, sizeof v);
}
template <class T> INGOT_INLINE T ingot_read(ingot_lanes x, uint lane) {
  T v;
  __builtin_memcpy((INGOT_GENERIC void*)&v, x->value[lane % INGOT_SIMD_WIDTH], sizeof v);
  return v;
}
INGOT_INLINE bool ingot_active(ingot_lanes x, uint lane) { return x->active >> lane & 1u; }
INGOT_INLINE uint ingot_first(uint mask) { return uint(__builtin_ctz(mask)); }

/// The value that leaves the other operand as it is.
template <class T> struct ingot_neutral {
  static constexpr T least() { return numeric_limits<T>::lowest(); }
  static constexpr T greatest() { return numeric_limits<T>::max(); }
};
#define INGOT_NEUTRAL(T)                                                         \
  template <> struct ingot_neutral<T> {                                          \
    static constexpr T least() { return T(-__builtin_inff()); }                  \
    static constexpr T greatest() { return T(__builtin_inff()); }                \
  };
INGOT_NEUTRAL(float)
INGOT_NEUTRAL(half)
INGOT_NEUTRAL(bfloat)
#undef INGOT_NEUTRAL
template <class T, uint N> struct ingot_neutral<vec<T, N>> {
  static constexpr vec<T, N> least() { return vec<T, N>(ingot_neutral<T>::least()); }
  static constexpr vec<T, N> greatest() { return vec<T, N>(ingot_neutral<T>::greatest()); }
};

// Reductions add neighbours first, then pairs of neighbours, as a butterfly of shuffles does.
// The first lane to go on computes the result for all.
#define INGOT_REDUCTION(NAME, NEUTRAL, EXPR)                                            \
  template <class T> INGOT_INLINE T simd_##NAME(T v) {                                  \
    ingot_lanes x = ingot_post(v);                                                      \
    T r;                                                                                \
    if (!x->done) {                                                                     \
      T t[INGOT_SIMD_WIDTH];                                                            \
      for (uint l = 0; l < INGOT_SIMD_WIDTH; l++) {                                     \
        if (ingot_active(x, l)) t[l] = ingot_read<T>(x, l);                             \
        else t[l] = T(NEUTRAL);                                                         \
      }                                                                                 \
      for (uint w = 1; w < INGOT_SIMD_WIDTH; w *= 2) {                                  \
        for (uint l = 0; l < INGOT_SIMD_WIDTH; l += 2 * w) {                            \
          const T a = t[l], b = t[l + w];                                               \
          t[l] = T(EXPR);                                                               \
        }                                                                               \
      }                                                                                 \
      r = t[0];                                                                         \
      __builtin_memcpy(x->result, (INGOT_GENERIC const void*)&r, sizeof r);             \
      x->done = 1;                                                                      \
    } else {                                                                            \
      __builtin_memcpy((INGOT_GENERIC void*)&r, x->result, sizeof r);                   \
    }                                                                                   \
    return r;                                                                           \
  }                                                                                     \
  template <class T> INGOT_INLINE T quad_##NAME(T v) {                                  \
    ingot_lanes x = ingot_post(v);                                                      \
    const uint quad = x->lane & ~3u;                                                    \
    T t[4];                                                                             \
    for (uint l = 0; l < 4; l++) {                                                      \
      if (ingot_active(x, quad + l)) t[l] = ingot_read<T>(x, quad + l);                 \
      else t[l] = T(NEUTRAL);                                                           \
    }                                                                                   \
    const auto join = [](T a, T b) { return T(EXPR); };                                 \
    return join(join(t[0], t[1]), join(t[2], t[3]));                                    \
  }
INGOT_REDUCTION(sum, T(0), a + b)
INGOT_REDUCTION(product, T(1), a * b)
INGOT_REDUCTION(min, ingot_neutral<T>::greatest(), min(a, b))
INGOT_REDUCTION(max, ingot_neutral<T>::least(), max(a, b))
INGOT_REDUCTION(and, ~T(0), a & b)
INGOT_REDUCTION(or, T(0), a | b)
INGOT_REDUCTION(xor, T(0), a ^ b)
#undef INGOT_REDUCTION

#define INGOT_SCAN(GROUP, NAME, FIRST, NEUTRAL, EXPR)                                   \
  template <class T> INGOT_INLINE T GROUP##_prefix_inclusive_##NAME(T v) {              \
    ingot_lanes x = ingot_post(v);                                                      \
    T a = T(NEUTRAL);                                                                   \
    for (uint l = (FIRST); l <= x->lane; l++) {                                         \
      if (!ingot_active(x, l)) continue;                                                \
      const T b = ingot_read<T>(x, l);                                                  \
      a = T(EXPR);                                                                      \
    }                                                                                   \
    return a;                                                                           \
  }                                                                                     \
  template <class T> INGOT_INLINE T GROUP##_prefix_exclusive_##NAME(T v) {              \
    ingot_lanes x = ingot_post(v);                                                      \
    T a = T(NEUTRAL);                                                                   \
    for (uint l = (FIRST); l < x->lane; l++) {                                          \
      if (!ingot_active(x, l)) continue;                                                \
      const T b = ingot_read<T>(x, l);                                                  \
      a = T(EXPR);                                                                      \
    }                                                                                   \
    return a;                                                                           \
  }
INGOT_SCAN(simd, sum, 0, 0, a + b)
INGOT_SCAN(simd, product, 0, 1, a * b)
INGOT_SCAN(quad, sum, x->lane & ~3u, 0, a + b)
INGOT_SCAN(quad, product, x->lane & ~3u, 1, a * b)
#undef INGOT_SCAN

// A lane outside the group, or one that takes no part, is undefined in Metal: here the own value.
#define INGOT_SHUFFLE(NAME, LANE)                                                       \
  template <class T> INGOT_INLINE T simd_##NAME(T v, ushort d) {                        \
    ingot_lanes x = ingot_post(v);                                                      \
    const int own = int(x->lane), from = (LANE);                                  \
    (void)own;                                                                          \
    if (from < 0 || from >= INGOT_SIMD_WIDTH || !ingot_active(x, uint(from))) return v; \
    return ingot_read<T>(x, uint(from));                                                \
  }
#define INGOT_QUAD_SHUFFLE(NAME, LANE)                                                  \
  template <class T> INGOT_INLINE T quad_##NAME(T v, ushort d) {                        \
    ingot_lanes x = ingot_post(v);                                                      \
    const int own = int(x->lane & 3u), from = (LANE);                                   \
    (void)own;                                                                          \
    const uint quad = x->lane & ~3u;                                                    \
    if (from < 0 || from >= 4 || !ingot_active(x, quad + uint(from))) return v;         \
    return ingot_read<T>(x, quad + uint(from));                                         \
  }
INGOT_SHUFFLE(broadcast, int(d))
INGOT_SHUFFLE(shuffle, int(d))
INGOT_SHUFFLE(shuffle_xor, own ^ int(d))
INGOT_SHUFFLE(shuffle_down, own + int(d))
INGOT_SHUFFLE(shuffle_up, own - int(d))
INGOT_SHUFFLE(shuffle_rotate_down, (own + int(d)) % INGOT_SIMD_WIDTH)
INGOT_SHUFFLE(shuffle_rotate_up, (own + INGOT_SIMD_WIDTH - int(d) % INGOT_SIMD_WIDTH) % INGOT_SIMD_WIDTH)
INGOT_QUAD_SHUFFLE(broadcast, int(d))
INGOT_QUAD_SHUFFLE(shuffle, int(d))
INGOT_QUAD_SHUFFLE(shuffle_xor, own ^ int(d))
INGOT_QUAD_SHUFFLE(shuffle_down, own + int(d))
INGOT_QUAD_SHUFFLE(shuffle_up, own - int(d))
INGOT_QUAD_SHUFFLE(shuffle_rotate_down, (own + int(d)) % 4)
INGOT_QUAD_SHUFFLE(shuffle_rotate_up, (own + 4 - int(d) % 4) % 4)
#undef INGOT_SHUFFLE
#undef INGOT_QUAD_SHUFFLE

template <class T> INGOT_INLINE T simd_shuffle_and_fill_down(T v, T filling, ushort d) {
  ingot_lanes x = ingot_post(v);
  const uint from = x->lane + d;
  T r = v;
  if (from < INGOT_SIMD_WIDTH && ingot_active(x, from)) r = ingot_read<T>(x, from);
  x = ingot_post(filling);
  if (from >= INGOT_SIMD_WIDTH) r = ingot_read<T>(x, from - INGOT_SIMD_WIDTH);
  return r;
}
template <class T> INGOT_INLINE T simd_shuffle_and_fill_up(T v, T filling, ushort d) {
  ingot_lanes x = ingot_post(v);
  const uint own = x->lane;
  T r = v;
  if (own >= d && ingot_active(x, own - d)) r = ingot_read<T>(x, own - d);
  x = ingot_post(filling);
  if (own < d) r = ingot_read<T>(x, INGOT_SIMD_WIDTH - d + own);
  return r;
}

struct simd_vote {
  using vote_t = ulong;
  vote_t votes;
  explicit constexpr simd_vote(vote_t v = 0) : votes(v) {}
  explicit constexpr operator vote_t() const { return votes; }
  constexpr bool all() const { return votes == 0xfffffffful; }
  constexpr bool any() const { return votes != 0; }
};
struct quad_vote {
  using vote_t = uint;
  vote_t votes;
  explicit constexpr quad_vote(vote_t v = 0) : votes(v) {}
  explicit constexpr operator vote_t() const { return votes; }
  constexpr bool all() const { return votes == 0xfu; }
  constexpr bool any() const { return votes != 0; }
};
INGOT_INLINE uint ingot_votes(ingot_lanes x) {
  if (!x->done) {
    uint votes = 0;
    for (uint l = 0; l < INGOT_SIMD_WIDTH; l++) {
      if (ingot_active(x, l) && ingot_read<bool>(x, l)) votes |= 1u << l;
    }
    x->result[0] = votes;
    x->done = 1;
  }
  return uint(x->result[0]);
}
INGOT_INLINE simd_vote simd_ballot(bool b) { return simd_vote(ingot_votes(ingot_post(b))); }
INGOT_INLINE simd_vote simd_active_threads_mask() { return simd_ballot(true); }
INGOT_INLINE bool simd_any(bool b) { return ingot_votes(ingot_post(b)) != 0; }
INGOT_INLINE bool simd_all(bool b) {
  ingot_lanes x = ingot_post(b);
  return ingot_votes(x) == x->active;
}
INGOT_INLINE bool simd_is_first() {
  ingot_lanes x = ingot_post(char(0));
  return ingot_first(x->active) == x->lane;
}
INGOT_INLINE bool simd_is_helper_thread() { return false; }
template <class T> INGOT_INLINE T simd_broadcast_first(T v) {
  ingot_lanes x = ingot_post(v);
  return ingot_read<T>(x, ingot_first(x->active));
}
INGOT_INLINE uint ingot_quad_mask(uint mask, uint lane) { return mask >> (lane & ~3u) & 15u; }
INGOT_INLINE quad_vote quad_ballot(bool b) {
  ingot_lanes x = ingot_post(b);
  return quad_vote(ingot_quad_mask(ingot_votes(x), x->lane));
}
INGOT_INLINE quad_vote quad_active_threads_mask() { return quad_ballot(true); }
INGOT_INLINE bool quad_any(bool b) { return quad_ballot(b).any(); }
INGOT_INLINE bool quad_all(bool b) {
  ingot_lanes x = ingot_post(b);
  return ingot_quad_mask(ingot_votes(x), x->lane) == ingot_quad_mask(x->active, x->lane);
}
INGOT_INLINE bool quad_is_first() {
  ingot_lanes x = ingot_post(char(0));
  return ingot_first(ingot_quad_mask(x->active, x->lane)) == (x->lane & 3u);
}
template <class T> INGOT_INLINE T quad_broadcast_first(T v) {
  ingot_lanes x = ingot_post(v);
  return ingot_read<T>(x, (x->lane & ~3u) + ingot_first(ingot_quad_mask(x->active, x->lane)));
}
}  // namespace metal
