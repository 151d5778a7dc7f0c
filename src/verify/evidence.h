// What a comparison found, as evidence and as a sentence.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/evidence.h"
#include "verify/compare.h"

namespace kforge {

// [2, 17] for a flat index into a shape.
std::vector<std::int64_t> unflatten(const Shape& shape, std::int64_t index);

// Worst elements with their indices, the pattern, the first wrong index, the share that is wrong, the error
// by region (eighths of the flat output).
ComparedOutput compared_output(const ExpectedOutput& expected, std::span<const std::byte> actual,
                               const Comparison& found, std::string_view input_kind);

// One sentence: "37 of 4096 elements of y are outside the fp32 policy on heavy_tail inputs; worst y[3,17] =
// ..., must be ...".
std::string comparison_sentence(const ExpectedOutput& expected, const Comparison& found,
                                std::string_view policy, std::string_view input_kind);

}  // namespace kforge
