// `kforge compare A B`: two stored programs for one task, timed against each other in one run.
#pragma once

#include <optional>
#include <string>

#include "base/progress.h"
#include "base/result.h"
#include "store/named_program.h"

namespace kforge {

struct ProgramComparison {
  NamedProgram a, b;
  bool same_program = false;
  std::string diff;  // unified, a to b; empty where they are the same
  // Timed in turns, in processes of their own; nothing: not_timed says why.
  std::optional<Interval> a_ns, b_ns;
  std::optional<Interval> ratio;  // how many times faster a is than b
  std::string not_timed;
};

struct CompareRequest {
  std::string a, b;  // as named_program() takes them
  bool timed = true;
  double seconds = 4;
};

Result<ProgramComparison> compare_results(const CompareRequest& request, Progress& progress);

}  // namespace kforge
