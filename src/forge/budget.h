// How much a run may cost, and what it has cost: attempts, seconds, tokens, dollars, whichever ends first.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "search/ending.h"

namespace kforge {

struct Budget {
  std::optional<int> attempts;         // --attempts
  std::optional<double> seconds;       // from the first candidate on; preparing is apart
  std::optional<std::int64_t> tokens;  // read and written
  std::optional<double> dollars;
};

struct Spent {
  int attempts = 0;
  double seconds = 0;
  std::int64_t tokens = 0;
  std::optional<double> dollars;  // nothing: no price is known
};

// "60s,2usd,200ktok", in any order; also m and h, mtok, "$2", and a bare "90" for seconds. An Error names the
// part that is not understood.
Result<Budget> parse_budget(std::string_view text);
// The same text back, for messages and records.
std::string to_text(const Budget& budget);
// Which limit is reached; nothing: there is some left.
std::optional<Ending> used_up(const Budget& budget, const Spent& spent);

// "2", "2.0x": a factor above zero.
Result<double> parse_factor(std::string_view text);

}  // namespace kforge
