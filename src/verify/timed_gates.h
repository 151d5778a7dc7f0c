// The gates of the stage "times": are the timed calls real, is the time the time, and is it possible? Times
// the candidate against its baselines, interleaved, and judges what was seen.
#pragma once

#include <string>
#include <vector>

#include "baseline/library_release.h"
#include "execute/timing.h"
#include "machine/machine.h"
#include "oracle/expected.h"
#include "verify/statistics.h"
#include "verify/verdict.h"

namespace kforge {

// A program to time against.
struct Opponent {
  std::string name, what;
  ProgramSpec spec;
  bool try_one_thread = false;  // small problems may be quicker on one thread: take the better
  bool baseline = true;         // false: an earlier program of the same search
  int threads = 0;              // known to be the better count from an earlier judging; 0: not known
  // A library that passed the gates: what it computes may stand for the truth. A user's file may not, it may
  // be the candidate itself.
  bool witness = false;
  LibraryRelease release = {};  // of a library
};

struct OpponentTimes {
  std::string name, what;
  Interval ns;                  // per call
  Interval speedup;             // of the candidate over it: paired ratio
  std::vector<double> samples;  // per round
  bool baseline = true;
  int better_threads = 0;  // one or all, where one of them was clearly quicker; 0: neither, or not tried
  LibraryRelease release = {};
};

struct AbsentOpponent {
  std::string name, reason;  // it failed or gave wrong values: unavailable, never a win
};

struct TimedFindings {
  Interval ns;  // of the candidate, per call
  std::vector<double> samples;
  std::vector<OpponentTimes> opponents;  // fastest first
  std::vector<AbsentOpponent> absent;
  int rounds = 0;
  std::uint32_t batch = 1;    // calls per sample of the candidate
  double message_ns = 0;      // taken off the wall time of every batch
  int dropped = 0;            // rounds dropped because of steal time
  double spread = 0;          // (q3 - q1) / median
  double thread_use = 0;      // cpu time / (wall time * threads)
  int computing_threads = 0;  // of the candidate: those that took part in a typical batch; 0: not known
  MachineLoad load;
  double call_seconds = 0;  // spent inside calls of all programs
  double spin_seconds = 0;  // spent warming cores and evicting caches
  Usage usage;
};

struct TimedOptions {
  TimingOptions timing;
  std::uint64_t seed = 0;  // of the timed inputs, drawn after the build
  double hopeless = 0.2;   // stop early once surely slower than this times the quickest opponent
  // Where the process that tells what a message takes is kept for the next judging; null: it is not. It runs
  // KForge's own runner and never loads a program.
  std::unique_ptr<ProgramProcess>* echo = nullptr;
};

// Records its gates in the verdict; findings mean something only when the verdict has not failed.
Result<TimedFindings> judge_times(const JudgeContext& context, const ProgramSpec& candidate,
                                  const std::vector<Opponent>& opponents, const TimedOptions& options,
                                  Peaks& peaks, Verdict& verdict);

}  // namespace kforge
