#include "judge/evaluate.h"

#include "judge/report_of.h"
#include "judge/save.h"

namespace kforge {

Result<EvalReport> evaluate(const EvalOptions& options, Progress& progress) {
  KF_TRY(auto workspace, Workspace::open(options, progress));
  KF_TRY(Program program, read_candidate(options.kernel, workspace->setup().platform));
  JudgeRequest request;
  request.check_only = options.check_only;
  // What a program prints, how it fails and how long it takes may tell of its inputs: none comes again.
  request.fresh_inputs = true;
  request.rounds = options.rounds;
  request.seconds = options.seconds;
  KF_TRY(Judgement judgement, judge(*workspace, program, request));
  judgement.seconds["open"] = workspace->open_seconds();
  judgement.seconds["total"] += workspace->open_seconds();
  EvalReport report = report_of(workspace->setup(), program, request, judgement);
  report.kernel_path = options.kernel.string();
  // The verdict is worth more than its record: a full disk must not take it away.
  if (auto saved = save(*workspace, program, judgement, report))
    report.result_id = *saved;
  else
    report.notes.push_back("NOT SAVED: " + saved.error().text());
  progress.finish();
  return report;
}

}  // namespace kforge
