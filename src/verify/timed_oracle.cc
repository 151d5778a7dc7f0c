// What a timed call should have given. A program may be wrong on a part of all inputs only, or right on those
// alone that it knows, the same in every process: then its own answers agree with each other. So calls drawn
// from all that were timed, on inputs nobody has seen before, are compared with the truth: where the oracle
// is quick, with the oracle; else with what a baseline gives on the same values, and where the two differ the
// oracle decides. Without a baseline a slow oracle is waited for.
#include "base/clock.h"
#include "verify/timed_judge.h"
#include "verify/value_gates.h"

namespace kforge {
namespace {

// What the oracle may take for one call to be asked for many; and from when on it is asked for fewest.
constexpr double kQuickOracleSeconds = 0.006, kVerySlowSeconds = 5;
constexpr int kMostOracleCalls = 32;
constexpr int kLeastWitnessed = 4;
constexpr double kWitnessSeconds = 1.5;

}  // namespace

// What came from the disk was slow to compute.
bool TimedJudge::oracle_is_slow() const {
  return expected_->from_cache || expected_->seconds > kQuickOracleSeconds;
}

// How many timed calls the oracle is asked for.
int TimedJudge::oracle_calls() const {
  if (!oracle_is_slow()) return kMostOracleCalls;
  if (witness_) return expected_->from_cache ? 0 : 1;
  return expected_->seconds > kVerySlowSeconds ? 2 : 3;
}

// Ends all programs but the first baseline whose results may stand for the truth, where that is wanted.
void TimedJudge::keep_witness() {
  for (std::size_t i = 0; i < present_.size() && oracle_is_slow(); ++i)
    if (present_[i].opponent->witness && !timed_[i + 1].failure) {
      witness_ = std::move(owned_[i + 1]);
      break;
    }
  owned_.clear();
}

// What the baseline gives on the values of the calls that are made again, params included.
Result<void> TimedJudge::ask_witness() {
  if (!witness_) return {};
  auto start = std::chrono::steady_clock::now();
  std::optional<InputChoice> prepared;
  int asked = 0;
  for (RememberedCall& call : repeated_) {
    if (call.probe) continue;
    if (asked >= kLeastWitnessed && seconds_since(start) > kWitnessSeconds) break;
    if (has_params(task_) && prepared != call.params) {
      fill_params(task_, *memory_, call.params);
      KF_TRY(auto done, witness_->prepare(context_.call_limit * 3));
      if (!done) return {};  // its own failure, not the candidate's
      prepared = call.params;
    }
    fill_inputs(task_, *memory_, call.choice, 0);
    reset_outputs(task_, witness_->outputs(), call.choice, 0);
    KF_TRY(auto called, witness_->call({0}, context_.call_limit * 3));
    if (!called) return {};
    call.witness = fingerprint_of(positions_, witness_->outputs(), 0);
    ++asked;
  }
  return {};
}

bool TimedJudge::oracle_wanted(const RememberedCall& call) {
  if (call.drawn) return true;
  if (!call.witness) return false;
  ++compared_with_baseline_;
  return fingerprints_differ(positions_, task_, call.values, *call.witness, context_.policy, *expected_)
      .has_value();
}

// `outputs` hold the call made again, which gave what it gave when it was timed.
Result<void> TimedJudge::judge_by_oracle(const RememberedCall& call, const TensorMemory& outputs,
                                         std::uint32_t slot) {
  ++compared_with_oracle_;
  auto start = std::chrono::steady_clock::now();
  KF_TRY(Expected truth,
         expected_outputs_once(task_, call.params, call.choice, context_.machine->threads(), context_.stop));
  verdict_.oracle_seconds += seconds_since(start);
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
                           evidence_of(*failure)});
  return {};
}

}  // namespace kforge
