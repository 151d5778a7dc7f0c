// When a library that serves as a rival came out. A factor over a library of years ago says little about what
// somebody could install today, so such a rival is marked wherever its ratio stands.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace kforge {

struct LibraryRelease {
  std::string version;   // "1.13.0"; empty: the rival is no library
  std::string released;  // "2022-10", "before 2022-10"; empty: not known
  bool old = false;      // more than two years ago
};

// By a table of the releases up to 2025; OpenVINO's versions begin with their year. A version newer than the
// table has no date and is not old.
LibraryRelease library_release(std::string_view library, std::string_view version,
                               std::chrono::year_month today);
std::chrono::year_month current_month();

// "torch 1.13.0 (2022-10: old)", "onnxruntime 1.31.1".
std::string to_string(std::string_view library, const LibraryRelease& release);

}  // namespace kforge
