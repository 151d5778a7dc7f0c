// Processes that are started before there is a program to load: starting one takes longer than judging a
// small kernel, and a processor is idle while the compiler works. Libraries of Python take seconds to import.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "execute/program_process.h"

namespace kforge {

class WaitingRunners {
 public:
  // When they start: now, beside what this process does; or in the background of it, see quiet_time.h.
  enum class When { kNow, kInBackground };
  // One process for each number of threads, started one after the other.
  WaitingRunners(ProgramSpec spec, const std::vector<int>& threads, std::chrono::milliseconds limit,
                 When when = When::kNow);
  ~WaitingRunners();  // ends those that nobody took
  WaitingRunners(const WaitingRunners&) = delete;
  WaitingRunners& operator=(const WaitingRunners&) = delete;

  // One with that many threads, waited for where it is about to come; null when there is none left or it
  // did not start (starting it again says why).
  std::unique_ptr<ProgramProcess> take(int threads);

 private:
  struct Place {
    int threads = 1;
    bool settled = false;  // it has started, or never will
    bool taken = false;
    std::unique_ptr<ProgramProcess> runner;
  };
  void start_all(const std::stop_token& stop, std::chrono::milliseconds limit, When when);

  ProgramSpec spec_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Place> places_;
  std::jthread starter_;  // last: it uses all of the above
};

}  // namespace kforge
