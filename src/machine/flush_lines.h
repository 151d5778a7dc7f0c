// Takes named memory out of every cache of the machine, by the processor's own instruction: exact where
// streaming other data through the caches is a guess, and quick where the last level is large.
#pragma once

#include <cstddef>
#include <span>

namespace kforge {

// Whether this processor lets an ordinary process do so.
bool can_flush_lines();

// REQUIRES: can_flush_lines(). Every line of `memory` is written back and dropped, whichever core holds it
// and whichever process put it there: caches go by physical address.
void flush_lines(std::span<const std::byte> memory);

}  // namespace kforge
