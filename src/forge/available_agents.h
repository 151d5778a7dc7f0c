// Which of a run's generators still answer. One whose service fails is set aside and its turn goes to the
// next; only when none is left has the run nobody to write. What is set aside is not recorded: a resumed run
// asks everybody again, because services come back. Used from the threads that ask.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"

namespace kforge {

class AvailableAgents {
 public:
  AvailableAgents() = default;
  explicit AvailableAgents(int generators) : failed_(static_cast<std::size_t>(generators)) {}

  // This one if it still answers, else the next one in turn that does; nothing: none does.
  std::optional<int> working(int generator) const;
  // True when it was still asked: the one who says so tells the user.
  bool set_aside(int generator, const Error& why);
  // Why this one was set aside; nothing: it still answers.
  std::optional<Error> failure(int generator) const;
  // Why the last one failed; REQUIRES that one has.
  Error last_failure() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::optional<Error>> failed_;
  std::optional<Error> last_;
};

}  // namespace kforge
