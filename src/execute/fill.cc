#include "execute/fill.h"

#include <sys/mman.h>

#include <cstring>
#include <random>

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

void fill_params(const BoundTask& task, const InputMemory& memory, InputChoice choice) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    if (task.arguments[a].role != Role::kParam) continue;
    fill_argument(task.arguments[a], choice.kind, choice.seed, a, memory.params.tensor(a, 0));
    memory.params.set_canaries(a, 0);
    let_go(memory.params.tensor(a, 0));
  }
}

void fill_inputs(const BoundTask& task, const InputMemory& memory, InputChoice choice, std::uint32_t slot) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    if (task.arguments[a].role != Role::kInput) continue;
    fill_argument(task.arguments[a], choice.kind, choice.seed, a, memory.inputs.tensor(a, slot));
    memory.inputs.set_canaries(a, slot);
    let_go(memory.inputs.tensor(a, slot));
  }
}

void reset_outputs(const BoundTask& task, const TensorMemory& outputs, InputChoice choice,
                   std::uint32_t slot) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    if (argument.role == Role::kOutput) {
      poison(argument.dtype, choice.seed, outputs.tensor(a, slot));
    } else if (argument.role == Role::kInout) {
      fill_argument(argument, choice.kind, choice.seed, a, outputs.tensor(a, slot));
    } else {
      continue;
    }
    outputs.set_canaries(a, slot);
    let_go(outputs.tensor(a, slot));
  }
}

void disturb_inputs(const BoundTask& task, const InputMemory& memory, std::uint64_t seed,
                    std::uint32_t slot) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    if (argument.role != Role::kInput) continue;
    auto data = memory.inputs.tensor(a, slot);
    std::vector<std::byte> other(data.size());
    fill_argument(argument, InputKind::kOwn, ~seed, a, other);
    std::size_t size = size_of(argument.dtype), elements = data.size() / size;
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < elements / 256 + 2 && elements > 0; ++i) {
      std::size_t at = random() % elements * size;
      std::memcpy(data.data() + at, other.data() + at, size);
    }
  }
}

}  // namespace kforge
