#include "judge/evaluate.h"

#include "generate/candidate.h"

namespace kforge {

Result<EvalReport> evaluate(const EvalOptions& options, Progress& progress) {
  KF_TRY(auto session, JudgingSession::open(options, progress));
  KF_TRY(auto program, read_candidate(options.kernel, session->platform().files));
  JudgeRequest request;
  request.kernel_path = options.kernel.string();
  request.check_only = options.check_only;
  request.rounds = options.rounds;
  request.seconds = options.seconds;
  KF_TRY(Judgement judgement, session->judge(program, request));
  // The verdict is worth more than its record: a full disk must not take it away.
  if (auto saved = session->save(program, judgement); !saved) {
    judgement.report.result_id.clear();
    judgement.report.notes.push_back("NOT SAVED: " + saved.error().text());
  }
  progress.finish();
  return std::move(judgement.report);
}

}  // namespace kforge
