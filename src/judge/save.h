// A judgement written down: verdict, evidence, samples, the program and its build.
#pragma once

#include "judge/judge.h"
#include "store/eval_report.h"

namespace kforge {

// The id of the result; "" without a store. The document that is stored names the id.
Result<std::string> save(Workspace& workspace, const Program& program, const Judgement& judgement,
                         EvalReport report);

struct Judged {
  Judgement judgement;
  EvalReport report;  // with the id it is stored under
};
// judge(), report_of() and save(). `kernel_path` is only written into the report.
Result<Judged> judge_and_save(Workspace& workspace, const Program& program, const JudgeRequest& request,
                              const std::string& kernel_path = "");

// The row of the store; without candidate and build.
StoredResult to_stored(const EvalReport& report);

}  // namespace kforge
