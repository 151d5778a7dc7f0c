// `kforge compare A B`: two stored programs for one task, timed against each other in one run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/progress.h"
#include "base/result.h"
#include "store/store.h"

namespace kforge {

struct ComparedProgram {
  std::string id;   // as it was found: of a result
  std::string run;  // of the run it is the best of; empty: none was named
  EvalReport stored;
  StoredCandidate program;
};

struct ProgramComparison {
  ComparedProgram a, b;
  bool same_program = false;
  std::string diff;  // unified, a to b; empty where they are the same
  // Timed in turns, in processes of their own; nothing: not_timed says why.
  std::optional<Interval> a_ns, b_ns;
  std::optional<Interval> ratio;  // how many times faster a is than b
  std::string not_timed;
};

struct CompareRequest {
  std::string a, b;  // results or runs: id, prefix, or "last"
  bool timed = true;
  double seconds = 4;
};

Result<ProgramComparison> compare_results(const CompareRequest& request, Progress& progress);

}  // namespace kforge
