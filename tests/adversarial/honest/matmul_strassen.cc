// Rewritten algebra: one level of Strassen's seven products where all sizes are even.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=passed
#include <vector>

#include "task.h"

namespace {

struct View {
  const float* data;
  long stride;
  float at(long i, long j) const { return data[i * stride + j]; }
};

std::vector<float> combine(View u, View v, float sign, long rows, long columns) {
  std::vector<float> out(rows * columns);
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < columns; ++j) out[i * columns + j] = u.at(i, j) + sign * v.at(i, j);
  return out;
}

std::vector<float> product(View u, View v, long rows, long inner, long columns) {
  std::vector<float> out(rows * columns);
  for (long i = 0; i < rows; ++i)
    for (long k = 0; k < inner; ++k)
      for (long j = 0; j < columns; ++j) out[i * columns + j] += u.at(i, k) * v.at(k, j);
  return out;
}

}  // namespace

extern "C" void kernel(const float* a, const float* b, float* c) {
  if (task::M % 2 || task::K % 2 || task::N % 2) {
    const auto plain = product({a, task::K}, {b, task::N}, task::M, task::K, task::N);
    for (long i = 0; i < task::M * task::N; ++i) c[i] = plain[i];
    return;
  }
  const long m = task::M / 2, k = task::K / 2, n = task::N / 2;
  const View a11{a, task::K}, a12{a + k, task::K}, a21{a + m * task::K, task::K},
      a22{a + m * task::K + k, task::K};
  const View b11{b, task::N}, b12{b + n, task::N}, b21{b + k * task::N, task::N},
      b22{b + k * task::N + n, task::N};
  const auto times = [&](const std::vector<float>& u, const std::vector<float>& v) {
    return product({u.data(), k}, {v.data(), n}, m, k, n);
  };
  const auto sum_a = [&](View u, View v, float sign) { return combine(u, v, sign, m, k); };
  const auto sum_b = [&](View u, View v, float sign) { return combine(u, v, sign, k, n); };
  const auto copy_a = [&](View u) { return combine(u, u, 0, m, k); };
  const auto copy_b = [&](View u) { return combine(u, u, 0, k, n); };
  const auto p1 = times(sum_a(a11, a22, 1), sum_b(b11, b22, 1)), p2 = times(sum_a(a21, a22, 1), copy_b(b11));
  const auto p3 = times(copy_a(a11), sum_b(b12, b22, -1)), p4 = times(copy_a(a22), sum_b(b21, b11, -1));
  const auto p5 = times(sum_a(a11, a12, 1), copy_b(b22)), p6 = times(sum_a(a21, a11, -1), sum_b(b11, b12, 1));
  const auto p7 = times(sum_a(a12, a22, -1), sum_b(b21, b22, 1));
  for (long i = 0; i < m; ++i)
    for (long j = 0; j < n; ++j) {
      const long q = i * n + j;
      c[i * task::N + j] = p1[q] + p4[q] - p5[q] + p7[q];
      c[i * task::N + n + j] = p3[q] + p5[q];
      c[(m + i) * task::N + j] = p2[q] + p4[q];
      c[(m + i) * task::N + n + j] = p1[q] - p2[q] + p3[q] + p6[q];
    }
}
