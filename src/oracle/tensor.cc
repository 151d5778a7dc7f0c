#include "oracle/tensor.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/memory.h"
#include "oracle/parallel.h"

namespace kforge {
namespace {

constexpr std::int64_t kGrain = 1 << 18;

template <class Element>
Element element_at(const std::byte* data, std::size_t index) {
  Element element;  // the raw data of a file need not be aligned
  std::memcpy(&element, data + index * sizeof(Element), sizeof(Element));
  return element;
}

// target[i] = of(element i), for all of them.
template <class Element, class Target, class Of>
void convert(int threads, const std::byte* data, std::vector<Target>& target, Of of) {
  parallel_for(threads, static_cast<std::int64_t>(target.size()), kGrain,
               [&](std::int64_t begin, std::int64_t end) {
                 for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
                   target[i] = static_cast<Target>(of(element_at<Element>(data, i)));
               });
}

template <class Element, class Target>
void convert(int threads, const std::byte* data, std::vector<Target>& target) {
  convert<Element>(threads, data, target, [](Element element) { return element; });
}

template <class F>
void read_floats(int threads, DType dtype, const std::byte* data, std::vector<F>& values) {
  switch (dtype) {
    case DType::kFloat32:
      return convert<float>(threads, data, values);
    case DType::kFloat64:
      return convert<double>(threads, data, values);
    case DType::kFloat16:
      return convert<std::uint16_t>(threads, data, values, float_from_fp16);
    case DType::kBFloat16:
      return convert<std::uint16_t>(threads, data, values, float_from_bf16);
    default:
      KF_CHECK(false, "{} is not a floating type", name_of(dtype));
  }
}

void read_ints(int threads, DType dtype, const std::byte* data, std::vector<std::int64_t>& values) {
  switch (dtype) {
    case DType::kInt8:
      return convert<std::int8_t>(threads, data, values);
    case DType::kInt16:
      return convert<std::int16_t>(threads, data, values);
    case DType::kInt32:
      return convert<std::int32_t>(threads, data, values);
    case DType::kInt64:
      return convert<std::int64_t>(threads, data, values);
    case DType::kUInt8:
      return convert<std::uint8_t>(threads, data, values);
    case DType::kUInt16:
      return convert<std::uint16_t>(threads, data, values);
    case DType::kUInt32:
      return convert<std::uint32_t>(threads, data, values);
    case DType::kUInt64:
      return convert<std::uint64_t>(threads, data, values);
    case DType::kBool:
      return convert<std::uint8_t>(threads, data, values, [](std::uint8_t byte) { return byte != 0; });
    default:
      KF_CHECK(false, "{} is not an integer type", name_of(dtype));
  }
}

// Refuses a tensor for which there is no memory, before it is made: the system would end the process instead.
// Small tensors are looked at together, so that most cost nothing.
void check_memory(const Shape& shape, std::size_t bytes) {
  constexpr std::size_t kLookAfter = std::size_t{64} << 20;
  static std::atomic<std::size_t> not_looked_at{0};
  if (not_looked_at.fetch_add(bytes) + bytes < kLookAfter) return;
  not_looked_at = 0;
  if (bytes + kLookAfter > available_memory())
    refuse("there is no memory for a tensor of shape {} ({} MB)", to_string(shape), bytes >> 20);
}

}  // namespace

void check_work(double operations) {
  constexpr double kMost = 2e13;
  if (operations > kMost) refuse("it needs {:.3g} operations; at most {:.3g} are allowed", operations, kMost);
}

std::int64_t checked_count(const Shape& shape) {
  std::int64_t count = 1;
  bool empty = false;
  for (std::int64_t dim : shape) {
    if (dim < 0) refuse("a tensor of shape {} has a negative dimension", to_string(shape));
    if (dim == 0) empty = true;
    if (dim > 0 && __builtin_mul_overflow(count, dim, &count))
      refuse("a tensor of shape {} is too large", to_string(shape));
  }
  // Also where there are no elements: later arithmetic relies on dimensions that are not absurd.
  if (count > kMaxElements)
    refuse("a tensor of shape {} is too large: at most {} elements are allowed", to_string(shape),
           kMaxElements);
  return empty ? 0 : count;
}

template <class F>
Tensor<F>::Tensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  const auto count = static_cast<std::size_t>(checked_count(shape_));
  check_memory(shape_, count * (kforge::is_float(dtype) ? sizeof(F) : sizeof(std::int64_t)));
  if (kforge::is_float(dtype))
    data_ = std::make_shared<Floats>(count);
  else if (dtype == DType::kString)
    data_ = std::make_shared<Strings>(count);
  else
    data_ = std::make_shared<Ints>(count);
}

template <class F>
Tensor<F>::Tensor(DType dtype, Shape shape, Floats values)
    : dtype_(dtype), shape_(std::move(shape)), data_(std::make_shared<Floats>(std::move(values))) {
  KF_CHECK(size() == checked_count(shape_), "{} values for shape {}", size(), to_string(shape_));
}

template <class F>
Tensor<F>::Tensor(DType dtype, Shape shape, Ints values)
    : dtype_(dtype), shape_(std::move(shape)), data_(std::make_shared<Ints>(std::move(values))) {
  KF_CHECK(size() == checked_count(shape_), "{} values for shape {}", size(), to_string(shape_));
}

template <class F>
Tensor<F> Tensor<F>::from_raw(DType dtype, const Shape& shape, const std::byte* data, int threads) {
  Tensor tensor(dtype, shape);
  if (kforge::is_float(dtype))
    read_floats(threads, dtype, data, tensor.new_floats());
  else if (dtype == DType::kString)
    refuse("a string tensor has no raw form");
  else
    read_ints(threads, dtype, data, tensor.new_ints());
  return tensor;
}

template <class F>
Tensor<F> Tensor<F>::from_constant(const ConstantTensor& constant) {
  if (constant.dtype == DType::kString) {
    Tensor tensor(constant.dtype, constant.shape);
    if (constant.strings.size() != static_cast<std::size_t>(tensor.size()))
      refuse("a string constant of shape {} has {} elements", to_string(constant.shape),
             constant.strings.size());
    tensor.new_strings() = constant.strings;
    return tensor;
  }
  const auto wanted = static_cast<std::size_t>(checked_count(constant.shape)) * size_of(constant.dtype);
  if (constant.data.size() != wanted)
    refuse("a constant of shape {} has {} bytes instead of {}", to_string(constant.shape),
           constant.data.size(), wanted);
  return from_raw(constant.dtype, constant.shape, constant.data.data());
}

template <class F>
std::int64_t Tensor<F>::size() const {
  return visit([](const auto& values) { return static_cast<std::int64_t>(values.size()); });
}

template <class F>
const std::vector<F>& Tensor<F>::floats() const {
  if (!has_floats()) refuse("a tensor of {} stands where a floating one is needed", name_of(dtype_));
  return *std::get<std::shared_ptr<Floats>>(data_);
}

template <class F>
const std::vector<std::int64_t>& Tensor<F>::ints() const {
  if (!has_ints()) refuse("a tensor of {} stands where an integer one is needed", name_of(dtype_));
  return *std::get<std::shared_ptr<Ints>>(data_);
}

template <class F>
const std::vector<std::string>& Tensor<F>::strings() const {
  if (dtype_ != DType::kString) refuse("a tensor of {} stands where strings are needed", name_of(dtype_));
  return *std::get<std::shared_ptr<Strings>>(data_);
}

template <class F>
Tensor<F> Tensor<F>::reshaped(Shape shape) const {
  if (checked_count(shape) != size())
    refuse("{} elements do not fit into shape {}", size(), to_string(shape));
  Tensor tensor = *this;
  tensor.shape_ = std::move(shape);
  return tensor;
}

template <class F>
Tensor<F> Tensor<F>::with_dtype(DType dtype) const {
  KF_CHECK(kforge::is_float(dtype) == kforge::is_float(dtype_), "dtypes of different kinds");
  Tensor tensor = *this;
  tensor.dtype_ = dtype;
  return tensor;
}

static std::vector<double> widened(int threads, const std::vector<float>& values) {
  std::vector<double> wide(values.size());
  parallel_for(threads, static_cast<std::int64_t>(values.size()), kGrain,
               [&](std::int64_t begin, std::int64_t end) {
                 std::copy(values.begin() + begin, values.begin() + end, wide.begin() + begin);
               });
  return wide;
}

template <class F>
OracleTensor Tensor<F>::release(int threads) && {
  OracleTensor result{dtype_, shape_, {}};
  std::visit(
      [&](auto& held) {
        using Values = typename std::remove_reference_t<decltype(held)>::element_type;
        if constexpr (std::is_same_v<Values, std::vector<float>>)
          result.values = widened(threads, *held);
        else if (held.use_count() == 1)
          result.values = std::move(*held);
        else
          result.values = *held;
      },
      data_);
  return result;
}

template class Tensor<double>;
template class Tensor<float>;

std::int64_t wrap_to(DType dtype, std::int64_t value) {
  switch (dtype) {
    case DType::kInt8:
      return static_cast<std::int8_t>(value);
    case DType::kInt16:
      return static_cast<std::int16_t>(value);
    case DType::kInt32:
      return static_cast<std::int32_t>(value);
    case DType::kUInt8:
      return static_cast<std::uint8_t>(value);
    case DType::kUInt16:
      return static_cast<std::uint16_t>(value);
    case DType::kUInt32:
      return static_cast<std::uint32_t>(value);
    case DType::kBool:
      return value != 0;
    default:
      return value;
  }
}

std::int64_t int_from_float(double value) {
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (std::isnan(value)) return 0;
  if (value >= kLimit) return std::numeric_limits<std::int64_t>::max();
  if (value < -kLimit) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(value);
}

template <class F>
F round_to(DType dtype, F value) {
  if (dtype == DType::kFloat16) return float_from_fp16(fp16_from_double(static_cast<double>(value)));
  if (dtype == DType::kBFloat16) return float_from_bf16(bf16_from_double(static_cast<double>(value)));
  return value;
}
template double round_to(DType, double);
template float round_to(DType, float);

}  // namespace kforge
