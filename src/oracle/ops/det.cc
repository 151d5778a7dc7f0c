// Determinants.
#include <cmath>
#include <utility>

#include "oracle/call.h"

namespace kforge {

// Determinants of the last two axes, by elimination with the largest pivot.
KF_ORACLE_OPERATOR(Det) {
  const Tensor<F>& x = call.in(0);
  if (x.rank() < 2 || x.dim(x.rank() - 1) != x.dim(x.rank() - 2))
    refuse("shape {} has no square matrices", to_string(x.shape()));
  const std::int64_t n = x.dim(x.rank() - 1);
  Tensor<F> y(x.dtype(), Shape(x.shape().begin(), x.shape().end() - 2));
  for (std::int64_t m = 0; m < y.size(); ++m) {
    std::vector<F> a(x.floats().begin() + m * n * n, x.floats().begin() + (m + 1) * n * n);
    auto at = [&](std::int64_t row, std::int64_t column) -> F& {
      return a[static_cast<std::size_t>(row * n + column)];
    };
    F det = 1;
    for (std::int64_t k = 0; k < n && det != 0; ++k) {
      std::int64_t pivot = k;
      for (std::int64_t row = k + 1; row < n; ++row)
        if (std::fabs(at(row, k)) > std::fabs(at(pivot, k))) pivot = row;
      if (pivot != k) {
        for (std::int64_t column = 0; column < n; ++column) std::swap(at(pivot, column), at(k, column));
        det = -det;
      }
      det *= at(k, k);
      for (std::int64_t row = k + 1; row < n && det != 0; ++row) {
        const F factor = at(row, k) / at(k, k);
        for (std::int64_t column = k; column < n; ++column) at(row, column) -= factor * at(k, column);
      }
    }
    y.new_floats()[static_cast<std::size_t>(m)] = det;
  }
  return {y};
}

KF_ORACLE_INSTANTIATE(Det)

}  // namespace kforge
