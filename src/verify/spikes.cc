#include "verify/spikes.h"

#include "base/clock.h"
#include "execute/fill.h"
#include "verify/near_calls.h"

namespace kforge {
namespace {

constexpr double kSlowOracleSeconds = 1;  // for one draw
// Few elements decide, so few errors of the yardstick set the bound, and an honest program may be outside of
// it by chance; three times in a row it is not.
constexpr int kSpikeDraws = 3;

Result<std::optional<Failure>> judge_draw(const JudgeContext& context, const InputMemory& memory,
                                          ProgramProcess& process, const InputChoice& choice,
                                          Verdict& verdict) {
  const BoundTask& task = *context.task;
  fill_params(task, memory, choice);
  KF_TRY(auto prepared, process.prepare(context.call_limit));
  if (!prepared) return prepared.error();
  fill_inputs(task, memory, choice, 0);
  reset_outputs(task, process.outputs(), choice, 0);
  KF_TRY(bool called, checked_call(process, {0}, context.call_limit, verdict));
  if (!called) return std::nullopt;
  const auto start = std::chrono::steady_clock::now();
  KF_TRY(Expected truth,
         expected_outputs_once(task, choice, choice, context.machine->threads(), context.stop));
  verdict.oracle_seconds += seconds_since(start);
  if (!truth.yardstick_finite) return std::nullopt;
  Verdict scratch;
  return judge_outputs(context, truth, process.outputs(), 0, InputKind::kLarge, Gate::kExtreme, scratch);
}

}  // namespace

Result<std::optional<Failure>> judge_spikes(const JudgeContext& context, const InputMemory& memory,
                                            ProgramProcess& process, Verdict& verdict) {
  KF_TRY(ExpectedValues expected, context.expected(InputKind::kOwn));
  if (expected->from_cache || expected->seconds > kSlowOracleSeconds) return std::nullopt;
  std::optional<Failure> failure;
  for (int draw = 0; draw < kSpikeDraws; ++draw) {
    InputChoice choice{InputKind::kOwn, context.check_seed(InputKind::kOwn)};
    choice.variation = {VariedPart::kFew, mix_seed(context.secret, 200 + static_cast<std::uint64_t>(draw)),
                        true};
    KF_TRY(failure, judge_draw(context, memory, process, choice, verdict));
    if (!failure || verdict.failed()) return std::nullopt;
  }
  if (auto* wrong = std::get_if<WrongValue>(&*failure))
    wrong->reason = "a few large elements among ordinary ones: " + wrong->reason;
  return failure;
}

}  // namespace kforge
