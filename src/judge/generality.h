// Gate "generality": a program that claims any shape is built for others too, one of which no file names.
#pragma once

#include <vector>

#include "generate/candidate.h"
#include "judge/stopwatch.h"
#include "judge/workspace.h"
#include "store/eval_report.h"

namespace kforge {

struct Generality {
  GateFinding finding;
  std::vector<SeedRecord> seeds;
};

// `long_shapes`: hidden ones that are longer than the timed ones too; not under an emulator that does not
// reach them. `watch` counts builds and the oracle. REQUIRES: candidate.claims_general().
Result<Generality> judge_generality(Workspace& workspace, const Candidate& candidate, bool long_shapes,
                                    Stopwatch& watch);

}  // namespace kforge
