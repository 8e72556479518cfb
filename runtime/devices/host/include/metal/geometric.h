// <metal_geometric>: sums run from the first component to the last.
#pragma once

namespace metal {
#define INGOT_GEOMETRIC(T)                                                                     \
  constexpr T dot(vec<T, 2> a, vec<T, 2> b) { return a.x * b.x + a.y * b.y; }                  \
  constexpr T dot(vec<T, 3> a, vec<T, 3> b) { return a.x * b.x + a.y * b.y + a.z * b.z; }      \
  constexpr T dot(vec<T, 4> a, vec<T, 4> b) {                                                  \
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;                                      \
  }                                                                                            \
  constexpr vec<T, 3> cross(vec<T, 3> a, vec<T, 3> b) {                                        \
    return vec<T, 3>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);     \
  }
INGOT_GEOMETRIC(float)
INGOT_GEOMETRIC(half)
#undef INGOT_GEOMETRIC
template <class T, uint N> constexpr T length_squared(vec<T, N> a) { return dot(a, a); }
template <class T, uint N> constexpr T length(vec<T, N> a) { return sqrt(dot(a, a)); }
template <class A, class B, class V = ingot_vector<A, B>> constexpr auto distance(A a, B b) {
  return length(V(a) - V(b));
}
template <class A, class B, class V = ingot_vector<A, B>>
constexpr auto distance_squared(A a, B b) {
  return length_squared(V(a) - V(b));
}
template <class T, uint N> constexpr vec<T, N> normalize(vec<T, N> a) {
  return a * rsqrt(dot(a, a));
}
template <class T, uint N> constexpr vec<T, N> reflect(vec<T, N> i, vec<T, N> n) {
  return i - T(2) * dot(n, i) * n;
}
template <class T, uint N>
constexpr vec<T, N> faceforward(vec<T, N> n, vec<T, N> i, vec<T, N> reference) {
  if (dot(reference, i) < T(0)) return n;
  return -n;
}
template <class T, uint N> constexpr vec<T, N> refract(vec<T, N> i, vec<T, N> n, T eta) {
  const T d = dot(n, i);
  const T k = T(1) - eta * eta * (T(1) - d * d);
  if (k < T(0)) return vec<T, N>(T(0));
  return eta * i - (eta * d + sqrt(k)) * n;
}
}  // namespace metal
