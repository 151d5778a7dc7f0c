// Sizes at which a module takes about as long as asked for.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "import/bridge.h"

namespace kforge {

// Seconds of --fit: "50ms", "2s".
Result<double> parse_fit(const std::string& text);

struct Fitted {
  Values values;       // all numbers of the file
  double seconds = 0;  // what one call of the module took there; 0: not measured
  std::set<std::string> made_smaller;
};

// What the search needs to know, so that it can be tried without a module.
struct FitQuestions {
  // Seconds and bytes that a call may need at these numbers, roughly; nothing where the sizes do not fit the
  // graph.
  std::function<std::optional<std::pair<double, double>>(const Values&)> guess;
  std::function<std::optional<double>(const Values&)> measure;  // nothing: it fails there
};

// As few numbers as possible become smaller, in the order of `symbols`: the first alone, then the first two,
// ... each by the same factor.
Result<Fitted> fit_sizes(const Values& real, const std::vector<std::string>& symbols, double target_seconds,
                         double most_bytes, const FitQuestions& questions);

}  // namespace kforge
