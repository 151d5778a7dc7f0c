// The blocked product must round exactly as the plain loop does: one accumulator, products in the order of k.
#include "oracle/gemm.h"

#include <gtest/gtest.h>

#include <random>

namespace kforge {
namespace {

template <class F>
std::vector<F> noise(std::int64_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<F> values(static_cast<std::size_t>(count));
  for (F& value : values) value = static_cast<F>(normal(engine));
  return values;
}

template <class F>
void expect_bitwise_equal(const GemmSize& size, int threads) {
  const auto a = noise<F>(size.rows * size.depth, 1), b = noise<F>(size.depth * size.columns, 2);
  std::vector<F> c(static_cast<std::size_t>(size.rows * size.columns)), wanted = c;
  multiply_matrices<F>(
      threads, 1, size,
      [&](std::int64_t) {
        return MatrixView<F>{a.data(), size.depth, 1};
      },
      [&](std::int64_t) {
        return MatrixView<F>{b.data(), size.columns, 1};
      },
      c.data());
  for (std::int64_t i = 0; i < size.rows; ++i)
    for (std::int64_t j = 0; j < size.columns; ++j) {
      volatile F sum = 0;  // keeps the compiler from reordering or fusing
      for (std::int64_t k = 0; k < size.depth; ++k) {
        volatile F product = a[static_cast<std::size_t>(i * size.depth + k)] *
                             b[static_cast<std::size_t>(k * size.columns + j)];
        sum = sum + product;
      }
      wanted[static_cast<std::size_t>(i * size.columns + j)] = sum;
    }
  EXPECT_EQ(c, wanted) << size.rows << " " << size.columns << " " << size.depth;
}

TEST(Gemm, RoundsLikeThePlainLoop) {
  for (const GemmSize size : {GemmSize{1, 1, 1},
                              {4, 8, 16},
                              {5, 17, 31},
                              {97, 193, 257},
                              {1, 200, 300},
                              {130, 1, 513},
                              {3, 3, 0}}) {
    expect_bitwise_equal<double>(size, 2);
    expect_bitwise_equal<float>(size, 2);
  }
}

TEST(Gemm, ThreadsDoNotChangeResults) {
  expect_bitwise_equal<float>({200, 400, 100}, 1);
  expect_bitwise_equal<float>({200, 400, 100}, 5);
}

}  // namespace
}  // namespace kforge
