// Comparisons, logic, bits, and choosing by a condition.
#include "oracle/elementwise.h"
#include "oracle/ops/operators.h"

namespace kforge {
namespace {

// bool[i] = fn(a[i], b[i]); fn takes any two values of one type.
template <class F, class Fn>
Outputs<F> compare(const Call<F>& call, const Fn& fn) {
  const Tensor<F>&a = call.in(0), &b = call.in(1);
  require_same_dtype(a.dtype(), b.dtype());
  Tensor<F> r(DType::kBool, broadcast_shape(a.shape(), b.shape()));
  auto combine = [&](const auto& x, const auto& y, const auto& compare_two) {
    combine_values(call, r.shape(), x, a.shape(), y, b.shape(), r.new_ints(), compare_two);
  };
  if (a.has_floats())
    combine(a.floats(), b.floats(), [&](F x, F y) { return std::int64_t{fn(x, y)}; });
  else if (a.dtype() == DType::kUInt64)
    combine(a.ints(), b.ints(), [&](std::int64_t x, std::int64_t y) {
      return std::int64_t{fn(static_cast<std::uint64_t>(x), static_cast<std::uint64_t>(y))};
    });
  else if (a.has_ints())
    combine(a.ints(), b.ints(), [&](std::int64_t x, std::int64_t y) { return std::int64_t{fn(x, y)}; });
  else
    combine(a.strings(), b.strings(),
            [&](const std::string& x, const std::string& y) { return std::int64_t{fn(x, y)}; });
  return {r};
}

template <class F, class Fn>
Outputs<F> bits(const Call<F>& call, const Fn& fn) {
  require_same_dtype(call.in(0).dtype(), call.in(1).dtype());
  return {combine_ints(call, call.in(0), call.in(1), fn)};
}

}  // namespace

KF_ORACLE_OPERATOR(Equal) {
  return compare(call, [](const auto& x, const auto& y) { return x == y; });
}
KF_ORACLE_OPERATOR(Less) {
  return compare(call, [](const auto& x, const auto& y) { return x < y; });
}
KF_ORACLE_OPERATOR(LessOrEqual) {
  return compare(call, [](const auto& x, const auto& y) { return x <= y; });
}
KF_ORACLE_OPERATOR(Greater) {
  return compare(call, [](const auto& x, const auto& y) { return x > y; });
}
KF_ORACLE_OPERATOR(GreaterOrEqual) {
  return compare(call, [](const auto& x, const auto& y) { return x >= y; });
}

KF_ORACLE_OPERATOR(And) {
  return bits(call, [](std::int64_t x, std::int64_t y) { return x & y; });
}
KF_ORACLE_OPERATOR(Or) {
  return bits(call, [](std::int64_t x, std::int64_t y) { return x | y; });
}
KF_ORACLE_OPERATOR(Xor) {
  return bits(call, [](std::int64_t x, std::int64_t y) { return x ^ y; });
}
// On integers; And, Or and Xor are the same on bools, whose elements are 0 or 1.
KF_ORACLE_OPERATOR(BitwiseAnd) { return op_And(call); }
KF_ORACLE_OPERATOR(BitwiseOr) { return op_Or(call); }
KF_ORACLE_OPERATOR(BitwiseXor) { return op_Xor(call); }

// Bits that leave the type are lost; a shift by its width or more gives zero.
KF_ORACLE_OPERATOR(BitShift) {
  const std::string direction = call.node.string_attr("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    refuse("direction is \"{}\", not \"LEFT\" or \"RIGHT\"", direction);
  const bool left = direction == "LEFT";
  return bits(call, [=](std::int64_t x, std::int64_t y) -> std::int64_t {
    const auto value = static_cast<std::uint64_t>(x), shift = static_cast<std::uint64_t>(y);
    if (shift >= 64) return 0;
    return static_cast<std::int64_t>(left ? value << shift : value >> shift);
  });
}

KF_ORACLE_OPERATOR(Where) {
  const Tensor<F>&condition = call.in(0), &a = call.in(1), &b = call.in(2);
  require_same_dtype(a.dtype(), b.dtype());
  const Shape shape = broadcast_shape(condition.shape(), broadcast_shape(a.shape(), b.shape()));
  Tensor<F> r(a.dtype(), shape);
  const Walk<3> walk(shape, {broadcast_strides(condition.shape(), shape), broadcast_strides(a.shape(), shape),
                             broadcast_strides(b.shape(), shape)});
  const auto& choose = condition.ints();
  auto pick = [&]<class Values>(const Values& from_a, const Values& from_b, Values& to) {
    call.parallel(r.size(), 4, [&](std::int64_t begin, std::int64_t end) {
      walk.run(begin, end, [&](std::int64_t position, const auto& offsets, std::int64_t count) {
        for (std::int64_t j = 0; j < count; ++j)
          to[static_cast<std::size_t>(position + j)] =
              choose[static_cast<std::size_t>(offsets[0] + j * walk.inner(0))]
                  ? from_a[static_cast<std::size_t>(offsets[1] + j * walk.inner(1))]
                  : from_b[static_cast<std::size_t>(offsets[2] + j * walk.inner(2))];
      });
    });
  };
  if (a.has_floats())
    pick(a.floats(), b.floats(), r.new_floats());
  else if (a.has_ints())
    pick(a.ints(), b.ints(), r.new_ints());
  else
    pick(a.strings(), b.strings(), r.new_strings());
  return {r};
}

KF_ORACLE_INSTANTIATE(Equal)
KF_ORACLE_INSTANTIATE(Less)
KF_ORACLE_INSTANTIATE(LessOrEqual)
KF_ORACLE_INSTANTIATE(Greater)
KF_ORACLE_INSTANTIATE(GreaterOrEqual)
KF_ORACLE_INSTANTIATE(And)
KF_ORACLE_INSTANTIATE(Or)
KF_ORACLE_INSTANTIATE(Xor)
KF_ORACLE_INSTANTIATE(BitwiseAnd)
KF_ORACLE_INSTANTIATE(BitwiseOr)
KF_ORACLE_INSTANTIATE(BitwiseXor)
KF_ORACLE_INSTANTIATE(BitShift)
KF_ORACLE_INSTANTIATE(Where)

}  // namespace kforge
