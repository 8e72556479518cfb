// What the generated entry points use to turn ids into the types that a kernel declares.
#pragma once

#if !INGOT_CHECK
namespace ingot {
using namespace ::metal;

/// A position as a scalar (its first coordinate) or a vector of any integer type.
template <class T> INGOT_INLINE T position(const uint (&p)[3]) {
  if constexpr (!is_vector_v<T>) return T(p[0]);
  else if constexpr (T::n == 2) return T(make_scalar_t<T>(p[0]), make_scalar_t<T>(p[1]));
  else return T(make_scalar_t<T>(p[0]), make_scalar_t<T>(p[1]), make_scalar_t<T>(p[2]));
}
INGOT_INLINE uint volume(const uint (&p)[3]) { return p[0] * p[1] * p[2]; }

template <class T> struct pointee { using type = T; };
template <class T> struct pointee<T*> { using type = T; };
template <class T> struct pointee<T* __restrict> { using type = T; };
template <class T> struct pointee<T&> { using type = T; };
/// The alignment of what a pointer or reference parameter refers to.
template <class P> constexpr uint alignment_of() {
  using T = typename pointee<P>::type;
  if constexpr (is_void<T>::value) return 1;
  else return alignof(T);
}
}  // namespace ingot
#endif
