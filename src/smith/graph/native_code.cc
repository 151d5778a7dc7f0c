#include "smith/graph/native_code.h"

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
