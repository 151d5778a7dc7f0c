// A seed that nobody can guess: from the kernel's random source.
#pragma once

#include <cstdint>

namespace kforge {

std::uint64_t random_seed();

}  // namespace kforge
