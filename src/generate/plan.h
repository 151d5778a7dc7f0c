// What the next candidate is to be, and what was tried before it. Declared here because the generation agent
// reads it; search/ fills it from the history and the analyst's advice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/candidate.h"

namespace kforge {

enum class Pass : std::uint8_t { kFunctional, kOptimization };
std::string_view name_of(Pass pass);  // "functional", "optimization"

// One change the performance-analysis agent recommends.
struct Advice {
  std::string bottleneck;    // "memory bandwidth"
  std::string evidence;      // the figures it rests on
  std::string change;        // one concrete instruction
  double expected_gain = 1;  // factor on the time: 1.3 is 30 % faster
  double confidence = 0.5;   // 0 to 1
  std::string tag;           // from a fixed list: "vectorize", "tile", "fuse", ...
  std::string by;            // "rules", or the model's name
};

// One attempt as the agents are shown it.
struct Attempt {
  int number = 0;
  int parent = -1;  // attempt it was derived from; -1: none
  Pass pass = Pass::kFunctional;
  std::string change;                 // one line: what was done
  Candidate program;                  // empty files: no program came
  std::string outcome;                // "passed", "compile_error", ...
  std::string gate, reason;           // when not passed
  std::string evidence;               // JSON of the refusal, may be empty
  std::optional<double> time_ns;      // when passed and timed
  std::optional<double> modelled_ns;  // by the platform's cost model, where nothing is timed
  std::optional<double> speedup, speedup_lo, speedup_hi;  // over the fastest baseline
  bool accepted = false;                                  // became the best
  std::optional<Advice> advice;                           // it was made on
  int rival = -1;                                         // attempt it had to beat, where that is known
  std::optional<double> gain;  // measured factor over that one, for advice that is checked afterwards,
  std::optional<double> gain_lo, gain_hi;  // and the interval that decided whether it was kept
};

struct Plan {
  Pass pass = Pass::kFunctional;
  int attempt = 0;                      // number of the candidate to be made
  const Attempt* best = nullptr;        // fastest verified so far
  const Attempt* last = nullptr;        // the one to repair or to go on from
  std::vector<const Attempt*> history;  // all, oldest first
  std::optional<Advice> advice;         // optimization pass
  std::string instruction;              // the one instruction of this turn
  std::optional<Candidate> reference;   // a working kernel for another platform
  std::string reference_platform;
  // What profile/ found about `last`, as text (profile_summary(), hot_loop_of()); empty: not shown.
  std::string profile, hot_loop;
};

}  // namespace kforge
