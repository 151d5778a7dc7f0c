// Ablations as the paper has them: the same suite with and without one thing that the agents are told.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace kforge {

struct SuiteVariant {
  std::string name;                    // "without example"; empty: everything as asked
  std::vector<std::string> arguments;  // of `kforge forge`, besides those of the suite
};

// What is left out, by the names of --ablate: "reference" (a working kernel for another platform), "example"
// (the platform's worked example), "profile" (profilers' figures, the hot loop and what an analyst makes of
// them). The first variant leaves out nothing; with "reference" among them it is given one, `--reference
// auto`, where the suite names none. `models`: a language model writes. An Error: a name that is none of
// them, or one that changes nothing for the built-in generator.
Result<std::vector<SuiteVariant>> ablation_variants(const std::vector<std::string>& names, bool models,
                                                    bool reference_given);

}  // namespace kforge
