#include "verify/near_calls.h"

#include <algorithm>
#include <numeric>

#include "base/clock.h"
#include "verify/value_gates.h"

namespace kforge {
namespace {

constexpr double kFewNearSeconds = 0.08;  // as kNearSeconds, for the inputs of each further kind
constexpr std::size_t kFewNear = 2;
// Further calls before the first judged one that differ from it in a single element, where they are short: a
// region that a program does not look at is hit by one of them.
constexpr std::size_t kSingles = 160;

// A program that said it was done and had not begun: what it does next may take for ever.
std::optional<Failure> nothing_written(const BoundTask& task, const TensorMemory& outputs,
                                       std::uint32_t slot) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    const std::int64_t elements = element_count(argument.shape);
    if (argument.role != Role::kOutput || !is_float(argument.dtype) || elements == 0) continue;
    if (count_poison(argument.dtype, 0, outputs.tensor(a, slot)) == elements)
      return WrongValue{Gate::kMemory, fmt::format("{} of {} elements of {} were never written", elements,
                                                   elements, argument.name)};
  }
  return std::nullopt;
}

}  // namespace

Result<bool> checked_call(ProgramProcess& process, const std::vector<std::uint32_t>& slots,
                          std::chrono::milliseconds limit, Verdict& verdict) {
  KF_TRY(auto time, process.call(slots, limit));
  if (!time) {
    verdict.fail(time.error());
    return false;
  }
  verdict.call_seconds += time->parent_ns / 1e9;
  double each = time->parent_ns / static_cast<double>(slots.size()), &quickest = verdict.check_call_ns;
  quickest = quickest == 0 ? each : std::min(quickest, each);
  return true;
}

Result<bool> NearCalls::in_slots(const InputChoice& choice, std::span<const VariedPart> parts) {
  std::vector<std::uint32_t> slots(memory_.layout.slots);
  std::iota(slots.begin(), slots.end(), 0);
  std::erase(slots, judged_);
  std::ranges::shuffle(slots, random_);
  while (!parts.empty()) {
    std::vector<std::uint32_t> called = slots;
    called.resize(std::min(parts.size(), slots.size()));
    for (std::size_t i = 0; i < called.size(); ++i) {
      InputChoice nearly = choice;
      nearly.variation = {parts[i], random_(), true};
      fill_inputs(task_, memory_, nearly, called[i]);
      reset_outputs(task_, process_.outputs(), nearly, called[i]);
    }
    KF_TRY(bool alive, checked_call(process_, called, context_.call_limit, verdict_));
    if (!alive) return false;
    for (std::size_t i = 0; i < called.size(); ++i) {
      told_.add(task_, process_.outputs(), called[i], parts[i]);
      if (auto failure = nothing_written(task_, process_.outputs(), called[i]))
        return verdict_.fail(*failure), false;
    }
    parts = parts.subspan(called.size());
  }
  return true;
}

std::vector<std::uint32_t> NearCalls::run_ending_in(std::uint32_t slot, const InputChoice& choice) {
  if (!process_.usage().starts_anew) return {slot};
  InputChoice nearly = choice;
  nearly.variation = {kNearParts[random_() % std::size(kNearParts)], random_(), true};
  fill_inputs(task_, memory_, nearly, 1 - slot);
  reset_outputs(task_, process_.outputs(), nearly, 1 - slot);
  return {1 - slot, slot};
}

// The same inputs with nearly the same params: what was made of params outside prepare() is out of date.
Result<bool> NearCalls::with_params(const InputChoice& choice) {
  if (process_.usage().has_prepare || !has_params(task_)) return true;
  InputChoice params = choice;
  params.variation = {kNearParts[random_() % std::size(kNearParts)], random_(), true};
  fill_params(task_, memory_, params);
  fill_inputs(task_, memory_, choice, other());
  reset_outputs(task_, process_.outputs(), choice, other());
  KF_TRY(bool alive, checked_call(process_, {other()}, context_.call_limit, verdict_));
  if (alive) told_.add(task_, process_.outputs(), other(), VariedPart::kAll);
  fill_params(task_, memory_, choice);
  return alive;
}

// The program gave the same bits as in the judged call before. That may be right: a bound hides a difference.
Result<std::optional<Failure>> NearCalls::judge_same_answer(const InputChoice& params,
                                                            const InputChoice& inputs) {
  if (same_answers_left_-- <= 0) return std::nullopt;
  auto start = std::chrono::steady_clock::now();
  KF_TRY(Expected truth,
         expected_outputs_once(task_, params, inputs, context_.machine->threads(), context_.stop));
  verdict_.oracle_seconds += seconds_since(start);
  if (!truth.yardstick_finite) return std::nullopt;
  Verdict scratch;
  auto failure =
      judge_outputs(context_, truth, process_.outputs(), other(), InputKind::kLarge, Gate::kRepeat, scratch);
  if (!failure) return std::nullopt;
  bool of_params = params.variation.part != VariedPart::kNothing;
  if (auto* wrong = std::get_if<WrongValue>(&*failure))
    wrong->reason = answer_kept(of_params ? "params" : "inputs",
                                of_params ? params.variation.part : inputs.variation.part, wrong->reason);
  return failure;
}

// Nearly the inputs of the judged call, then nearly its params: a program that takes them for the same gives
// the same answer.
Result<std::optional<Failure>> NearCalls::after(const InputChoice& choice) {
  bool all = choice.kind == InputKind::kOwn;
  double each = verdict_.check_call_ns / 1e9 + static_cast<double>(MemoryLayout::bytes_per_slot(task_)) / 1e9;
  auto affordable = static_cast<std::size_t>((all ? kNearSeconds : kFewNearSeconds) / each);
  // Every part several times where that is quick: of several arguments one changes at a time.
  std::vector<VariedPart> parts(std::begin(kNearParts), std::end(kNearParts));
  std::ranges::shuffle(parts, random_);
  const std::size_t of_each =
      std::min(std::max<std::size_t>(affordable / 2, 1), all ? 3 * parts.size() : std::size_t{1});
  const bool params_too = !process_.usage().has_prepare && has_params(task_);
  const auto answer = snapshot(task_, process_.outputs(), judged_);
  for (std::size_t i = 0; i < of_each * (params_too ? 2 : 1); ++i) {
    InputChoice inputs = choice, params = choice;
    (i < of_each ? inputs : params).variation = {parts[i % parts.size()], random_(), true};
    if (i >= of_each) fill_params(task_, memory_, params);
    fill_inputs(task_, memory_, inputs, other());
    reset_outputs(task_, process_.outputs(), inputs, other());
    // In a run of its own it could not be taken for the judged one, and what is like all other inputs only by
    // a program that remembers the last.
    const VariedPart part = parts[i % parts.size()];
    const bool likeness = part == VariedPart::kOrder || part == VariedPart::kSlightly;
    const bool both = process_.usage().starts_anew || (likeness && i < of_each);
    if (both) reset_outputs(task_, process_.outputs(), choice, judged_);
    const std::vector<std::uint32_t> run = both ? std::vector{judged_, other()} : std::vector{other()};
    KF_TRY(bool alive, checked_call(process_, run, context_.call_limit, verdict_));
    if (!alive) return std::nullopt;
    if (snapshot(task_, process_.outputs(), other()) != answer) continue;
    KF_TRY(auto failure, judge_same_answer(params, inputs));
    if (failure) return failure;
  }
  if (params_too) fill_params(task_, memory_, choice);
  return std::nullopt;
}

// A program that recognises an input by a part of it answers the judged call with the result of one of these.
Result<bool> NearCalls::before(const InputChoice& choice) {
  std::vector<VariedPart> parts(std::begin(kNearParts), std::end(kNearParts));
  std::ranges::shuffle(parts, random_);
  bool all = choice.kind == InputKind::kOwn;
  parts.resize(all ? parts.size() + kSingles : kFewNear, VariedPart::kOne);
  KF_TRY(bool alive, in_slots(choice, std::span(parts).first(1)));
  if (!alive) return false;
  double each = verdict_.check_call_ns / 1e9 + static_cast<double>(MemoryLayout::bytes_per_slot(task_)) / 1e9;
  auto affordable = static_cast<std::size_t>((all ? kNearSeconds : kFewNearSeconds) / each);
  KF_TRY(alive, in_slots(choice, std::span(parts).subspan(1, std::min(affordable, parts.size() - 1))));
  if (!alive || (!all && random_() % 2 == 0)) return alive;
  return with_params(choice);
}

}  // namespace kforge
