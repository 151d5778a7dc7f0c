// kforge.Opaque: a PyTorch module computes it, in a process of its own.
#include "oracle/opaque.h"

#include <cstring>

#include "oracle/call.h"

namespace kforge {
namespace {

std::shared_ptr<OpaqueModules>& installed() {
  static std::shared_ptr<OpaqueModules> modules;
  return modules;
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T, class From>
std::vector<T> values_of(const std::vector<std::byte>& bytes, std::size_t count) {
  if (bytes.size() != count * sizeof(From)) refuse("a result of the module came in part");
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, bytes.data() + i * sizeof(From), sizeof value);
    values[i] = static_cast<T>(value);
  }
  return values;
}

const std::vector<std::string>& words(const Node& node, const std::string& name) {
  return std::get<std::vector<std::string>>(node.attributes.at(name));  // checked on loading
}

template <class F>
OpaqueCall request_of(const Call<F>& call) {
  OpaqueCall request;
  request.wide = std::is_same_v<F, double>;
  request.source = call.node.string_attr("source", "");
  const auto& names = words(call.node, "numbers");
  const auto& arguments = words(call.node, "arguments");
  const auto& numbers = call.ints(0);
  if (numbers.size() != names.size()) refuse("{} numbers have {} names", numbers.size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) request.numbers[names[i]] = numbers[i];
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Tensor<F>& tensor = call.in(i + 1);
    constexpr std::size_t kPrefix = 6;  // "input:", "state:"
    request.tensors.push_back({arguments[i].substr(kPrefix), arguments[i].starts_with("state:"),
                               tensor.dtype(), tensor.shape(),
                               tensor.has_floats() ? bytes_of(tensor.floats()) : bytes_of(tensor.ints())});
  }
  return request;
}

}  // namespace

void set_opaque_modules(std::shared_ptr<OpaqueModules> modules) { installed() = std::move(modules); }
std::shared_ptr<OpaqueModules> opaque_modules() { return installed(); }

KF_ORACLE_OPERATOR(Opaque) {
  auto modules = opaque_modules();
  if (!modules) refuse_unsupported("nothing here runs PyTorch modules");
  auto results = modules->run(request_of(call));
  if (!results) throw Refusal{results.error().text(), false, true};
  const auto& types = words(call.node, "types");
  if (results->size() != types.size())
    refuse("the module gives {} tensors where the task has {}", results->size(), types.size());
  Outputs<F> outputs;
  for (std::size_t i = 0; i < types.size(); ++i) {
    const OpaqueTensor& one = (*results)[i];
    const DType dtype = *dtype_from_name(types[i]);
    const auto count = static_cast<std::size_t>(checked_count(one.shape));
    if (is_float(dtype) != is_float(one.dtype)) refuse("result {} of the module is no {}", i, types[i]);
    if (is_float(dtype) && one.dtype == DType::kFloat64)
      outputs.emplace_back(dtype, one.shape, values_of<F, double>(one.data, count));
    else if (is_float(dtype))
      outputs.emplace_back(dtype, one.shape, values_of<F, float>(one.data, count));
    else
      outputs.emplace_back(dtype, one.shape, values_of<std::int64_t, std::int64_t>(one.data, count));
  }
  return outputs;
}

KF_ORACLE_INSTANTIATE(Opaque)

}  // namespace kforge
