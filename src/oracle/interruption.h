// Ctrl-C while the oracle computes. A large task takes it minutes, nearly all of them in parallel_for(): that
// looks here before each of its ranges, so that no operator has to know of it.
#pragma once

#include <stop_token>

namespace kforge {

// What parallel_for() throws then; expected_outputs() gives an Error for it.
struct Interrupted {};

// While it lives, parallel_for() on this thread ends early when a stop is requested.
class Interruptible {
 public:
  explicit Interruptible(const std::stop_token& stop);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

  // That of this thread's innermost one; without one, a token that never is requested.
  static const std::stop_token& current();

 private:
  const std::stop_token* const around_;
};

}  // namespace kforge
