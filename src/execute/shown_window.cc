#include "execute/shown_window.h"

#include <cstring>

#include "base/random_seed.h"

namespace kforge {
namespace {

constexpr std::size_t kWindowBytes = std::size_t{8} << 20;

// A guard that candidates cannot know.
std::vector<std::byte> draw_guard() {
  std::vector<std::byte> guard(KFORGE_GUARD_BYTES);
  std::uint64_t state = random_seed() | 1;
  for (std::byte& byte : guard) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    byte = static_cast<std::byte>(state >> 32);
  }
  return guard;
}

}  // namespace

Result<ShownWindow> ShownWindow::create(const BoundTask& task, const InputMemory& inputs) {
  std::vector<ShownCheck::Tensor> tensors;
  for (const BoundArgument& argument : task.arguments)
    tensors.push_back({argument.c_name, argument.bytes(), argument.role == Role::kParam,
                       argument.role == Role::kOutput || argument.role == Role::kInout});
  ShownWindow made(inputs, std::move(tensors), draw_guard());
  KF_TRY(made.fd_, make_memfd("device-window", kWindowBytes));
  KF_TRY(made.map_, Mapping::map(made.fd_.get(), kWindowBytes, true));
  const auto& guard = made.check_.guard();
  std::memcpy(made.map_.data(), guard.data(), guard.size());
  return made;
}

void ShownWindow::note_params() {
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (tensors_[i].param) check_.note(i, 0, inputs_->params.tensor(i, 0));
}

void ShownWindow::note_inputs(std::span<const std::uint32_t> slots) {
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (!tensors_[i].param && !tensors_[i].output)
      for (const std::uint32_t slot : slots) check_.note(i, slot, inputs_->inputs.tensor(i, slot));
}

Step<bool> ShownWindow::look(std::span<const std::uint32_t> slots, const Ask& ask) {
  check_.begin(slots.empty());
  for (std::uint64_t part = 0;; part = 1) {
    KF_STEP(const bool more, ask(part));
    // The program is stopped: what is seen stays as it is.
    if (auto broken = check_.look(map_.bytes())) return candidate_failed(Rejected{Gate::kMemory, *broken});
    if (!more) break;
  }
  if (auto broken = check_.end(slots)) return candidate_failed(Rejected{Gate::kMemory, *broken});
  return true;
}

}  // namespace kforge
