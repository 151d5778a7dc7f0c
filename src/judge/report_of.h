// From a judgement to the report that people, scripts and the store get: derived once, when all is known.
#pragma once

#include "judge/judge.h"
#include "store/eval_report.h"

namespace kforge {

// Without an id and the path of the kernel, which the caller knows.
EvalReport report_of(const JudgeSetup& setup, const Program& program, const JudgeRequest& request,
                     const Judgement& judgement);

}  // namespace kforge
