#include "smith/graph/handwriting.h"

#include <cstring>

namespace kforge::smith {
namespace {

template <class T>
Value table(Lowering& l, const std::string& hint, DType dtype, const Shape& shape,
            const std::vector<T>& values) {
  ConstantTensor tensor{.dtype = dtype, .shape = shape};
  tensor.data.resize(values.size() * sizeof(T));
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return constant_value(l, hint, tensor);
}

}  // namespace

std::string filled(std::string_view text, const std::map<std::string, std::string>& holes) {
  std::string result(text);
  for (const auto& [name, value] : holes) {
    const std::string mark = "%" + name + "%";
    for (std::size_t at = 0; (at = result.find(mark, at)) != std::string::npos; at += value.size())
      result.replace(at, mark.size(), value);
  }
  return result;
}

Value stored(Lowering& l, const Value& x, const std::string& hint) {
  const bool narrow = x.dtype == DType::kFloat16 || x.dtype == DType::kBFloat16;
  return x.tensor.empty() || narrow ? l.materialize(x, hint) : x;
}

Value table_of(Lowering& l, const std::string& hint, const Shape& shape, const std::vector<double>& values) {
  return table(l, hint, DType::kFloat32, shape, std::vector<float>(values.begin(), values.end()));
}
Value table_of(Lowering& l, const std::string& hint, const Shape& shape,
               const std::vector<std::int64_t>& values) {
  return table(l, hint, DType::kInt64, shape, values);
}

}  // namespace kforge::smith
