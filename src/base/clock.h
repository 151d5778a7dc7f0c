// The two clocks: how long something took, and the date of a record.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace kforge {

double seconds_since(std::chrono::steady_clock::time_point start);

// "2026-03-01T12:00:00Z"
std::string utc_now();
// "2026-11-17 05:37" of such a text, for lists.
std::string minute_of(std::string_view utc);

}  // namespace kforge
