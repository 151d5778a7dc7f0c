#include "execute/fill.h"

#include <sys/mman.h>

namespace kforge {
namespace {

constexpr std::size_t kLarge = 4 << 20;

// Whole pages of a large tensor; nothing of a small one.
std::span<std::byte> large_pages(std::span<std::byte> tensor) {
  constexpr std::uintptr_t kPage = 4096;
  if (tensor.size() < kLarge) return {};
  auto begin = (reinterpret_cast<std::uintptr_t>(tensor.data()) + kPage - 1) / kPage * kPage;
  auto end = reinterpret_cast<std::uintptr_t>(tensor.data() + tensor.size()) / kPage * kPage;
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

// All at once is several times quicker than page by page as they are written to. (Linux before 5.14 says no:
// then they come page by page.)
void bring_in(std::span<std::byte> to_write) {
  auto pages = large_pages(to_write);
  if (!pages.empty()) (void)::madvise(pages.data(), pages.size(), MADV_POPULATE_WRITE);
}

// What was written is for the program, and stays in the shared memory. Out of this process's view it goes, as
// its next use is far away: with several slots and programs it would be many times the tensors.
void let_go(std::span<std::byte> written) {
  auto pages = large_pages(written);
  if (!pages.empty()) (void)::madvise(pages.data(), pages.size(), MADV_DONTNEED);
}

}  // namespace

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
