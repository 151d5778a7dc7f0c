// Intermediate tensors share memory where no step of a call needs both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace kforge::smith {

// Steps of a call, in order, that use it; it is written by the first before anybody reads it.
struct PlannedBuffer {
  std::string name;
  std::int64_t bytes = 0;
  std::size_t first = 0, last = 0;
};

struct MemoryPlan {
  std::map<std::string, std::int64_t> offsets;  // whole cache lines
  std::int64_t bytes = 0;                       // of all together
  std::int64_t apart = 0;                       // what they would take without sharing
};

// The largest first, each as low as those that live at the same time allow.
MemoryPlan plan_memory(std::vector<PlannedBuffer> buffers);

}  // namespace kforge::smith
