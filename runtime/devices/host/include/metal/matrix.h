// <metal_matrix>: C columns of R components, stored column by column.
#pragma once

namespace metal {
template <class T, int C, int R> struct matrix {
  using V = vec<T, R>;
  V columns[C];

  matrix() = default;
  explicit constexpr matrix(T s) : columns{} {
    for (int i = 0; i < C; i++) {
      V column(T(0));
      if (i < R) column[i] = s;
      columns[i] = column;
    }
  }
  template <class... A, class = enable_if_t<sizeof...(A) == C && (__is_convertible(A, V) && ...) &&
                                            !(is_scalar_v<A> || ...)>>
  constexpr matrix(A... a) : columns{V(a)...} {}
  template <class... A, class = enable_if_t<sizeof...(A) == C * R && (is_scalar_v<A> && ...)>,
            class = void>
  constexpr matrix(A... a) : columns{} {
    const T values[C * R] = {T(a)...};
    for (int i = 0; i < C; i++) {
      V column(T(0));
      for (int j = 0; j < R; j++) column[j] = values[i * R + j];
      columns[i] = column;
    }
  }
  template <class U, class = ingot_differ<T, U>>
  explicit constexpr matrix(matrix<U, C, R> o) : columns{} {
    for (int i = 0; i < C; i++) columns[i] = V(o.columns[i]);
  }
  INGOT_COPIES(matrix, for (int i = 0; i < C; i++) columns[i] = o.columns[i];)
  INGOT_SUBSCRIPT(V, columns[i])

  friend constexpr matrix operator+(matrix a, matrix b) {
    for (int i = 0; i < C; i++) a.columns[i] += b.columns[i];
    return a;
  }
  friend constexpr matrix operator-(matrix a, matrix b) {
    for (int i = 0; i < C; i++) a.columns[i] -= b.columns[i];
    return a;
  }
  friend constexpr matrix operator-(matrix a) {
    for (int i = 0; i < C; i++) a.columns[i] = -a.columns[i];
    return a;
  }
  friend constexpr matrix operator*(matrix a, T s) {
    for (int i = 0; i < C; i++) a.columns[i] *= V(s);
    return a;
  }
  friend constexpr matrix operator*(T s, matrix a) { return a * s; }
  friend constexpr V operator*(matrix a, vec<T, C> v) {
    V r = a.columns[0] * V(v[0]);
    for (int i = 1; i < C; i++) r += a.columns[i] * V(v[i]);
    return r;
  }
  friend constexpr vec<T, C> operator*(V v, matrix a) {
    vec<T, C> r(T(0));
    for (int i = 0; i < C; i++) r[i] = dot(v, a.columns[i]);
    return r;
  }
  template <int K> friend constexpr matrix<T, K, R> operator*(matrix a, matrix<T, K, C> b) {
    matrix<T, K, R> r(T(0));
    for (int k = 0; k < K; k++) r.columns[k] = a * b.columns[k];
    return r;
  }
  constexpr INGOT_GENERIC matrix& operator+=(matrix b) { return *this = *this + b; }
  constexpr INGOT_GENERIC matrix& operator-=(matrix b) { return *this = *this - b; }
  template <class M> constexpr INGOT_GENERIC matrix& operator*=(M b) { return *this = *this * b; }
};

template <class T, int C, int R> constexpr matrix<T, R, C> transpose(matrix<T, C, R> m) {
  matrix<T, R, C> r(T(0));
  for (int i = 0; i < C; i++) {
    for (int j = 0; j < R; j++) r.columns[j][i] = m.columns[i][j];
  }
  return r;
}
template <class T> constexpr T determinant(matrix<T, 2, 2> m) {
  return m.columns[0].x * m.columns[1].y - m.columns[1].x * m.columns[0].y;
}
template <class T> constexpr T determinant(matrix<T, 3, 3> m) {
  return dot(m.columns[0], cross(m.columns[1], m.columns[2]));
}
template <class T> constexpr T determinant(matrix<T, 4, 4> m) {
  T sum = T(0);
  for (int k = 0; k < 4; k++) {
    matrix<T, 3, 3> minor(T(0));
    int column = 0;
    for (int i = 0; i < 4; i++) {
      if (i != k) minor.columns[column++] = m.columns[i].yzw;
    }
    sum += (k & 1 ? T(-1) : T(1)) * m.columns[k].x * determinant(minor);
  }
  return sum;
}
}  // namespace metal

#define INGOT_MATRIX(T, C, R)                    \
  typedef metal::matrix<T, C, R> T##C##x##R;     \
  namespace metal {                              \
  using ::T##C##x##R;                            \
  }
#define INGOT_MATRICES(T) \
  INGOT_MATRIX(T, 2, 2)   \
  INGOT_MATRIX(T, 2, 3)   \
  INGOT_MATRIX(T, 2, 4)   \
  INGOT_MATRIX(T, 3, 2)   \
  INGOT_MATRIX(T, 3, 3)   \
  INGOT_MATRIX(T, 3, 4)   \
  INGOT_MATRIX(T, 4, 2)   \
  INGOT_MATRIX(T, 4, 3)   \
  INGOT_MATRIX(T, 4, 4)
INGOT_MATRICES(float)
INGOT_MATRICES(half)
#undef INGOT_MATRIX
#undef INGOT_MATRICES
