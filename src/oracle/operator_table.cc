#include "oracle/operator_table.h"

#include <map>
#include <string_view>

#include "oracle/ops/operators.h"

namespace kforge {

template <class F>
Operator<F> find_operator(const Node& node) {
#define KF_ENTRY(name) {#name, op_##name<F>},
  static const std::map<std::string_view, Operator<F>> kTable = {KF_ORACLE_OPERATORS(KF_ENTRY)};
#undef KF_ENTRY
  // Names are unique across the domains; a domain of somebody else's may mean another thing by the same name.
  static constexpr std::string_view kDomains[] = {"", "ai.onnx", "kforge", "ai.onnx.preview.training"};
  if (std::find(std::begin(kDomains), std::end(kDomains), node.domain) == std::end(kDomains)) return nullptr;
  const auto found = kTable.find(node.op);
  return found == kTable.end() ? nullptr : found->second;
}

template Operator<double> find_operator(const Node&);
template Operator<float> find_operator(const Node&);

}  // namespace kforge
