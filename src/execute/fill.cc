#include "execute/fill.h"

#include <sys/mman.h>

namespace kforge {
namespace {

// What was written is for the program, and stays in the shared memory. Out of this process's view it goes, as
// its next use is far away: with several slots and programs it would be many times the tensors.
void let_go(std::span<std::byte> written) {
  constexpr std::size_t kSmall = 4 << 20;
  constexpr std::uintptr_t kPage = 4096;
  if (written.size() < kSmall) return;
  auto begin = (reinterpret_cast<std::uintptr_t>(written.data()) + kPage - 1) / kPage * kPage;
  auto end = reinterpret_cast<std::uintptr_t>(written.data() + written.size()) / kPage * kPage;
  (void)::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

}  // namespace

void fill_params(const BoundTask& task, const InputMemory& memory, const InputChoice& choice) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    if (task.arguments[a].role != Role::kParam) continue;
    fill_chosen(task, a, choice, memory.params.tensor(a, 0));
    memory.params.set_canaries(a, 0);
    let_go(memory.params.tensor(a, 0));
  }
}

void fill_inputs(const BoundTask& task, const InputMemory& memory, const InputChoice& choice,
                 std::uint32_t slot) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    if (task.arguments[a].role != Role::kInput) continue;
    fill_chosen(task, a, choice, memory.inputs.tensor(a, slot));
    memory.inputs.set_canaries(a, slot);
    let_go(memory.inputs.tensor(a, slot));
  }
}

void reset_outputs(const BoundTask& task, const TensorMemory& outputs, const InputChoice& choice,
                   std::uint32_t slot) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    if (argument.role == Role::kOutput) {
      poison(argument.dtype, choice.seed, outputs.tensor(a, slot));
    } else if (argument.role == Role::kInout) {
      fill_chosen(task, a, choice, outputs.tensor(a, slot));
    } else {
      continue;
    }
    outputs.set_canaries(a, slot);
    let_go(outputs.tensor(a, slot));
  }
}

}  // namespace kforge
