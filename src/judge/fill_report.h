// From the records of the steps to the report that people, scripts and the store get.
#pragma once

#include "build/build.h"
#include "machine/machine.h"
#include "profile/profile.h"
#include "report/eval_report.h"
#include "store/store.h"
#include "task/task.h"
#include "verify/timed_gates.h"
#include "verify/verdict.h"

namespace kforge {

void fill_machine(const Machine& machine, EvalReport& report);
// Adds the shape case; for the first one also what is the same for all.
void fill_task(const BoundTask& task, EvalReport& report);
void fill_verdict(const Verdict& verdict, EvalReport& report);
void fill_build(const Build& build, EvalReport& report);
// The figures of the newest shape case.
void fill_times(const TimedFindings& findings, EvalReport& report);
void fill_modelled(double ns, const CostModel& model, EvalReport& report);
void fill_profile(const RooflinePosition& position, EvalReport& report);
// Outcome, the headline over all shape cases, notes and what to do next.
void fill_summary(const Task& task, EvalReport& report);

StoredResult to_stored(const EvalReport& report);

}  // namespace kforge
