// What a run says of itself while it works, for whoever watches from another process: a small file beside its
// lock, replaced now and then, gone with the run. Nothing is decided by it; a run whose file is lost goes on
// all the same.
#pragma once

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace kforge {

struct LiveStatus {
  std::string stage;       // "attempt 3: timing"
  std::string detail;      // of the stage
  double fraction = 0;     // of the stage, 0 to 1
  bool searching = false;  // the clock of the search runs
  double clock = 0;        // its seconds when this was written
  double age = 0;          // seconds since then; known to readers
};

// Every new stage is written, and how far it is at most every kEvery.
class LiveStatusFile {
 public:
  static constexpr std::chrono::milliseconds kEvery{500};

  LiveStatusFile(const std::filesystem::path& home, std::string_view run);
  ~LiveStatusFile();
  LiveStatusFile(const LiveStatusFile&) = delete;
  LiveStatusFile& operator=(const LiveStatusFile&) = delete;

  void tell(const LiveStatus& status, bool new_stage);

 private:
  std::filesystem::path file_;
  std::mutex mutex_;
  std::chrono::steady_clock::time_point written_{};
};

// Nothing: the run says nothing (it has ended, or is of an older KForge).
std::optional<LiveStatus> live_status(const std::filesystem::path& home, std::string_view run);

}  // namespace kforge
