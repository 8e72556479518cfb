// <metal_atomic>: relaxed atomics on device and threadgroup memory.
#pragma once

namespace metal {
template <class T> struct _atomic {
  T value;
  using value_type = T;
};
template <class T> using atomic = _atomic<T>;

template <class T> inline T ingot_atomic_load(INGOT_GENERIC T* p) {
  T r;
  __atomic_load(p, (INGOT_GENERIC T*)&r, __ATOMIC_RELAXED);
  return r;
}
template <class T>
inline bool ingot_compare_exchange(INGOT_GENERIC T* p, INGOT_GENERIC T* expected, T desired) {
  return __atomic_compare_exchange(p, expected, (INGOT_GENERIC T*)&desired, false,
                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
#define INGOT_TARGET ((INGOT_GENERIC T*)&object->value)

// `now` in EXPR is the value found in memory.
#define INGOT_READ_MODIFY_WRITE(SPACE, NAME, EXPR)                                        \
  template <class T>                                                                      \
  inline T atomic_fetch_##NAME##_explicit(SPACE _atomic<T>* object, ingot_given<T> x,     \
                                          memory_order) {                                 \
    T now = ingot_atomic_load(INGOT_TARGET);                                              \
    while (!ingot_compare_exchange<T>(INGOT_TARGET, &now, T(EXPR))) {                     \
    }                                                                                     \
    return now;                                                                           \
  }
#define INGOT_NATIVE(SPACE, NAME)                                                         \
  template <class T>                                                                      \
  inline T atomic_fetch_##NAME##_explicit(SPACE _atomic<T>* object, ingot_given<T> x,     \
                                          memory_order) {                                 \
    return __atomic_fetch_##NAME(INGOT_TARGET, x, __ATOMIC_RELAXED);                      \
  }
#define INGOT_ATOMICS(SPACE)                                                              \
  template <class T> inline T atomic_load_explicit(const SPACE _atomic<T>* object, memory_order) { \
    return ingot_atomic_load(INGOT_TARGET);                                               \
  }                                                                                       \
  template <class T>                                                                      \
  inline void atomic_store_explicit(SPACE _atomic<T>* object, ingot_given<T> x, memory_order) { \
    T desired = x;                                                                        \
    __atomic_store(INGOT_TARGET, (INGOT_GENERIC T*)&desired, __ATOMIC_RELAXED);           \
  }                                                                                       \
  template <class T>                                                                      \
  inline T atomic_exchange_explicit(SPACE _atomic<T>* object, ingot_given<T> x, memory_order) { \
    T desired = x, old;                                                                   \
    __atomic_exchange(INGOT_TARGET, (INGOT_GENERIC T*)&desired, (INGOT_GENERIC T*)&old,   \
                      __ATOMIC_RELAXED);                                                  \
    return old;                                                                           \
  }                                                                                       \
  template <class T>                                                                      \
  inline bool atomic_compare_exchange_weak_explicit(                                      \
      SPACE _atomic<T>* object, INGOT_THREAD T* expected, ingot_given<T> desired,         \
      memory_order, memory_order) {                                                       \
    T found = *expected;                                                                  \
    if (ingot_compare_exchange<T>(INGOT_TARGET, &found, desired)) return true;            \
    *expected = found;                                                                    \
    return false;                                                                         \
  }                                                                                       \
  template <class T>                                                                      \
  inline T atomic_fetch_add_explicit(SPACE _atomic<T>* object, ingot_given<T> x, memory_order) { \
    if constexpr (is_floating_point_v<T>) {                                               \
      T now = ingot_atomic_load(INGOT_TARGET);                                            \
      while (!ingot_compare_exchange<T>(INGOT_TARGET, &now, T(now + x))) {                \
      }                                                                                   \
      return now;                                                                         \
    } else {                                                                              \
      return __atomic_fetch_add(INGOT_TARGET, x, __ATOMIC_RELAXED);                       \
    }                                                                                     \
  }                                                                                       \
  template <class T>                                                                      \
  inline T atomic_fetch_sub_explicit(SPACE _atomic<T>* object, ingot_given<T> x, memory_order o) { \
    return atomic_fetch_add_explicit(object, T(-x), o);                                   \
  }                                                                                       \
  INGOT_NATIVE(SPACE, and)                                                                \
  INGOT_NATIVE(SPACE, or)                                                                 \
  INGOT_NATIVE(SPACE, xor)                                                                \
  INGOT_READ_MODIFY_WRITE(SPACE, min, x < now ? x : now)                                  \
  INGOT_READ_MODIFY_WRITE(SPACE, max, now < x ? x : now)
INGOT_ATOMICS(INGOT_DEVICE)
#if INGOT_CHECK
INGOT_ATOMICS(INGOT_THREADGROUP)
#endif
#undef INGOT_ATOMICS
#undef INGOT_NATIVE
#undef INGOT_READ_MODIFY_WRITE
#undef INGOT_TARGET

typedef _atomic<int> ingot_atomic_int;
typedef _atomic<uint> ingot_atomic_uint;
typedef _atomic<bool> ingot_atomic_bool;
typedef _atomic<long> ingot_atomic_long;
typedef _atomic<ulong> ingot_atomic_ulong;
typedef _atomic<float> ingot_atomic_float;
}  // namespace metal

// C++ for OpenCL has built-in types of these names, so a typedef will not do.
#define atomic_int ::metal::ingot_atomic_int
#define atomic_uint ::metal::ingot_atomic_uint
#define atomic_bool ::metal::ingot_atomic_bool
#define atomic_long ::metal::ingot_atomic_long
#define atomic_ulong ::metal::ingot_atomic_ulong
#define atomic_float ::metal::ingot_atomic_float
