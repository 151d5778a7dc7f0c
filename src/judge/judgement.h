// What judging found out about one program: a record per shape case, every figure with its unit and nothing
// written as text yet. The report is derived from it (report_of.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "build/build.h"
#include "judge/baselines.h"
#include "profile/profile.h"
#include "store/eval_report.h"
#include "task/task.h"
#include "verify/timed_gates.h"
#include "verify/verdict.h"

namespace kforge {

struct CaseJudgement {
  std::optional<ShapeCase> shape;  // nothing: there was no program to build for it
  double flops = 0, bytes = 0;     // of the graph in this shape
  Verdict verdict;                 // every gate with its evidence, up to the first failure
  std::optional<Build> build;
  std::optional<TimedFindings> times;     // against the baselines; nothing unless passed and timed
  std::vector<OpponentTimes> incumbents;  // by JudgeRequest::incumbents
  std::vector<AbsentBaseline> absent;
  std::vector<BaselineRefusal> baseline_refusals;
  std::optional<RooflinePosition> roofline;
  bool within_reach = true;  // false: judged on other shapes only, this one takes too long under the emulator
  std::optional<double> modelled_ns;    // on a platform whose objective is a model
  std::vector<Fact> modelled_from;      // what the model was given
  std::string modelled_absent_because;  // why there is no modelled_ns there
  std::vector<SeedRecord> seeds;
};

struct Judgement {
  std::vector<CaseJudgement> cases;       // in order; the last one failed, or all passed
  std::map<std::string, double> seconds;  // where the judging's own time went

  bool passed() const { return !failure(); }
  // Of the last case; null: passed.
  const Failure* failure() const;
  // How many times faster than each incumbent, over all cases: the weighted geometric mean. Empty unless
  // passed and timed.
  std::vector<Interval> over_incumbents() const;
};

}  // namespace kforge
