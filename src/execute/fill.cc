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
    const std::span<std::byte> tensor = memory.inputs.tensor(a, slot);
    if (!memory.inputs.stays_in_view()) bring_in(tensor);
    fill_chosen(task, a, choice, tensor);
    memory.inputs.set_canaries(a, slot);
    if (!memory.inputs.stays_in_view()) let_go(tensor);
  }
}

void reset_outputs(const BoundTask& task, const TensorMemory& outputs, const InputChoice& choice,
                   std::uint32_t slot) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    if (argument.role != Role::kOutput && argument.role != Role::kInout) continue;
    const std::span<std::byte> tensor = outputs.tensor(a, slot);
    if (argument.role == Role::kOutput) {
      in_pieces(tensor, outputs.stays_in_view(),
                [&](std::span<std::byte> piece) { poison(argument.dtype, choice.seed, piece); });
    } else {
      if (!outputs.stays_in_view()) bring_in(tensor);
      fill_chosen(task, a, choice, tensor);
      if (!outputs.stays_in_view()) let_go(tensor);
    }
    outputs.set_canaries(a, slot);
  }
}

}  // namespace kforge
