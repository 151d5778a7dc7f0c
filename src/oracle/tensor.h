// What the operators compute on. F is double for the truth and float for the yardstick; a tensor of any
// floating dtype holds F, one of any integer dtype or bool holds int64 (uint64 as the same bits), whatever
// its dtype says. Elements are shared and never changed once a tensor is made, so that Reshape and Identity
// cost nothing.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "oracle/oracle.h"

namespace kforge {

// Thrown by an operator that cannot go on; run_oracle turns it into an Error that names the node. Operators
// check several things per line, and an exception that never leaves the oracle keeps them readable.
struct Refusal {
  std::string message;
  bool unsupported = false;  // the form of the operator is valid, but not implemented
  bool names_node = false;   // the message already says where it arose
};

template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Refusal{fmt::format(format, std::forward<Args>(args)...)};
}
template <class... Args>
[[noreturn]] void refuse_unsupported(fmt::format_string<Args...> format, Args&&... args) {
  throw Refusal{fmt::format(format, std::forward<Args>(args)...), true};
}

// Larger tensors are refused: no task needs them, and a hostile graph must not exhaust memory.
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

// Product of the dimensions; refuses negative ones and products above kMaxElements.
std::int64_t checked_count(const Shape& shape);

// Refuses a computation that would take the better part of an hour: no task needs it, a hostile graph may ask
// for it.
void check_work(double operations);

template <class F>
class Tensor {
 public:
  using Floats = std::vector<F>;
  using Ints = std::vector<std::int64_t>;
  using Strings = std::vector<std::string>;

  Tensor() = default;
  // Elements are zero (empty strings).
  Tensor(DType dtype, Shape shape);
  Tensor(DType dtype, Shape shape, Floats values);
  Tensor(DType dtype, Shape shape, Ints values);

  // Converts raw little-endian elements.
  static Tensor from_raw(DType dtype, const Shape& shape, const std::byte* data, int threads = 1);
  static Tensor from_constant(const ConstantTensor& constant);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t rank() const { return static_cast<std::int64_t>(shape_.size()); }
  std::int64_t dim(std::int64_t axis) const { return shape_[static_cast<std::size_t>(axis)]; }
  std::int64_t size() const;

  bool has_floats() const { return std::holds_alternative<std::shared_ptr<Floats>>(data_); }
  bool has_ints() const { return std::holds_alternative<std::shared_ptr<Ints>>(data_); }

  // Refuse where the tensor holds another kind of element.
  const Floats& floats() const;
  const Ints& ints() const;
  const Strings& strings() const;
  // For the operator that has just made the tensor.
  Floats& new_floats() { return const_cast<Floats&>(floats()); }
  Ints& new_ints() { return const_cast<Ints&>(ints()); }
  Strings& new_strings() { return const_cast<Strings&>(strings()); }

  // The same elements under another shape. REQUIRES: same number of elements.
  Tensor reshaped(Shape shape) const;
  Tensor with_dtype(DType dtype) const;  // REQUIRES: the same kind of element

  // visit(fn) calls fn(const std::vector<T>&) with the elements; visit_new for a tensor just made.
  template <class Fn>
  decltype(auto) visit(Fn&& fn) const {
    return std::visit([&](const auto& held) -> decltype(auto) { return fn(std::as_const(*held)); }, data_);
  }
  template <class Fn>
  decltype(auto) visit_new(Fn&& fn) {
    return std::visit([&](auto& held) -> decltype(auto) { return fn(*held); }, data_);
  }

  // As a result. Takes the elements over where nobody else holds them.
  OracleTensor release(int threads) &&;

 private:
  DType dtype_ = DType::kFloat32;
  Shape shape_;
  std::variant<std::shared_ptr<Floats>, std::shared_ptr<Ints>, std::shared_ptr<Strings>> data_;
};

extern template class Tensor<double>;
extern template class Tensor<float>;

// The value as an element of an integer dtype (or bool), wrapped around like two's complement.
std::int64_t wrap_to(DType dtype, std::int64_t value);
// A floating value as an integer: towards zero; NaN gives 0, the infinities and other large values the
// nearest.
std::int64_t int_from_float(double value);
// Rounds to float16 or bfloat16; other floating dtypes leave the value alone.
template <class F>
F round_to(DType dtype, F value);

}  // namespace kforge
