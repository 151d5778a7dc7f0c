// What a timed call should have given. A program may be wrong on a part of all inputs only, the same part in
// every process: then its own answers agree with each other, and a single call with a known result misses it.
// So further calls are compared with the truth: where the oracle is quick, with the oracle; else with what a
// baseline gave on the same values, and where the two differ the oracle decides.
#include <algorithm>

#include "verify/timed_judge.h"
#include "verify/value_gates.h"

namespace kforge {
namespace {

constexpr double kQuickOracleSeconds =
    0.006;  // what the oracle may take for one call to be asked for several

bool has_params(const BoundTask& task) {
  return std::ranges::any_of(task.arguments, [](const auto& a) { return a.role == Role::kParam; });
}

}  // namespace

// What came from the disk was slow to compute.
bool TimedJudge::oracle_is_slow() const {
  return expected_->from_cache || expected_->seconds > kQuickOracleSeconds;
}

// Baselines prepare their params once: what they give counts where the params are those.
void TimedJudge::keep_baseline_results(const BatchView& batch) {
  auto is_baseline = [](const PresentOpponent& present) { return present.opponent->baseline; };
  auto first = std::ranges::find_if(present_, is_baseline);
  bool is_first = first == present_.begin() + static_cast<std::ptrdiff_t>(batch.program - 1);
  bool same_params = !has_params(task_) || owned_[0]->usage().has_prepare;
  if (!is_first || !same_params || !oracle_is_slow()) return;
  for (std::uint32_t slot : batch.called)
    baseline_results_[batch.plan.choices[slot].seed] =
        fingerprint_of(positions_, timed_[batch.program].process->outputs(), slot);
}

bool TimedJudge::oracle_wanted(const RememberedCall& call) {
  if (oracle_calls_left_ > 0) return true;
  auto result = baseline_results_.find(call.choice.seed);
  if (result == baseline_results_.end() || call.probe) return false;
  ++compared_with_baseline_;
  return fingerprints_differ(positions_, task_, call.values, result->second, context_.policy, *expected_)
      .has_value();
}

// `outputs` hold the call made again, which gave what it gave when it was timed.
Result<void> TimedJudge::judge_by_oracle(const RememberedCall& call, const TensorMemory& outputs,
                                         std::uint32_t slot) {
  --oracle_calls_left_;
  ++compared_with_oracle_;
  auto start = std::chrono::steady_clock::now();
  KF_TRY(Expected truth, expected_outputs_once(task_, call.choice.kind, call.params.seed, call.choice.seed,
                                               context_.machine->threads()));
  verdict_.oracle_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // Twice the policy, as between a timed call and its repetition: precision was judged before, this is about
  // work that was left out.
  JudgeContext lenient = context_;
  lenient.policy.tolerance *= 2;
  for (ExpectedOutput& output : truth.outputs) output.yardstick_worst_abs *= 2;
  Verdict scratch;
  auto failure = judge_outputs(lenient, truth, outputs, slot, call.choice.kind, Gate::kTimedCalls, scratch);
  if (failure)
    verdict_.fail(Rejected{Gate::kTimedCalls,
                           "a timed call is wrong though the checks were right: " + reason_text(*failure),
                           std::string(evidence_json(*failure))});
  return {};
}

}  // namespace kforge
