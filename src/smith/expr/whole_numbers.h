// Sizes rounded up.
#pragma once

namespace kforge::smith {

constexpr long ceil_div(long a, long b) { return (a + b - 1) / b; }
constexpr long round_up(long a, long b) { return ceil_div(a, b) * b; }
// Floats that fill whole cache lines.
constexpr long whole_cache_lines(long floats) { return round_up(floats, 16); }

}  // namespace kforge::smith
