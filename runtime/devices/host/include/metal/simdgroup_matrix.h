// <metal_simdgroup_matrix>: 8x8 matrices spread over a SIMD-group, two elements a lane.
//
// Lane l holds row (l/4 & 4) + (l/2) % 4, columns (l/4 & 2) * 2 + (l % 2) * 2 and the next.
#pragma once

namespace metal {

constexpr uint ingot_matrix_row(uint lane) { return (lane / 4 & 4) + lane / 2 % 4; }
constexpr uint ingot_matrix_column(uint lane) { return (lane / 4 & 2) * 2 + lane % 2 * 2; }

template <class T, int Cols, int Rows> struct simdgroup_matrix {
  static_assert(Cols == 8 && Rows == 8, "simdgroup_matrix is 8x8");
  using storage_type = vec<T, 2>;
  storage_type elements;

  simdgroup_matrix() = default;
  /// A diagonal matrix.
  explicit INGOT_INLINE simdgroup_matrix(T diagonal) : elements(T(0.0f)) {
    const uint lane = ingot_lane_index();
    const uint row = ingot_matrix_row(lane), column = ingot_matrix_column(lane);
    if (row == column) elements.x = diagonal;
    if (row == column + 1) elements.y = diagonal;
  }
  INGOT_THREAD vec<T, 2>& thread_elements() INGOT_THREAD { return elements; }
  const INGOT_THREAD vec<T, 2>& thread_elements() const INGOT_THREAD { return elements; }
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

template <class T, int Cols, int Rows = Cols>
INGOT_INLINE simdgroup_matrix<T, Cols, Rows> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, Cols, Rows> m;
  m.elements = vec<T, 2>(value);
  return m;
}
template <class T, int Cols, int Rows = Cols>
INGOT_INLINE simdgroup_matrix<T, Cols, Rows> make_diagonal_simdgroup_matrix(T value) {
  return simdgroup_matrix<T, Cols, Rows>(value);
}

/// Where element (row, column) of the 8x8 block at `origin` (x: column, y: row) lies.
INGOT_INLINE ulong ingot_matrix_index(ulong row, ulong column, ulong stride, ulong2 origin,
                                      bool transpose) {
  return transpose ? (origin.y + column) * stride + origin.x + row
                   : (origin.y + row) * stride + origin.x + column;
}

#define INGOT_MATRIX_LOAD(SPACE)                                                              \
  template <class T>                                                                          \
  INGOT_INLINE void simdgroup_load(INGOT_THREAD simdgroup_matrix<T, 8, 8>& d, const SPACE T* p, \
                                   ulong elements_per_row = 8, ulong2 origin = ulong2(0),     \
                                   bool transpose = false) {                                  \
    const uint lane = ingot_lane_index();                                                           \
    const uint row = ingot_matrix_row(lane), column = ingot_matrix_column(lane);              \
    d.elements.x = p[ingot_matrix_index(row, column, elements_per_row, origin, transpose)];   \
    d.elements.y = p[ingot_matrix_index(row, column + 1, elements_per_row, origin, transpose)]; \
  }
#define INGOT_MATRIX_STORE(SPACE)                                                             \
  template <class T>                                                                          \
  INGOT_INLINE void simdgroup_store(simdgroup_matrix<T, 8, 8> s, SPACE T* p,                  \
                                    ulong elements_per_row = 8, ulong2 origin = ulong2(0),    \
                                    bool transpose = false) {                                 \
    const uint lane = ingot_lane_index();                                                           \
    const uint row = ingot_matrix_row(lane), column = ingot_matrix_column(lane);              \
    p[ingot_matrix_index(row, column, elements_per_row, origin, transpose)] = s.elements.x;   \
    p[ingot_matrix_index(row, column + 1, elements_per_row, origin, transpose)] = s.elements.y; \
  }
INGOT_MATRIX_LOAD(INGOT_DEVICE)
INGOT_MATRIX_STORE(INGOT_DEVICE)
#if INGOT_CHECK
INGOT_MATRIX_LOAD(INGOT_THREADGROUP)
INGOT_MATRIX_STORE(INGOT_THREADGROUP)
#endif
#undef INGOT_MATRIX_LOAD
#undef INGOT_MATRIX_STORE

/// d = a * b + c. Products and sums are single precision, k ascending, fused; rounded to D at last.
template <class D, class A, class B, class C>
INGOT_INLINE void simdgroup_multiply_accumulate(INGOT_THREAD simdgroup_matrix<D, 8, 8>& d,
                                                simdgroup_matrix<A, 8, 8> a,
                                                simdgroup_matrix<B, 8, 8> b,
                                                simdgroup_matrix<C, 8, 8> c) {
  struct Posted {
    float a[2], b[2], c[2];
  };
  struct Product {
    float lane[INGOT_SIMD_WIDTH][2];
  };
  static_assert(sizeof(Product) <= sizeof(ingot_exchange::result), "the result does not fit");
  const Posted own = {{float(a.elements.x), float(a.elements.y)},
                      {float(b.elements.x), float(b.elements.y)},
                      {float(c.elements.x), float(c.elements.y)}};
  ingot_lanes x = ingot_post(own);
  INGOT_GENERIC Product* product = (INGOT_GENERIC Product*)x->result;
  if (!x->done) {
    float left[8][8], right[8][8], sum[8][8];
    for (uint l = 0; l < INGOT_SIMD_WIDTH; l++) {
      const uint row = ingot_matrix_row(l), column = ingot_matrix_column(l);
      const Posted posted = ingot_read<Posted>(x, l);
      for (uint e = 0; e < 2; e++) {
        left[row][column + e] = posted.a[e];
        right[row][column + e] = posted.b[e];
        sum[row][column + e] = posted.c[e];
      }
    }
    for (uint row = 0; row < 8; row++) {
      for (uint k = 0; k < 8; k++) {
        for (uint column = 0; column < 8; column++) {
          sum[row][column] = __builtin_fmaf(left[row][k], right[k][column], sum[row][column]);
        }
      }
    }
    for (uint l = 0; l < INGOT_SIMD_WIDTH; l++) {
      const uint row = ingot_matrix_row(l), column = ingot_matrix_column(l);
      product->lane[l][0] = sum[row][column];
      product->lane[l][1] = sum[row][column + 1];
    }
    x->done = 1;
  }
  d.elements = vec<D, 2>(D(product->lane[x->lane][0]), D(product->lane[x->lane][1]));
}
template <class D, class A, class B>
INGOT_INLINE void simdgroup_multiply(INGOT_THREAD simdgroup_matrix<D, 8, 8>& d,
                                     simdgroup_matrix<A, 8, 8> a, simdgroup_matrix<B, 8, 8> b) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8, 8>(D(0.0f)));
}
template <class T>
INGOT_INLINE simdgroup_matrix<T, 8, 8> operator*(simdgroup_matrix<T, 8, 8> a,
                                                 simdgroup_matrix<T, 8, 8> b) {
  simdgroup_matrix<T, 8, 8> d;
  simdgroup_multiply(d, a, b);
  return d;
}
}  // namespace metal
