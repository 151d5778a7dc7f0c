#include "execute/fill.h"

#include "execute/page_view.h"

namespace kforge {

void fill_params(const BoundTask& task, const InputMemory& memory, const InputChoice& choice) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    if (task.arguments[a].role != Role::kParam) continue;
    bring_in(memory.params.tensor(a, 0));
    fill_chosen(task, a, choice, memory.params.tensor(a, 0));
    memory.params.set_canaries(a, 0);
    let_go(memory.params.tensor(a, 0));
  }
}

void fill_inputs(const BoundTask& task, const InputMemory& memory, const InputChoice& choice,
                 std::uint32_t slot) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    if (task.arguments[a].role != Role::kInput) continue;
    bring_in(memory.inputs.tensor(a, slot));
    fill_chosen(task, a, choice, memory.inputs.tensor(a, slot));
    memory.inputs.set_canaries(a, slot);
    let_go(memory.inputs.tensor(a, slot));
  }
}

void reset_outputs(const BoundTask& task, const TensorMemory& outputs, const InputChoice& choice,
                   std::uint32_t slot) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    const bool written = argument.role == Role::kOutput || argument.role == Role::kInout;
    if (written && !outputs.stays_in_view()) bring_in(outputs.tensor(a, slot));
    if (argument.role == Role::kOutput) {
      poison(argument.dtype, choice.seed, outputs.tensor(a, slot));
    } else if (argument.role == Role::kInout) {
      fill_chosen(task, a, choice, outputs.tensor(a, slot));
    } else {
      continue;
    }
    outputs.set_canaries(a, slot);
    if (!outputs.stays_in_view()) let_go(outputs.tensor(a, slot));
  }
}

}  // namespace kforge
