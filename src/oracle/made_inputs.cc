#include "oracle/made_inputs.h"

namespace kforge {

MadeInputs make_inputs(const BoundTask& task, const InputChoice& params, const InputChoice& rest) {
  MadeInputs inputs;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const BoundArgument& argument = task.arguments[i];
    if (argument.role == Role::kOutput) continue;
    auto& bytes = inputs.bytes.emplace_back(argument.bytes());
    fill_chosen(task, i, argument.role == Role::kParam ? params : rest, bytes);
    inputs.views.push_back({argument.name, argument.dtype, argument.shape, bytes.data()});
  }
  return inputs;
}

}  // namespace kforge
