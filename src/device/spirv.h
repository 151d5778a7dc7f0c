// The little of SPIR-V that a plan is compared with: block size, bindings, the push block.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge {

struct SpirvFacts {
  std::array<std::uint32_t, 3> local_size{1, 1, 1};
  std::vector<std::uint32_t> bindings;  // of set 0, ascending
  std::uint32_t push_bytes = 0;         // of the push block; 0: there is none
};

Result<SpirvFacts> read_spirv(std::string_view code);

}  // namespace kforge
