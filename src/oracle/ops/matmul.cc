// MatMul and Gemm.
#include "oracle/gemm.h"

#include "oracle/elementwise.h"
#include "oracle/ops/operators.h"

namespace kforge {
namespace {

// The shapes of a MatMul: batch dimensions broadcast, a vector is a matrix of one row or column.
struct MatMulShape {
  GemmSize size{};
  Shape batch, a_strides, b_strides;  // of the batches, counted in matrices
  Shape result;

  MatMulShape(Shape a, Shape b) {
    if (a.empty() || b.empty()) refuse("a scalar stands where a matrix or vector is needed");
    const bool a_is_vector = a.size() == 1, b_is_vector = b.size() == 1;
    if (a_is_vector) a.insert(a.begin(), 1);
    if (b_is_vector) b.push_back(1);
    size = {a[a.size() - 2], b.back(), a.back()};
    if (b[b.size() - 2] != size.depth)
      refuse("matrices of shapes {} and {} cannot be multiplied", to_string(a), to_string(b));
    const Shape a_batch(a.begin(), a.end() - 2), b_batch(b.begin(), b.end() - 2);
    batch = broadcast_shape(a_batch, b_batch);
    a_strides = broadcast_strides(a_batch, batch);
    b_strides = broadcast_strides(b_batch, batch);
    result = batch;
    if (!a_is_vector) result.push_back(size.rows);
    if (!b_is_vector) result.push_back(size.columns);
  }

  // Index of the matrix of an operand that takes part in batch n.
  std::vector<std::int64_t> matrices(const Shape& strides) const {
    std::vector<std::int64_t> indices(static_cast<std::size_t>(checked_count(batch)));
    const Walk<1> walk(batch, {strides});
    walk.run(0, static_cast<std::int64_t>(indices.size()),
             [&](std::int64_t n, const auto& offsets, std::int64_t count) {
               for (std::int64_t j = 0; j < count; ++j)
                 indices[static_cast<std::size_t>(n + j)] = offsets[0] + j * walk.inner(0);
             });
    return indices;
  }
};

}  // namespace

template <class F>
Tensor<F> matmul(const Call<F>& call, const Tensor<F>& a, const Tensor<F>& b) {
  const MatMulShape shape(a.shape(), b.shape());
  const auto [rows, columns, depth] = shape.size;
  const auto a_of = shape.matrices(shape.a_strides), b_of = shape.matrices(shape.b_strides);
  const auto batches = static_cast<std::int64_t>(a_of.size());
  Tensor<F> c(a.dtype(), shape.result);
  auto index = [](const std::vector<std::int64_t>& of, std::int64_t n) {
    return of[static_cast<std::size_t>(n)];
  };
  if (a.has_floats()) {
    const F *left = a.floats().data(), *right = b.floats().data();
    multiply_matrices<F>(
        call.threads, batches, shape.size,
        [&](std::int64_t n) {
          return MatrixView<F>{left + index(a_of, n) * rows * depth, depth, 1};
        },
        [&](std::int64_t n) {
          return MatrixView<F>{right + index(b_of, n) * depth * columns, columns, 1};
        },
        c.new_floats().data());
    return c;
  }
  const std::int64_t *left = a.ints().data(), *right = b.ints().data();
  std::int64_t* to = c.new_ints().data();
  call.parallel(batches * rows, columns * depth, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::uint64_t> sums(static_cast<std::size_t>(columns));
    for (std::int64_t row = begin; row < end; ++row) {
      const std::int64_t* x = left + (index(a_of, row / rows) * rows + row % rows) * depth;
      const std::int64_t* y = right + index(b_of, row / rows) * depth * columns;
      std::fill(sums.begin(), sums.end(), 0);
      for (std::int64_t k = 0; k < depth; ++k)
        for (std::int64_t j = 0; j < columns; ++j)
          sums[static_cast<std::size_t>(j)] +=
              static_cast<std::uint64_t>(x[k]) * static_cast<std::uint64_t>(y[k * columns + j]);
      for (std::int64_t j = 0; j < columns; ++j)
        to[row * columns + j] =
            wrap_to(c.dtype(), static_cast<std::int64_t>(sums[static_cast<std::size_t>(j)]));
    }
  });
  return c;
}
template Tensor<double> matmul(const Call<double>&, const Tensor<double>&, const Tensor<double>&);
template Tensor<float> matmul(const Call<float>&, const Tensor<float>&, const Tensor<float>&);

KF_ORACLE_OPERATOR(MatMul) {
  require_same_dtype(call.in(0).dtype(), call.in(1).dtype());
  return {matmul(call, call.in(0), call.in(1))};
}

// alpha * A' * B' + beta * C, where ' may transpose and C broadcasts to the result.
KF_ORACLE_OPERATOR(Gemm) {
  auto oriented = [&](std::size_t input, const char* transposes) {
    const Tensor<F>& x = call.in(input);
    if (x.rank() != 2) refuse("input {} has shape {} where a matrix is needed", input, to_string(x.shape()));
    if (call.int_attr(transposes, 0) == 0) return x;
    return strided_copy(x, {x.dim(1), x.dim(0)}, 0, {1, x.dim(1)}, call.threads);
  };
  const Tensor<F> a = oriented(0, "transA"), b = oriented(1, "transB");
  require_same_dtype(a.dtype(), b.dtype());
  Tensor<F> y = matmul(call, a, b);
  const F alpha = call.float_attr("alpha", 1), beta = call.float_attr("beta", 1);
  if (call.has(2)) broadcast_strides(call.in(2).shape(), y.shape());  // refuses a C that is larger
  if (!y.has_floats()) {
    auto scaled = [&](const Tensor<F>& x, F factor) {
      return map_ints(call, x, [=](std::int64_t v) {
        return factor == 1 ? v : int_from_float(static_cast<double>(factor) * static_cast<double>(v));
      });
    };
    y = scaled(y, alpha);
    if (!call.has(2)) return {y};
    return {combine_ints(call, y, scaled(call.in(2), beta), [](std::int64_t p, std::int64_t c) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(p) + static_cast<std::uint64_t>(c));
    })};
  }
  if (!call.has(2)) return {alpha == 1 ? y : map_floats(call, y, [=](F p) { return alpha * p; })};
  return {combine_floats(call, y, call.in(2), [=](F p, F c) { return alpha * p + beta * c; })};
}

KF_ORACLE_INSTANTIATE(MatMul)
KF_ORACLE_INSTANTIATE(Gemm)

}  // namespace kforge
