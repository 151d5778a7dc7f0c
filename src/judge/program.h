// A candidate made ready to run: built, its symbols read, its files staged for the sandbox.
#pragma once

#include <string>

#include "build/build.h"
#include "execute/staged_program.h"
#include "execute/timing.h"
#include "generate/candidate.h"
#include "judge/setup.h"
#include "judge/stopwatch.h"
#include "profile/profile_candidate.h"
#include "verify/verdict.h"

namespace kforge {

class Workspace;

BuildOptions build_options(const JudgeSetup& setup);
// `watch` counts "build", and "compiler" where it was needed.
Step<Build> build_program(const Workspace& workspace, const Candidate& candidate, const BoundTask& task,
                          Stopwatch* watch = nullptr);
// The compiler line and flag set of a program without directives.
Step<Build> planned_build(const JudgeSetup& setup);
// Gate "symbols".
GateFinding judge_symbols(const JudgeSetup& setup, const Build& build);

// Files and limits for running the built program. REQUIRES: it is kept as long as the program runs.
Result<StagedProgram> stage_program(const Workspace& workspace, std::string name, const Build& build,
                                    const BoundTask& task);
// The same before it is built: its processes start while it is compiled, two for its values (one of them with
// one thread) and, unless `values_only`, two to be timed. place_artefact() puts the built program in.
Result<StagedProgram> waiting_program(const Workspace& workspace, const BoundTask& task, bool values_only);

// Finds where in the source a crash happened, so that who mends it need not guess.
void locate_crash(const JudgeSetup& setup, Failure& failure, const Candidate& candidate, const Build& build,
                  const BoundTask& task);

// By the platform's cost model; `seed` draws what it looks at. REQUIRES: setup.modelled().
Result<ModelledTime> model_time(const JudgeSetup& setup, const Candidate& candidate, const Build& build,
                                const BoundTask& task, std::uint64_t seed);

// How samples are taken on this machine.
TimingOptions timing_options(const JudgeSetup& setup, const JudgeContext& context);

}  // namespace kforge
