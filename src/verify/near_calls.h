// Calls on inputs and params that differ in a part from those of a judged call (task/variation.h). A program
// that keeps answers and recognises its input by a part of it answers the judged call with the result of one
// made before it, or one made after it with the result of the judged call.
#pragma once

#include <random>
#include <span>

#include "base/random_seed.h"
#include "execute/fill.h"
#include "verify/told_answers.h"
#include "verify/verdict.h"

namespace kforge {

// Spent on calls before the first that is judged; at least one is made.
inline constexpr double kNearSeconds = 0.25;

// One call in each slot, counted in the verdict's figures; false when the verdict has failed.
Result<bool> checked_call(ProgramProcess& process, const std::vector<std::uint32_t>& slots,
                          std::chrono::milliseconds limit, Verdict& verdict);

// The calls of one process around its judged ones. All that is given outlives this.
class NearCalls {
 public:
  NearCalls(const JudgeContext& context, const InputMemory& memory, ProgramProcess& process, Verdict& verdict)
      : context_(context), task_(*context.task), memory_(memory), process_(process), verdict_(verdict) {}

  // The slot of the judged call, and another. They change places after each.
  std::uint32_t judged() const { return judged_; }
  std::uint32_t other() const { return 1 - judged_; }
  // The slots to call so that `slot`, filled with `choice`, is judged: itself. A program that is started anew
  // keeps nothing from one run to the next: there a call on nearly the same inputs goes before it in its run.
  std::vector<std::uint32_t> run_ending_in(std::uint32_t slot, const InputChoice& choice);
  // False when the verdict has failed. The params are those of `choice` again afterwards.
  Result<bool> before(const InputChoice& choice);
  // What failed, if the program itself did not. REQUIRES: the judged call was right.
  Result<std::optional<Failure>> after(const InputChoice& choice);
  // The next judged call is made where the last one of this process was: what a program prepared there
  // meanwhile is out of date.
  void change_places() { judged_ = other(); }
  ToldAnswers& told() { return told_; }

 private:
  Result<bool> in_slots(const InputChoice& choice, std::span<const VariedPart> parts);
  Result<bool> with_params(const InputChoice& choice);
  Result<std::optional<Failure>> judge_same_answer(const InputChoice& params, const InputChoice& inputs);

  const JudgeContext& context_;
  const BoundTask& task_;
  const InputMemory& memory_;
  ProgramProcess& process_;
  Verdict& verdict_;
  std::mt19937_64 random_{random_seed()};
  ToldAnswers told_;           // what this process has answered so far
  int same_answers_left_ = 3;  // to ask the oracle about
  std::uint32_t judged_ = 0;
};

}  // namespace kforge
