// What a timed call should have given. A program may be wrong on a part of all inputs only, or right on those
// alone that it knows, the same in every process: then its own answers agree with each other. So calls drawn
// from all that were timed, on inputs nobody has seen before, are compared with the truth: where the oracle
// is quick, with the oracle; else with what a baseline gives on the same values, and where the two differ the
// oracle decides. Without a baseline the oracle computes some rows of the results, where the graph allows
// that, and a slow one is waited for a few times.
#include <cmath>

#include "base/clock.h"
#include "verify/compare.h"
#include "verify/timed_judge.h"
#include "verify/value_gates.h"

namespace kforge {
namespace {

// What the oracle may take for one call to be asked for many; and from when on it is asked for fewest.
constexpr double kQuickOracleSeconds = 0.006, kVerySlowSeconds = 5;
constexpr int kMostOracleCalls = 32;
constexpr int kLeastWitnessed = 4;
constexpr double kWitnessSeconds = 1.5;
constexpr double kSliceSeconds = 1.5;

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

Result<void> TimedJudge::find_slice() {
  if (!oracle_is_slow() || witness_) return {};
  const auto start = std::chrono::steady_clock::now();
  const InputChoice own{InputKind::kOwn, context_.check_seed(InputKind::kOwn)};
  KF_TRY(slice_, RowSlice::find(task_, *expected_, own, context_.machine->threads(), context_.stop));
  slice_seconds_ += seconds_since(start);
  return {};
}

// Rows drawn now, which the program cannot have known.
Result<bool> TimedJudge::rows_differ(const RememberedCall& call, const TensorMemory& outputs,
                                     std::uint32_t slot) {
  const auto start = std::chrono::steady_clock::now();
  const auto first =
      static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(slice_->rows() - RowSlice::kRows + 1));
  KF_TRY(auto truth,
         slice_->compute(task_, call.params, call.choice, first, context_.machine->threads(), context_.stop));
  slice_seconds_ += seconds_since(start);
  ++compared_in_rows_;
  std::size_t output = 0;
  for (std::size_t a = 0; a < task_.arguments.size(); ++a) {
    const BoundArgument& argument = task_.arguments[a];
    if (argument.role != Role::kOutput) continue;
    const ExpectedOutput& known = expected_->outputs[output];
    const std::vector<float>& want = truth[output++];
    const std::int64_t from = first * (element_count(argument.shape) / slice_->rows());
    for (std::size_t i = 0; i < want.size(); ++i) {
      double got = element_as_double(argument.dtype, outputs.tensor(a, slot).data(),
                                     from + static_cast<std::int64_t>(i));
      double bound = 2 * std::max(context_.policy.tolerance * std::max<double>(std::abs(want[i]), known.rms),
                                  kYardstickFactor * known.yardstick_worst_abs);
      if (!(std::abs(got - want[i]) <= bound) && !(std::isnan(got) && std::isnan(want[i]))) return true;
    }
  }
  return false;
}

// Where a part of the results is not what it should be the whole oracle decides.
Result<bool> TimedJudge::oracle_wanted(const RememberedCall& call, const TensorMemory& outputs,
                                       std::uint32_t slot) {
  if (call.drawn) return true;
  if (slice_ && !call.probe && slice_seconds_ < kSliceSeconds) return rows_differ(call, outputs, slot);
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
  if (!failure)
    if (auto wrong = wrong_index(positions_, task_, call.values, lenient.policy, truth))
      return verdict_.fail(Rejected{Gate::kTimedCalls,
                                    "a timed call chose otherwise than the same call alone: " + *wrong}),
             Result<void>{};
  if (!failure && !call.drawn) slice_.reset();  // it suspected what is right, and would again
  if (failure)
    verdict_.fail(Rejected{Gate::kTimedCalls,
                           "a timed call is wrong though the checks were right: " + reason_text(*failure),
                           evidence_of(*failure)});
  return {};
}

}  // namespace kforge
