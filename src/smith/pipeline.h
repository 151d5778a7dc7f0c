// From a problem to a program that is ready to become loops: the passes in order, one list. Each is timed,
// and in debug builds what it leaves is checked.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "smith/attention/attention.h"
#include "smith/contract/match_contractions.h"

namespace kforge::smith {

// What passes work on.
struct Pipeline {
  int threads = 1;
  Program program;              // of each call
  Program prepared;             // of prepare(): depends on params only
  std::set<std::string> fixed;  // tensors that prepare() has
  std::vector<MatchedContraction> contractions;
  std::vector<MatchedAttention> attentions;
};

struct Pass {
  std::string_view name;
  void (*run)(Pipeline&);
};
const std::vector<Pass>& passes();

struct PassTime {
  std::string_view name;
  double seconds = 0;
};
struct PassOptions {
  bool check = kDebug;          // what every pass leaves; a program that is not valid is a bug
  std::string_view dump_after;  // name of a pass, or "lower"
  std::string* dump = nullptr;  // the program after it, as a person reads it
  std::vector<PassTime>* times = nullptr;
#ifdef NDEBUG
  static constexpr bool kDebug = false;
#else
  static constexpr bool kDebug = true;
#endif
};
// An operator the smith cannot write is an Error that names it.
Result<Pipeline> run_passes(const Problem& problem, const PassOptions& options = {});

}  // namespace kforge::smith
