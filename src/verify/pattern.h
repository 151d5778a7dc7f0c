// What the wrong elements of an output have in common: the hint that lets a person or an agent find the bug.
#pragma once

#include <span>
#include <string>

#include "verify/compare.h"

namespace kforge {

// One phrase such as "only the last row is wrong" or "every value is 2 times too large"; empty when nothing
// stands out. REQUIRES: found.wrong > 0.
std::string error_pattern(const ExpectedOutput& expected, std::span<const std::byte> actual,
                          const CompareOptions& options, const Comparison& found);

}  // namespace kforge
