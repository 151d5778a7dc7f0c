// nvcuda::wmma: a warp's matrices. Lane l holds elements l n / 32 to (l + 1) n / 32 in the order of rows;
// which lane holds what is not said by CUDA, so no kernel may depend on it.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };

template <class T>
struct kfe_stored {
  typedef T type;
};
template <>
struct kfe_stored<precision::tf32> {
  typedef float type;
};

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
  static constexpr bool is_a = __is_same(Use, matrix_a), is_b = __is_same(Use, matrix_b);
  static constexpr int rows = is_b ? k : m, columns = is_a ? k : n;
  static constexpr int num_elements = rows * columns / 32;
  typedef typename kfe_stored<T>::type element_type;
  typedef element_type storage_element_type;
  element_type x[num_elements];
};

template <class F, class V>
inline void fill_fragment(F& f, V value) {
  for (int i = 0; i < F::num_elements; ++i) f.x[i] = static_cast<typename F::element_type>(value);
}

template <class F, class P>
inline void kfe_load(F& f, const P* from, unsigned stride, bool by_row, const char* file, int line) {
  kfe_meet(~0u, KFE_MATRIX, nullptr, 0, file, line);
  for (int i = 0; i < F::num_elements; ++i) {
    const unsigned at = kfe::lane() * F::num_elements + static_cast<unsigned>(i);
    const unsigned r = at / F::columns, c = at % F::columns;
    f.x[i] = static_cast<typename F::element_type>(from[by_row ? r * stride + c : c * stride + r]);
  }
}
template <class Use, int m, int n, int k, class T, class Layout, class P>
inline void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f, const P* from, unsigned stride,
                             KFE_WHERE) {
  kfe_load(f, from, stride, __is_same(Layout, row_major), file, line);
}
template <int m, int n, int k, class T, class P>
inline void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const P* from, unsigned stride,
                             layout_t layout, KFE_WHERE) {
  kfe_load(f, from, stride, layout == mem_row_major, file, line);
}
template <int m, int n, int k, class T, class P>
inline void store_matrix_sync(P* to, const fragment<accumulator, m, n, k, T>& f, unsigned stride,
                              layout_t layout, KFE_WHERE) {
  typedef fragment<accumulator, m, n, k, T> F;
  for (int i = 0; i < F::num_elements; ++i) {
    const unsigned at = kfe::lane() * F::num_elements + static_cast<unsigned>(i);
    const unsigned r = at / F::columns, c = at % F::columns;
    to[layout == mem_row_major ? r * stride + c : c * stride + r] = static_cast<P>(f.x[i]);
  }
  kfe_meet(~0u, KFE_MATRIX, nullptr, 0, file, line);
}

template <class D, class A, class B, class C>
inline void mma_sync(D& d, const A& a, const B& b, const C& c, KFE_WHERE) {
  typename A::element_type all_a[KFE_LANES][A::num_elements];
  typename B::element_type all_b[KFE_LANES][B::num_elements];
  kfe::gather(a.x, all_a, file, line);
  kfe::gather(b.x, all_b, file, line);
  const auto* left = &all_a[0][0];
  const auto* right = &all_b[0][0];
  for (int i = 0; i < D::num_elements; ++i) {
    const int at = static_cast<int>(kfe::lane()) * D::num_elements + i, row = at / D::columns,
              column = at % D::columns;
    float sum = static_cast<float>(c.x[i]);
    for (int k = 0; k < A::columns; ++k)
      sum +=
          static_cast<float>(left[row * A::columns + k]) * static_cast<float>(right[k * B::columns + column]);
    d.x[i] = static_cast<typename D::element_type>(sum);
  }
}
inline float __float_to_tf32(float x) {
  return __builtin_bit_cast(float, (__builtin_bit_cast(unsigned, x) + 0x1000u) & ~0x1FFFu);
}

}  // namespace wmma
}  // namespace nvcuda
