// A profile made elsewhere, in whatever form its tool writes: tables of nsys, ncu and rocprof, perf stat, a
// callgrind.out file, or a picture of a profiler's window.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "profile/profile.h"

namespace kforge {

inline constexpr std::size_t kMostProfileBytes = 64 << 20;

// `name` is for messages and sources. What it is is seen from the content. An Error says which forms are
// known.
Result<Profile> read_profile(const std::string& content, std::string_view name);

}  // namespace kforge
