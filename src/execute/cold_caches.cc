#include "execute/cold_caches.h"

#include <algorithm>

#include "execute/page_view.h"
#include "machine/flush_lines.h"

namespace kforge {
namespace {

// Pushes out the second level of today's processors many times over, within the time that cores are kept busy
// anyway.
constexpr std::size_t kShortStream = 32 << 20;
// Params that are a smaller part of what a call moves save it nothing that could be seen.
constexpr std::size_t kSmallPart = 16;

struct TouchedMemory {
  struct Tensor {
    std::span<std::byte> bytes;
    bool stays_in_view = false;
  };
  std::vector<Tensor> tensors;
  std::size_t params = 0, all = 0;  // bytes
};

TouchedMemory touched_by(const BoundTask& task, const InputMemory& inputs, const TensorMemory& outputs,
                         std::span<const std::uint32_t> slots) {
  TouchedMemory touched;
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const Role role = task.arguments[a].role;
    if (role == Role::kParam) {
      touched.tensors.push_back({inputs.params.tensor(a, 0)});
      touched.params += touched.tensors.back().bytes.size();
    } else {
      const TensorMemory& memory = role == Role::kInput ? inputs.inputs : outputs;
      for (std::uint32_t slot : slots)
        touched.tensors.push_back({memory.tensor(a, slot), memory.stays_in_view()});
    }
  }
  for (const TouchedMemory::Tensor& tensor : touched.tensors) touched.all += tensor.bytes.size();
  return touched;
}

}  // namespace

std::size_t flush_tensors(const BoundTask& task, const InputMemory& inputs, const TensorMemory& outputs,
                          std::span<const std::uint32_t> slots, std::size_t full, std::size_t cores) {
  if (!can_flush_lines()) return full;
  const TouchedMemory touched = touched_by(task, inputs, outputs, slots);
  if (touched.all > full * cores) return full;
  for (const TouchedMemory::Tensor& tensor : touched.tensors)
    in_pieces(tensor.bytes, tensor.stays_in_view, flush_lines);
  return touched.params > touched.all / kSmallPart ? full / 2 : std::min(full, kShortStream);
}

}  // namespace kforge
