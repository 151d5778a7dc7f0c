#include "oracle/strides.h"

namespace kforge {

Shape contiguous_strides(const Shape& shape) {
  Shape strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= shape[d];
  }
  return strides;
}

Shape broadcast_shape(const Shape& a, const Shape& b) {
  const std::size_t rank = std::max(a.size(), b.size());
  Shape shape(rank);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::int64_t in_a = d + a.size() < rank ? 1 : a[d + a.size() - rank];
    const std::int64_t in_b = d + b.size() < rank ? 1 : b[d + b.size() - rank];
    if (in_a != in_b && in_a != 1 && in_b != 1)
      refuse("shapes {} and {} do not broadcast", to_string(a), to_string(b));
    shape[d] = in_a == 1 ? in_b : in_a;
  }
  return shape;
}

Shape broadcast_strides(const Shape& shape, const Shape& target) {
  if (shape.size() > target.size())
    refuse("shape {} does not broadcast to {}", to_string(shape), to_string(target));
  const std::size_t missing = target.size() - shape.size();
  Shape strides(target.size(), 0);
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] != target[d + missing] && shape[d] != 1)
      refuse("shape {} does not broadcast to {}", to_string(shape), to_string(target));
    if (shape[d] != 1) strides[d + missing] = stride;
    stride *= shape[d];
  }
  return strides;
}

template <class F>
Tensor<F> strided_copy(const Tensor<F>& source, const Shape& shape, std::int64_t base, const Shape& strides,
                       int threads) {
  Tensor<F> result(source.dtype(), shape);
  const Walk<1> walk(shape, {strides});
  result.visit_new([&]<class Values>(Values& to) {
    source.visit([&]<class Other>(const Other& from) {
      if constexpr (std::is_same_v<Values, Other>) {
        parallel_for(threads, result.size(), grain_for(2), [&](std::int64_t begin, std::int64_t end) {
          walk.run(begin, end, [&](std::int64_t position, const auto& offsets, std::int64_t count) {
            const auto* read = from.data() + base + offsets[0];
            for (std::int64_t j = 0; j < count; ++j)
              to[static_cast<std::size_t>(position + j)] = read[j * walk.inner(0)];
          });
        });
      }
    });
  });
  return result;
}

template Tensor<double> strided_copy(const Tensor<double>&, const Shape&, std::int64_t, const Shape&, int);
template Tensor<float> strided_copy(const Tensor<float>&, const Shape&, std::int64_t, const Shape&, int);

}  // namespace kforge
