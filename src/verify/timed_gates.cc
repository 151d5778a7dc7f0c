#include "verify/timed_gates.h"

#include "verify/timed_judge.h"

namespace kforge {

Result<TimedFindings> TimedJudge::judge() {
  // Opponents may be a few times quicker than the candidate's best check call.
  const std::uint32_t slots =
      candidate_.starts_anew
          ? slots_for_runs(task_)
          : slots_for(task_, std::max(verdict_.check_call_ns, 1e3) / 4, options_.timing.batch_ns);
  KF_TRY(memory_, InputMemory::create_for_turns(task_, slots));
  InputChoice own{InputKind::kOwn, context_.check_seed(InputKind::kOwn)};
  KF_TRY(expected_, context_.expected(own.kind));
  verdict_.oracle_seconds += expected_.seconds;
  // Not the check's params: what is loaded looks around in memory, and must meet them first in the drawn
  // call.
  fill_params(task_, *memory_, {InputKind::kOwn, random_()});
  KF_TRY_VOID(start_candidate());
  if (verdict_.failed()) return findings_;
  KF_TRY_VOID(try_opponents());
  run_rounds();
  if (timed_[0].failure) verdict_.fail(*timed_[0].failure);
  if (verdict_.failed()) return findings_;
  summarise();
  judge_threads();
  if (!verdict_.failed()) KF_TRY_VOID(judge_look_ahead());
  if (!verdict_.failed()) KF_TRY_VOID(make_late_calls());
  if (verdict_.failed()) return findings_;
  KF_TRY(auto finished, owned_[0]->finish());
  if (!finished) return verdict_.fail(finished.error()), findings_;
  keep_witness();
  KF_TRY_VOID(judge_timed_calls());
  if (!verdict_.failed()) KF_TRY_VOID(judge_clock());
  if (verdict_.failed()) return findings_;
  verdict_.pass(Gate::kAfterReturn,
                "stopped the instant it reported; nothing changed afterwards, nothing was left running");
  KF_TRY_VOID(judge_floor());
  if (!verdict_.failed()) KF_TRY_VOID(judge_suspicious());
  return findings_;
}

Result<TimedFindings> judge_times(const JudgeContext& context, const ProgramSpec& candidate,
                                  const std::vector<Opponent>& opponents, const TimedOptions& options,
                                  Peaks& peaks, Verdict& verdict) {
  return TimedJudge(context, candidate, opponents, options, peaks, verdict).judge();
}

}  // namespace kforge
