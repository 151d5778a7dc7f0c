// Sizes in a launch plan: integer expressions over the task's dimensions, "ceildiv(B * D, 256)".
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>

namespace kforge {

using PlanSymbols = std::map<std::string, std::int64_t, std::less<>>;

// Numbers, names of symbols, + - * / % and parentheses, ceildiv(a, b), min(a, b), max(a, b). Everything is
// exact: a division by zero, an overflow and a name that is not known are errors, in a sentence.
std::expected<std::int64_t, std::string> evaluate_plan_expr(std::string_view text,
                                                            const PlanSymbols& symbols);

}  // namespace kforge
