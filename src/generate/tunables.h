// Tunables a candidate declares: "// kforge: tune BM=32,64,128 BK=8,16 where BM*BK<=4096". The names become
// macros; the search over their values needs no model.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "generate/candidate.h"

namespace kforge {

struct Tunable {
  std::string name;                  // a macro
  std::vector<std::int64_t> values;  // the first one is the candidate's own choice
};

using Assignment = std::vector<std::pair<std::string, std::int64_t>>;  // in the order declared

struct Tunables {
  std::vector<Tunable> list;
  std::vector<std::string> conditions;  // "BM*BK<=4096"; all must hold

  // Every assignment that meets the conditions, the candidate's own first, at most `limit`.
  std::vector<Assignment> assignments(std::size_t limit) const;
};

inline constexpr std::size_t kMostTunables = 8, kMostValues = 16;

bool has_tunables(const Candidate& candidate);
// An Error says what is wrong with the line, in the candidate's words.
Result<Tunables> tunables_of(const Candidate& candidate);
// The same program with the values filled in, as macros at the top of its main file (behind GLSL's #version).
Candidate with_values(const Candidate& candidate, const Assignment& values);
// What its tunables are now: the values that were filled in, else the candidate's own. A launch plan uses
// them.
Result<Assignment> current_values(const Candidate& candidate);
// "BM=64 BK=16"
std::string to_text(const Assignment& values);

// Integer expressions over the names: + - * / %, brackets, and one comparison (<= < >= > == !=). An Error
// names the place; division by zero makes the condition false.
Result<bool> condition_holds(std::string_view condition, const Assignment& values);

}  // namespace kforge
