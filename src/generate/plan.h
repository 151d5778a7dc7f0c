// What the next candidate is to be, and what was tried before it. Declared here because the generation agent
// reads it; search/ fills it from the history and the analyst's advice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generate/attempt.h"

namespace kforge {

struct Plan {
  Pass pass = Pass::kFunctional;
  int attempt = 0;                       // number of the candidate to be made
  const Attempt* best = nullptr;         // fastest verified of the run so far
  const Attempt* last = nullptr;         // the one to repair or to go on from
  std::vector<const Attempt*> history;   // all, oldest first
  std::optional<Advice> advice;          // optimization pass
  const Attempt* inspiration = nullptr;  // another verified one whose ideas may be taken; null: none
  std::string instruction;               // the one instruction of this turn; empty: the usual one
  std::string apart;                     // what sets it apart from others made from the same place
  std::optional<Candidate> reference;    // a working kernel for another platform
  std::string reference_platform;
  // What profile/ found about `last`, as text (profile_summary(), hot_loop_of()); empty: not shown.
  std::string profile, hot_loop;
};

}  // namespace kforge
