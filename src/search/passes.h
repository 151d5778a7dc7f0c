// Functional and optimization passes as a state machine, explicit as a table: what the next attempt of a line
// of descent is, given the last one.
//
//   functional: until the program is verified, each failure is fed back and repaired;
//   optimization: profile, one recommendation, the next program; one that breaks goes back to a functional
//   pass, and after so many failed repairs the search returns to the best program.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "generate/attempt.h"

namespace kforge {

enum class Event : std::uint8_t {
  kFailed,    // any Failure: no program, compiler, crash, values, rejected
  kVerified,  // right, and not surely faster than what it had to beat
  kBetter,    // right and faster (or the first right one)
};

enum class From : std::uint8_t { kNothing, kLast, kBest };
enum class Repairs : std::uint8_t { kReset, kCount };

// A row of the table. An empty condition holds always.
struct Transition {
  Pass pass;                            // of the attempt that ended
  std::optional<bool> verified_before;  // the line has a verified program from before
  Event event;
  std::optional<bool> repairs_left;
  // What comes next:
  Pass next;
  From from;
  Repairs repairs;
};

std::span<const Transition> pass_table();

// The state of one line of descent.
struct PassState {
  Pass pass = Pass::kFunctional;
  From from = From::kNothing;
  int repairs = 0;        // failed ones in a row
  bool verified = false;  // the line has a verified program
};

// The one row that fits, applied. `limit`: failed repairs before the search turns away.
PassState after(const PassState& state, Event event, int limit);

}  // namespace kforge
