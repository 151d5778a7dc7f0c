#include "judge/trial_call.h"

#include "execute/fill.h"

namespace kforge {

Result<bool> gates_within_reach(const JudgeContext& context, const ProgramSpec& program) {
  constexpr std::chrono::milliseconds kLimit(static_cast<long>(1e3 * kGatesSeconds / kCallsOfAllGates));
  const BoundTask& task = *context.task;
  KF_TRY(InputMemory memory, InputMemory::create(task, 1));
  const InputChoice choice{InputKind::kOwn, context.check_seed(InputKind::kOwn)};
  fill_params(task, memory, choice);
  fill_inputs(task, memory, choice, 0);
  KF_TRY(auto started, ProgramProcess::start(program, task, memory, context.load_limit));
  if (!started) return true;
  reset_outputs(task, (*started)->outputs(), choice, 0);
  KF_TRY(auto prepared, (*started)->prepare(context.call_limit));
  if (!prepared) return true;
  KF_TRY(auto time, (*started)->call({0}, kLimit));
  return time || !std::holds_alternative<Timeout>(time.error());
}

Failure out_of_reach() {
  return Timeout{
      fmt::format("a trial call (all gates may take {:.0f} s under the emulator; a program that says "
                  "'// kforge: general' is judged on small, odd and hidden shapes instead)",
                  kGatesSeconds),
      kGatesSeconds / kCallsOfAllGates};
}

}  // namespace kforge
