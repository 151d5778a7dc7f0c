// Expressions in a device language: one element, by one thread.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "smith/device/dialect.h"
#include "smith/loops/loops.h"

namespace kforge::smith {

struct DeviceScope {
  const Dialect* dialect = nullptr;
  const std::map<std::string, TensorInfo>* tensors = nullptr;
  std::map<std::string, std::string> registers;  // tensors of one element that are variables of the thread
  std::set<std::string>* used = nullptr;         // functions of kernels/device/
  int* counter = nullptr;                        // for names of intermediate results

  std::string name(const std::string& name) const { return dialect->identifier(name); }
};

// Statements that compute the value, ending in an expression for it.
struct DeviceValue {
  std::vector<std::string> lines;
  std::string text;
};
DeviceValue device_value(const DeviceScope& scope, const Expr& e);

// An index (int) as text.
std::string index_text(const DeviceScope& scope, const Expr& position);
// A statement that stores a value of the given type.
std::string device_store(const DeviceScope& scope, const TensorInfo& tensor, const Shape& view,
                         const std::vector<Expr>& position, const std::string& value);
// combine(a, b) as an expression.
std::string combine_text(const DeviceScope& scope, Combine combine, Type type, const std::string& a,
                         const std::string& b);
std::string identity_text(const DeviceScope& scope, Combine combine, Type type);
// What elements of a tensor are declared as outside of buffers: narrow floats are kept as float.
std::string element_type(const DeviceScope& scope, const TensorInfo& tensor);
bool is_local(const TensorInfo& tensor);

// Functions that are not in the language, in the order they need each other.
std::string device_prelude(const Dialect& dialect, const std::set<std::string>& used);

}  // namespace kforge::smith
