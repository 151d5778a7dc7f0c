// What a gate saw, for the store, for people and for agents. It becomes text only where it is written: in
// store/ (as JSON) and in what agents are told.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kforge {

// One output against what it must be.
struct ComparedElement {
  std::vector<std::int64_t> index;
  double got = 0, want = 0;
  double error = 0, bound = 0;

  bool operator==(const ComparedElement&) const = default;
};
struct ComparedOutput {
  std::string output, inputs;  // names of the output and of the kind of inputs
  std::int64_t elements = 0, wrong = 0;
  std::int64_t wrong_nonfinite = 0;          // of the wrong ones
  std::vector<ComparedElement> worst;        // a few, the worst first
  std::vector<std::int64_t> first_wrong;     // empty: none is
  std::string pattern;                       // "every 4th element"; empty: none seen
  std::vector<double> error_by_region = {};  // largest error in each eighth, relative to the output's rms
  double max_abs = 0, rel_norm = 0, yardstick_worst_abs = 0;

  bool operator==(const ComparedOutput&) const = default;
};

// Anything else, by name.
using Figure = std::variant<std::int64_t, double, std::string, std::vector<std::string>>;
struct Figures {
  std::vector<std::pair<std::string, Figure>> named;

  bool operator==(const Figures&) const = default;
};

using Evidence = std::variant<std::monostate, ComparedOutput, Figures>;
inline bool is_empty(const Evidence& evidence) { return std::holds_alternative<std::monostate>(evidence); }

}  // namespace kforge
