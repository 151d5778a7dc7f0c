#include "oracle/tensor.h"

#include <atomic>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

namespace kforge {
namespace {

template <class Element>
Element element_at(const std::byte* data, std::size_t index) {
  Element element;  // the raw data of a file need not be aligned
  std::memcpy(&element, data + index * sizeof(Element), sizeof(Element));
  return element;
}

template <class Element, class Target>
void convert(const std::byte* data, std::vector<Target>& target) {
  for (std::size_t i = 0; i < target.size(); ++i)
    target[i] = static_cast<Target>(element_at<Element>(data, i));
}

template <class F>
void read_floats(DType dtype, const std::byte* data, std::vector<F>& values) {
  switch (dtype) {
    case DType::kFloat32:
      return convert<float>(data, values);
    case DType::kFloat64:
      return convert<double>(data, values);
    case DType::kFloat16:
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<F>(float_from_fp16(element_at<std::uint16_t>(data, i)));
      return;
    case DType::kBFloat16:
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<F>(float_from_bf16(element_at<std::uint16_t>(data, i)));
      return;
    default:
      KF_CHECK(false, "{} is not a floating type", name_of(dtype));
  }
}

void read_ints(DType dtype, const std::byte* data, std::vector<std::int64_t>& values) {
  switch (dtype) {
    case DType::kInt8:
      return convert<std::int8_t>(data, values);
    case DType::kInt16:
      return convert<std::int16_t>(data, values);
    case DType::kInt32:
      return convert<std::int32_t>(data, values);
    case DType::kInt64:
      return convert<std::int64_t>(data, values);
    case DType::kUInt8:
      return convert<std::uint8_t>(data, values);
    case DType::kUInt16:
      return convert<std::uint16_t>(data, values);
    case DType::kUInt32:
      return convert<std::uint32_t>(data, values);
    case DType::kUInt64:
      return convert<std::uint64_t>(data, values);
    case DType::kBool:
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = element_at<std::uint8_t>(data, i) != 0;
      return;
    default:
      KF_CHECK(false, "{} is not an integer type", name_of(dtype));
  }
}

// Bytes the system can still give without swapping; a very large number where it does not say.
std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string key, rest; file >> key; std::getline(file, rest)) {
    std::int64_t kilobytes = 0;
    if (key == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  return std::numeric_limits<std::int64_t>::max();
}

// Refuses a tensor for which there is no memory, before it is made: the system would end the process instead.
// Small tensors are looked at together, so that most cost nothing.
void check_memory(const Shape& shape, std::int64_t bytes) {
  constexpr std::int64_t kLookAfter = std::int64_t{64} << 20;
  static std::atomic<std::int64_t> not_looked_at{0};
  if (not_looked_at.fetch_add(bytes) + bytes < kLookAfter) return;
  not_looked_at = 0;
  if (bytes > available_memory() - kLookAfter)
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
  check_memory(shape_, static_cast<std::int64_t>(
                           count * (kforge::is_float(dtype) ? sizeof(F) : sizeof(std::int64_t))));
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
Tensor<F> Tensor<F>::from_raw(DType dtype, const Shape& shape, const std::byte* data) {
  Tensor tensor(dtype, shape);
  if (kforge::is_float(dtype))
    read_floats(dtype, data, tensor.new_floats());
  else if (dtype == DType::kString)
    refuse("a string tensor has no raw form");
  else
    read_ints(dtype, data, tensor.new_ints());
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

template <class F>
OracleTensor Tensor<F>::release() && {
  OracleTensor result{dtype_, shape_, {}};
  std::visit(
      [&](auto& held) {
        using Values = typename std::remove_reference_t<decltype(held)>::element_type;
        if constexpr (std::is_same_v<Values, std::vector<float>>)
          result.values = std::vector<double>(held->begin(), held->end());
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
