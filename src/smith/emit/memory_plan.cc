#include "smith/emit/memory_plan.h"

#include <algorithm>

namespace kforge::smith {
namespace {

// A vector may be read past the end of a tensor; two lines keep it inside of the memory.
constexpr std::int64_t kLine = 64, kSlack = 2 * kLine;

struct Placed {
  PlannedBuffer buffer;
  std::int64_t offset = 0;
  std::int64_t end() const { return offset + buffer.bytes; }
};

}  // namespace

MemoryPlan plan_memory(std::vector<PlannedBuffer> buffers) {
  MemoryPlan plan;
  for (PlannedBuffer& buffer : buffers) {
    buffer.bytes = (buffer.bytes + kLine - 1) / kLine * kLine + kSlack;
    plan.apart += buffer.bytes;
  }
  std::ranges::stable_sort(buffers, std::greater(), &PlannedBuffer::bytes);
  std::vector<Placed> placed;
  for (const PlannedBuffer& buffer : buffers) {
    std::vector<const Placed*> beside;
    for (const Placed& other : placed)
      if (other.buffer.first <= buffer.last && buffer.first <= other.buffer.last) beside.push_back(&other);
    std::ranges::sort(beside, {}, &Placed::offset);
    std::int64_t offset = 0;
    for (const Placed* other : beside) {
      if (offset + buffer.bytes <= other->offset) break;
      offset = std::max(offset, other->end());
    }
    placed.push_back({buffer, offset});
    plan.offsets[buffer.name] = offset;
    plan.bytes = std::max(plan.bytes, placed.back().end());
  }
  return plan;
}

}  // namespace kforge::smith
