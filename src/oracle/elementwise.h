// Applying a function to every element of one, two or three tensors, with broadcasting.
#pragma once

#include "oracle/call.h"
#include "oracle/strides.h"

namespace kforge {

// to[i] = fn(from[i]) for all elements; `cost` is that of fn in simple operations.
template <class F, class From, class To, class Fn>
void map_values(const Call<F>& call, const std::vector<From>& from, std::vector<To>& to, std::int64_t cost,
                const Fn& fn) {
  call.parallel(static_cast<std::int64_t>(from.size()), cost, [&](std::int64_t begin, std::int64_t end) {
    const From* read = from.data();
    To* write = to.data();
    for (std::int64_t i = begin; i < end; ++i) write[i] = fn(read[i]);
  });
}

// A floating tensor from a floating tensor.
template <class F, class Fn>
Tensor<F> map_floats(const Call<F>& call, const Tensor<F>& x, const Fn& fn) {
  Tensor<F> y(x.dtype(), x.shape());
  map_values(call, x.floats(), y.new_floats(), 16, fn);
  return y;
}

// An integer tensor from one of the same dtype; the results are wrapped to it.
template <class F, class Fn>
Tensor<F> map_ints(const Call<F>& call, const Tensor<F>& x, const Fn& fn) {
  Tensor<F> y(x.dtype(), x.shape());
  const DType dtype = x.dtype();
  map_values(call, x.ints(), y.new_ints(), 4, [&](std::int64_t v) { return wrap_to(dtype, fn(v)); });
  return y;
}

// One row of a broadcast operation, the common strides spelt out so that the compiler can vectorise them.
template <class A, class B, class R, class Fn>
void combine_row(const A* a, std::int64_t step_a, const B* b, std::int64_t step_b, R* r, std::int64_t count,
                 const Fn& fn) {
  if (step_a == 1 && step_b == 1) {
    for (std::int64_t j = 0; j < count; ++j) r[j] = fn(a[j], b[j]);
  } else if (step_a == 1 && step_b == 0) {
    for (std::int64_t j = 0; j < count; ++j) r[j] = fn(a[j], *b);
  } else if (step_a == 0 && step_b == 1) {
    for (std::int64_t j = 0; j < count; ++j) r[j] = fn(*a, b[j]);
  } else {
    for (std::int64_t j = 0; j < count; ++j) r[j] = fn(a[j * step_a], b[j * step_b]);
  }
}

// to[i] = fn(a[i], b[i]) over the common shape of the operands, to which `to` belongs.
template <class F, class A, class B, class R, class Fn>
void combine_values(const Call<F>& call, const Shape& shape, const std::vector<A>& a, const Shape& a_shape,
                    const std::vector<B>& b, const Shape& b_shape, std::vector<R>& to, const Fn& fn) {
  const Walk<2> walk(shape, {broadcast_strides(a_shape, shape), broadcast_strides(b_shape, shape)});
  call.parallel(static_cast<std::int64_t>(to.size()), 4, [&](std::int64_t begin, std::int64_t end) {
    walk.run(begin, end, [&](std::int64_t position, const auto& offsets, std::int64_t count) {
      combine_row(a.data() + offsets[0], walk.inner(0), b.data() + offsets[1], walk.inner(1),
                  to.data() + position, count, fn);
    });
  });
}

template <class F, class Fn>
Tensor<F> combine_floats(const Call<F>& call, const Tensor<F>& a, const Tensor<F>& b, const Fn& fn) {
  Tensor<F> r(a.dtype(), broadcast_shape(a.shape(), b.shape()));
  combine_values(call, r.shape(), a.floats(), a.shape(), b.floats(), b.shape(), r.new_floats(), fn);
  return r;
}

// fn takes and gives int64; results are wrapped to the dtype.
template <class F, class Fn>
Tensor<F> combine_ints(const Call<F>& call, const Tensor<F>& a, const Tensor<F>& b, const Fn& fn) {
  Tensor<F> r(a.dtype(), broadcast_shape(a.shape(), b.shape()));
  const DType dtype = a.dtype();
  combine_values(call, r.shape(), a.ints(), a.shape(), b.ints(), b.shape(), r.new_ints(),
                 [&](std::int64_t x, std::int64_t y) { return wrap_to(dtype, fn(x, y)); });
  return r;
}

inline void require_same_dtype(DType a, DType b) {
  if (a != b) refuse("operands of {} and {} do not go together", name_of(a), name_of(b));
}

}  // namespace kforge
