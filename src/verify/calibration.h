// Gate "calibration": would a program that does nothing pass? Null candidates (zeros, ones, a copy of an
// input, the mean of the truth) must fail on the task; otherwise the task says nothing about a kernel and is
// called vacuous.
#pragma once

#include <string>
#include <vector>

#include "oracle/expected.h"
#include "verify/verdict.h"

namespace kforge {

struct Calibration {
  std::vector<std::string> passing;  // null candidates that pass every kind judged; empty is good
  double closest = 0;  // a lower bound of the error / bound of any null candidate; over 1 is a failure
  std::string closest_name;

  bool vacuous() const { return !passing.empty(); }
};

// Judges the null candidates on the task's own and on normal inputs; no process is involved.
Result<Calibration> calibrate(const JudgeContext& context);
// A vacuous task flags the program; it does not fail it.
GateResult finding_of(const Calibration& calibration);

}  // namespace kforge
