#include "smith/graph/check_program.h"

#include <set>

namespace kforge::smith {
namespace {

using Where = TensorInfo::Where;

Result<> check_stage(const Program& program, const Stage& stage) {
  for (const std::string& name : writes_of(stage)) {
    const auto found = program.tensors.find(name);
    if (found == program.tensors.end()) return fail("'{}' is written and not known", name);
    const Where where = found->second.where;
    if (where == Where::kInput || where == Where::kParam || where == Where::kConstant)
      return fail("'{}' is written and may not change", name);
  }
  if (stage.native) return {};
  if (!stage.body) return fail("'{}' has no value", stage.tensor);
  if (stage.dims.size() != stage.view.size())
    return fail("'{}' has {} dimensions and {} variables", stage.tensor, stage.view.size(),
                stage.dims.size());
  if (element_count(stage.view) != element_count(program.tensor(stage.tensor).shape))
    return fail("'{}' is defined under a view of another size", stage.tensor);
  if (stage.reduced.empty() && stage.combine != Combine::kNone && stage.scan_axis < 0)
    return fail("'{}' combines over nothing", stage.tensor);
  if (stage.scan_axis >= static_cast<int>(stage.dims.size()))
    return fail("'{}' runs along a dimension it does not have", stage.tensor);
  return {};
}

Result<> check_stages(const Program& program, std::set<std::string>& defined) {
  for (const auto& [name, tensor] : program.tensors)
    if (tensor.where != Where::kTemporary && tensor.where != Where::kOutput) defined.insert(name);
  for (const Stage& stage : program.stages) {
    KF_TRY_VOID(check_stage(program, stage));
    for (const std::string& name : reads_of(stage)) {
      if (!program.tensors.contains(name))
        return fail("'{}' reads '{}', which is not known", stage.tensor, name);
      if (!defined.contains(name)) return fail("'{}' reads '{}' before it is defined", stage.tensor, name);
    }
    for (const std::string& name : writes_of(stage)) defined.insert(name);
  }
  return {};
}

}  // namespace

Result<> check_program(const Program& program, const Program& prepared) {
  std::set<std::string> defined;
  KF_TRY_VOID(check_stages(prepared, defined));
  KF_TRY_VOID(check_stages(program, defined));
  for (const auto& [name, tensor] : program.tensors)
    if (tensor.where == Where::kOutput && !defined.contains(name))
      return fail("nothing defines output '{}'", name);
  return {};
}

}  // namespace kforge::smith
