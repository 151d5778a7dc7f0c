// simdgroup_matrix: 8 x 8 elements, two in each of the 32 lanes: lane l holds row l / 4, columns 2 (l % 4)
// and the next. Which lane holds what is not said by MSL, so no kernel may depend on it.
#pragma once

#include "metal_simd_shim.h"

namespace metal {

template <class T, int rows = 8, int columns = 8>
struct simdgroup_matrix {
  static_assert(rows == 8 && columns == 8, "simdgroup matrices are 8 x 8");
  T kfe_pair[2];

  simdgroup_matrix() = default;
  explicit simdgroup_matrix(T value) {  // a diagonal
    for (int i = 0; i < 2; ++i) kfe_pair[i] = row() == column() + i ? value : T(0);
  }
  T* thread_elements() { return kfe_pair; }
  static int row() { return static_cast<int>(kfe::lane() / 4); }
  static int column() { return static_cast<int>(kfe::lane() % 4 * 2); }
};
typedef simdgroup_matrix<float, 8, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8, 8> simdgroup_half8x8;
typedef simdgroup_matrix<bfloat, 8, 8> simdgroup_bfloat8x8;

template <class T, int R, int C>
simdgroup_matrix<T, R, C> make_filled_simdgroup_matrix(T value) {
  simdgroup_matrix<T, R, C> m;
  m.kfe_pair[0] = m.kfe_pair[1] = value;
  return m;
}

template <class T, int R, int C, class U>
inline void simdgroup_load(simdgroup_matrix<T, R, C>& m, const U* source, ulong per_row = 8,
                           ulong2 origin = ulong2{0, 0}, bool transposed = false, KFE_WHERE) {
  kfe_meet(0, KFE_MATRIX, nullptr, 0, file, line);
  for (int i = 0; i < 2; ++i) {
    const ulong r = static_cast<ulong>(transposed ? m.column() + i : m.row()) + origin.y;
    const ulong c = static_cast<ulong>(transposed ? m.row() : m.column() + i) + origin.x;
    m.kfe_pair[i] = static_cast<T>(source[r * per_row + c]);
  }
}
template <class T, int R, int C, class U>
inline void simdgroup_store(const simdgroup_matrix<T, R, C>& m, U* target, ulong per_row = 8,
                            ulong2 origin = ulong2{0, 0}, bool transposed = false, KFE_WHERE) {
  for (int i = 0; i < 2; ++i) {
    const ulong r = static_cast<ulong>(transposed ? m.column() + i : m.row()) + origin.y;
    const ulong c = static_cast<ulong>(transposed ? m.row() : m.column() + i) + origin.x;
    target[r * per_row + c] = static_cast<U>(m.kfe_pair[i]);
  }
  kfe_meet(0, KFE_MATRIX, nullptr, 0, file, line);
}

// d = a b + c: every lane sees all pairs of a, then all of b.
template <class D, class A, class B, class C>
inline void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8>& d, const simdgroup_matrix<A, 8, 8>& a,
                                          const simdgroup_matrix<B, 8, 8>& b,
                                          const simdgroup_matrix<C, 8, 8>& c, KFE_WHERE) {
  const int row = d.row(), column = d.column();
  float left[8], sum[2] = {static_cast<float>(c.kfe_pair[0]), static_cast<float>(c.kfe_pair[1])};
  const KfeLanes* lanes = kfe::brought(0, KFE_MATRIX, a.kfe_pair, file, line);
  for (int k = 0; k < 8; ++k) {
    A pair[2];
    __builtin_memcpy(pair, lanes->value[row * 4 + k / 2], sizeof pair);
    left[k] = static_cast<float>(pair[k % 2]);
  }
  lanes = kfe::brought(0, KFE_MATRIX, b.kfe_pair, file, line);
  for (int k = 0; k < 8; ++k) {
    B pair[2];
    __builtin_memcpy(pair, lanes->value[k * 4 + column / 2], sizeof pair);
    for (int i = 0; i < 2; ++i) sum[i] += left[k] * static_cast<float>(pair[i]);
  }
  for (int i = 0; i < 2; ++i) d.kfe_pair[i] = static_cast<D>(sum[i]);
}
template <class D, class A, class B>
inline void simdgroup_multiply(simdgroup_matrix<D, 8, 8>& d, const simdgroup_matrix<A, 8, 8>& a,
                               const simdgroup_matrix<B, 8, 8>& b, KFE_WHERE) {
  simdgroup_matrix<D, 8, 8> zero;
  zero.kfe_pair[0] = zero.kfe_pair[1] = D(0);
  simdgroup_multiply_accumulate(d, a, b, zero, file, line);
}

}  // namespace metal
