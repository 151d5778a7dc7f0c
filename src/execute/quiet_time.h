// Processes are started ahead of their turn in the background: a search leaves a processor idle while it
// compiles. Not while something is timed: then what is on its way up is stopped, and nothing is begun.
#pragma once

#include <stop_token>

#include "sandbox/sandbox.h"

namespace kforge {

// While one lives, nothing starts in the background. They may be nested.
class QuietTime {
 public:
  QuietTime();
  ~QuietTime();
  QuietTime(const QuietTime&) = delete;
  QuietTime& operator=(const QuietTime&) = delete;
};

// A process that starts in the background: one at a time, unless somebody waits for one. Waits for its turn,
// and for the end of a quiet time.
class BackgroundStart {
 public:
  explicit BackgroundStart(const std::stop_token& stop);
  ~BackgroundStart();
  BackgroundStart(const BackgroundStart&) = delete;
  BackgroundStart& operator=(const BackgroundStart&) = delete;

  // False: `stop` was requested first.
  bool granted() const { return granted_; }
  // The process that is on its way up: stopped in quiet times until released. Both are for one thread.
  void watch(SandboxedProcess& process);
  void release();

 private:
  bool granted_ = false;
  SandboxedProcess* process_ = nullptr;
};

// While one lives, somebody waits for a process: they start side by side.
class Hurry {
 public:
  Hurry();
  ~Hurry();
  Hurry(const Hurry&) = delete;
  Hurry& operator=(const Hurry&) = delete;
};

}  // namespace kforge
