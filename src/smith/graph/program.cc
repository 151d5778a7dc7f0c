#include "smith/graph/program.h"

#include <limits>

namespace kforge::smith {

std::string_view name_of(Combine combine) {
  static constexpr std::string_view kNames[] = {"none", "sum", "product", "max", "min"};
  return kNames[static_cast<std::size_t>(combine)];
}

Expr identity_of(Combine combine, Type type) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (type == Type::kInt || type == Type::kBool) {
    if (combine == Combine::kMax) return integer(std::numeric_limits<std::int64_t>::min());
    if (combine == Combine::kMin) return integer(std::numeric_limits<std::int64_t>::max());
    return integer(combine == Combine::kProduct ? 1 : 0);
  }
  if (combine == Combine::kMax) return number(-infinity, type);
  if (combine == Combine::kMin) return number(infinity, type);
  return number(combine == Combine::kProduct ? 1 : 0, type);
}

Expr combined(Combine combine, const Expr& a, const Expr& b) {
  static constexpr Op kOps[] = {Op::kAdd, Op::kAdd, Op::kMul, Op::kMax, Op::kMin};
  return binary(kOps[static_cast<std::size_t>(combine)], a, b);
}

std::set<std::string> reads_of(const Stage& stage) {
  std::set<std::string> found;
  if (stage.body) found = tensors_of(stage.body);
  if (stage.native) found.insert(stage.native->reads.begin(), stage.native->reads.end());
  return found;
}
std::set<std::string> writes_of(const Stage& stage) {
  if (stage.native) return {stage.native->writes.begin(), stage.native->writes.end()};
  return {stage.tensor};
}

std::string print(const Program& program) {
  std::string text;
  for (const auto& note : program.notes) text += "# " + note + "\n";
  for (const Stage& stage : program.stages) {
    if (stage.native) {
      text += stage.tensor + ": native code (" + stage.label + ")\n";
      continue;
    }
    text += stage.tensor + "[";
    for (std::size_t i = 0; i < stage.dims.size(); ++i)
      text += fmt::format("{}{}<{}", i ? ", " : "", stage.dims[i]->name, stage.view[i]);
    text += "] = ";
    if (stage.scan_axis >= 0) text += fmt::format("running {} ", name_of(stage.combine));
    if (!stage.reduced.empty()) {
      text += std::string(name_of(stage.combine)) + " over";
      for (const Expr& r : stage.reduced) text += fmt::format(" {}<{}", r->name, r->integer);
      text += " of ";
    }
    text += print(stage.body) + (stage.label.empty() ? "" : "   # " + stage.label) + "\n";
  }
  return text;
}

}  // namespace kforge::smith
