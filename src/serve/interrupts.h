// Asks the process that works on a run or a suite to end, wherever it was started: once, because a second
// Ctrl-C would mean to leave at once, without the best so far.
#pragma once

#include <filesystem>
#include <mutex>
#include <set>
#include <string>

#include "base/result.h"

namespace kforge::serve {

class Interrupts {
 public:
  // Of whoever holds this lock. Again: nothing more happens, as long as that process lives.
  Result<void> ask(const std::filesystem::path& lock);
  // Whether its holder was asked from here.
  bool asked(const std::filesystem::path& lock);

 private:
  std::mutex mutex_;
  std::set<std::string> done_;  // the locks, each with what its holder has noted in it
};

}  // namespace kforge::serve
