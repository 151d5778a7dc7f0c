// What a run has tried so far, as the strategies see it: proposals and what came of them. Strategies are pure
// functions of this, so that a resumed run decides as the killed one would have.
#pragma once

#include <optional>
#include <vector>

#include "generate/attempt.h"

namespace kforge {

struct History {
  std::vector<Attempt> attempts;  // judged, in order of their numbers

  const Attempt* find(int number) const;
  // The fastest verified of a lane (-1: of all): the last one that beat its rival. nullptr: none is verified.
  const Attempt* best(int lane = -1) const;
  // How many failed attempts in a row, each repairing the one before, end at this one.
  int failures_in_a_row(const Attempt& attempt) const;
  int children(int number) const;
  // As it was when no later attempt than this was judged; nothing: as it is.
  History up_to(std::optional<int> number) const;
};

// Whether something may be made from it: it is verified, or it ran and only lost a race.
bool can_grow(const Attempt& attempt);

// The figure by which verified attempts are ranked: larger is faster. Over the fastest baseline where there
// is one; by the cost model where nothing is timed (a run has the one or the other).
double merit(const Attempt& attempt);

}  // namespace kforge
