// What a run has tried so far, as the strategies see it: proposals and what came of them. Strategies are pure
// functions of this, so that a resumed run decides as the killed one would have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generate/plan.h"

namespace kforge {

// What is to be made next, by whom and from what.
struct Proposal {
  Pass pass = Pass::kFunctional;
  int parent = -1;       // attempt to repair or to go on from; -1: from nothing
  int rival = -1;        // verified attempt it has to beat; -1: none
  int inspiration = -1;  // another verified attempt whose ideas may be taken; -1: none
  int lane = 0;          // which of several lines of descent it belongs to
  int generator = 0;     // which of the agents given
};

// One attempt with its proposal. `attempt` holds what agents are shown.
struct Trial {
  Proposal proposal;
  Attempt attempt;
  bool better = false;  // verified, and surely faster than its rival (or the first of its lane)

  bool verified() const { return attempt.outcome == "passed"; }
};

struct History {
  std::vector<Trial> trials;  // judged, in order of their numbers (trials[i].attempt.number == i + first)

  const Trial* find(int number) const;
  // The fastest verified of a lane (-1: of all): the last one that beat its rival. nullptr: none is verified.
  const Trial* best(int lane = -1) const;
  // How many failed attempts in a row, each repairing the one before, end at this one.
  int failures_in_a_row(const Trial& trial) const;
  int children(int number) const;
};

// The figure by which verified attempts are ranked: larger is faster. Over the fastest baseline where there
// is one; by the cost model where nothing is timed (a run has the one or the other).
double worth(const Attempt& attempt);

}  // namespace kforge
