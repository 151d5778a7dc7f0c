// The window through which a device program's process shows the memory of its device, and who looks through
// it.
#pragma once

#include <functional>

#include "base/failure.h"
#include "device/shown_check.h"
#include "execute/tensor_memory.h"

namespace kforge {

class ShownWindow {
 public:
  // REQUIRES: `inputs` outlives this.
  static Result<ShownWindow> create(const BoundTask& task, const InputMemory& inputs);

  int fd() const { return fd_.get(); }
  std::size_t bytes() const { return map_.size(); }

  // What the program is about to be handed.
  void note_params();
  void note_inputs(std::span<const std::uint32_t> slots);

  // `ask` fills the window (0: from the beginning, 1: what follows) and says whether there is more. With no
  // slots: what prepare made. Fails with Rejected by gate "memory".
  using Ask = std::function<Step<bool>(std::uint64_t)>;
  Step<bool> look(std::span<const std::uint32_t> slots, const Ask& ask);

 private:
  ShownWindow(const InputMemory& inputs, std::vector<ShownCheck::Tensor> tensors,
              std::vector<std::byte> guard)
      : inputs_(&inputs), tensors_(tensors), check_(std::move(tensors), std::move(guard)) {}

  const InputMemory* inputs_;
  std::vector<ShownCheck::Tensor> tensors_;
  ShownCheck check_;
  Fd fd_;
  Mapping map_;
};

}  // namespace kforge
