#include "verify/value_gates.h"

#include <algorithm>
#include <cstring>
#include <future>
#include <map>

#include "execute/fill.h"
#include "verify/compare.h"
#include "verify/evidence.h"
#include "verify/near_calls.h"
#include "verify/special_values.h"
#include "verify/spikes.h"
#include "verify/team_gate.h"

namespace kforge {
namespace {

// They start beside each other, and some import half a gigabyte.
constexpr int kPatienceWithLibraries = 3;

using std::chrono::milliseconds;

// Long enough for a background thread to show itself, short enough to do on every failure.
constexpr milliseconds kLinger{8};
// A few wrong elements of a large result: one in this many, or a single one.
constexpr double kIsolated = 1e-5;
constexpr std::int64_t kLargeResult = 1000;
// A small result that is off by no more than this times its bound.
constexpr double kLittle = 20;
// Calls on less than this are made several at a time.
constexpr std::size_t kSmallSlot = 1 << 20;

Gate gate_of(InputKind kind) {
  switch (kind) {
    case InputKind::kOwn:
    case InputKind::kNormal:
    case InputKind::kHeavyTail:
      return Gate::kAccuracy;
    case InputKind::kInteger:
      return Gate::kInteger;
    default:
      return Gate::kExtreme;
  }
}

// The argument that holds a graph output: the output itself, or the inout that is updated in place.
std::size_t argument_of_output(const BoundTask& task, const std::string& output) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    if (argument.role == Role::kOutput && argument.name == output) return a;
    if (argument.role == Role::kInout && argument.output == output) return a;
  }
  KF_CHECK(false, "graph output {} has no argument", output);
  return 0;
}

// Error and bound stand beside each other: both are of the inputs on which the error came nearest to the
// bound.
void add_figures(Verdict& verdict, const Comparison& found, InputKind kind) {
  if (gate_of(kind) != Gate::kAccuracy && found.ok()) return;
  if (!verdict.error || found.worst_ratio >= verdict.error->of_bound)
    verdict.error = ErrorFigures{found.max_abs, found.max_rel, found.rel_norm, found.bound_at_worst,
                                 std::min(found.worst_ratio, 1e300)};
  if (kind != InputKind::kOwn) return;
  verdict.kernelbench_judged = true;
  verdict.kernelbench_allclose = verdict.kernelbench_allclose && found.allclose_1e4;
  verdict.kernelbench_max_abs = std::max(verdict.kernelbench_max_abs, found.max_abs);
}

std::optional<Failure> canary_failure(const BoundTask& task, const TensorMemory& outputs,
                                      std::uint32_t slot) {
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    if (argument.role != Role::kOutput && argument.role != Role::kInout) continue;
    if (auto distance = outputs.broken_canary(a, slot))
      return Rejected{
          Gate::kMemory,
          *distance < 0
              ? fmt::format("the program wrote {} bytes before the start of {}", -*distance, argument.c_name)
              : fmt::format("the program wrote {} bytes past the end of {}", *distance + 1, argument.c_name),
          Figures{{{"argument", argument.c_name}, {"offset", *distance}}}};
  }
  return std::nullopt;
}

// Lets the program go on without a command: outputs that change now were not done when it said so.
bool works_after_return(const BoundTask& task, ProgramProcess& process, std::uint32_t slot) {
  auto before = snapshot(task, process.outputs(), slot);
  process.linger(kLinger);
  return before != snapshot(task, process.outputs(), slot);
}

Rejected after_return_failure() {
  return Rejected{Gate::kAfterReturn,
                  "outputs still changed after the kernel had returned: work goes on in the background"};
}

// Wrong as a right program may be, too, on extreme inputs: a few elements of a large result, or a small
// result that is off by little. The error of the yardstick, which the bound rests on, is then itself a matter
// of chance: the largest of a few.
bool by_chance(const Comparison& found) {
  if (found.wrong_nonfinite > 0) return false;
  if (found.elements < kLargeResult) return found.worst_ratio < kLittle;
  return static_cast<double>(found.wrong) <= std::max(1.0, kIsolated * static_cast<double>(found.elements));
}

// Finite, and wrong on inputs that are not the task's own: a graph may magnify the last bit there.
bool may_be_rounding(const Failure& failure, InputKind kind) {
  const auto* wrong = std::get_if<WrongValue>(&failure);
  return wrong && wrong->gate == gate_of(kind) && gate_of(kind) != Gate::kAccuracy;
}

// One judging in one process: its program, inputs and running state.
class ValueJudge {
 public:
  ValueJudge(const JudgeContext& context, const ProgramSpec& program, Verdict& verdict)
      : context_(context), task_(*context.task), program_(program), verdict_(verdict) {}

  Result<bool> start(int threads, bool guarded_heap = false, int patience = 1);
  // REQUIRE: start() gave true.
  Result<void> every_kind();
  // The same without the calls that only a cheat fears.
  Result<void> every_kind_of_a_library();
  // Judged under `gate`; `setting` says in a failure what is different about this process.
  Result<void> another_process(Gate gate, const std::string& setting);
  Result<void> finish();

 private:
  Result<void> judge_kind(InputKind kind);
  // On the inputs that `context` draws; gives what failed, if the program itself did not.
  Result<std::optional<Failure>> judge_drawn(InputKind kind, const JudgeContext& context);
  // The outputs in `slot` once more, by a bound that other roundings of fp32 set; their failure, if any.
  Result<std::optional<Failure>> judge_by_other_roundings(Failure failure, const Expected& expected,
                                                          InputChoice choice, std::uint32_t slot);
  Result<void> judge_repeat(const Expected& expected, InputChoice choice);
  Result<ExpectedValues> expect(InputKind kind, const JudgeContext& context);

  const JudgeContext& context_;
  const BoundTask& task_;
  const ProgramSpec& program_;
  Verdict& verdict_;
  std::optional<InputMemory> memory_;
  std::unique_ptr<ProgramProcess> process_;
  std::optional<NearCalls> near_;
  std::map<Gate, std::string> done_;  // by gate: the kinds that passed, for the summary
  std::vector<std::string> skipped_;
  std::vector<std::string> magnified_;  // kinds on which the graph magnifies the last bit of fp32
  bool trusted_ = false;                // see judge_trusted_values
};

Result<bool> ValueJudge::start(int threads, bool guarded_heap, int patience) {
  KF_TRY(memory_, InputMemory::create(task_, check_slots(task_)));
  ProgramSpec spec = program_;
  spec.threads = threads;
  if (guarded_heap) {
    spec.argv = spec.guarded;
    spec.waiting = nullptr;
    // More threads than processors: those that wait must not keep the others from working.
    spec.env["OMP_WAIT_POLICY"] = "passive";
  }
  KF_TRY(auto started, ProgramProcess::start(spec, task_, *memory_, context_.load_limit * patience));
  if (!started) {
    verdict_.fail(started.error());
    return false;
  }
  process_ = std::move(*started);
  near_.emplace(context_, *memory_, *process_, verdict_);
  return true;
}

Result<ExpectedValues> ValueJudge::expect(InputKind kind, const JudgeContext& context) {
  KF_TRY(ExpectedValues truth, context.expected(kind));
  verdict_.oracle_seconds += truth.seconds;
  return truth;
}

Result<void> ValueJudge::judge_kind(InputKind kind) {
  const std::optional<ErrorFigures> before = verdict_.error;
  KF_TRY(auto failure, judge_drawn(kind, context_));
  const auto* wrong = failure ? std::get_if<WrongValue>(&*failure) : nullptr;
  // A bound, such as a clip, hides the error of large sums in nearly every element of truth and yardstick;
  // the few just beside it show it whole. Whether they are there is chance, so chance decides once more: a
  // program that is wrong is wrong on other inputs too.
  if (wrong && wrong->isolated && gate_of(kind) == Gate::kExtreme && !verdict_.failed()) {
    JudgeContext again = context_;
    again.secret = mix_seed(context_.secret, 2);
    again.fresh_secret = true;
    KF_TRY(failure, judge_drawn(kind, again));
    if (!failure && !verdict_.failed()) verdict_.error = before;
  }
  if (failure && !verdict_.failed()) verdict_.fail(*failure);
  return {};
}

Result<std::optional<Failure>> ValueJudge::judge_drawn(InputKind kind, const JudgeContext& context) {
  KF_TRY(ExpectedValues expected, expect(kind, context));
  std::string kind_name(name_of(kind));
  // Inputs of other kinds than the task's own may overflow in plain fp32 where the truth does not: a running
  // product that rises above the largest number and comes back is finite only in fp64.
  if (kind != InputKind::kOwn && !expected->yardstick_finite) {
    skipped_.push_back(kind_name);
    return std::nullopt;
  }
  InputChoice choice{kind, context.check_seed(kind)};
  fill_params(task_, *memory_, choice);
  // Before the inputs are there: a prepare() that knows where they lie would compute the answer outside the
  // time.
  KF_TRY(auto prepared, process_->prepare(context.call_limit));
  if (!prepared) return prepared.error();
  // Every other time the judged call is the first after prepare().
  const std::uint32_t slot = near_->judged();
  KF_TRY(bool alive, slot == 0 && !trusted_ ? near_->before(choice) : Result<bool>(true));
  if (!alive) return std::nullopt;
  fill_inputs(task_, *memory_, choice, slot);
  reset_outputs(task_, process_->outputs(), choice, slot);
  KF_TRY(bool called,
         checked_call(*process_, near_->run_ending_in(slot, choice), context_.call_limit, verdict_));
  if (!called) return std::nullopt;
  const std::optional<ErrorFigures> before = verdict_.error;
  auto failure = judge_outputs(context, *expected, process_->outputs(), slot, kind, gate_of(kind), verdict_);
  if (failure && may_be_rounding(*failure, kind)) {
    KF_TRY(failure, judge_by_other_roundings(std::move(*failure), *expected, choice, slot));
    if (!failure) verdict_.error = before;  // the bound of the first look was none
  }
  if (trusted_) return failure;
  // Wrong values and work after return look alike; looking again tells them apart.
  if ((failure || kind == InputKind::kOwn) && works_after_return(task_, *process_, slot))
    failure = after_return_failure();
  if (failure) return near_->told().explain(std::move(*failure), task_, process_->outputs(), slot);
  near_->told().add(task_, process_->outputs(), slot, VariedPart::kAll);
  std::string& kinds = done_[gate_of(kind)];
  kinds += (kinds.empty() ? "" : ", ") + kind_name;
  if (kind == InputKind::kOwn) KF_TRY_VOID(judge_repeat(*expected, choice));
  if (verdict_.failed() || kind == InputKind::kZero) return std::nullopt;
  KF_TRY(failure, near_->after(choice));
  near_->change_places();
  return failure;
}

Result<std::optional<Failure>> ValueJudge::judge_by_other_roundings(Failure failure, const Expected& expected,
                                                                    InputChoice choice, std::uint32_t slot) {
  KF_TRY(auto wider,
         allowing_other_roundings(task_, choice, expected, context_.machine->threads(), context_.stop));
  if (!wider) return failure;
  auto again =
      judge_outputs(context_, *wider, process_->outputs(), slot, choice.kind, gate_of(choice.kind), verdict_);
  if (!again) magnified_.emplace_back(name_of(choice.kind));
  return again;
}

// The same values again, in other memory: within the policy again; equal bits are a fact worth knowing.
Result<void> ValueJudge::judge_repeat(const Expected& expected, InputChoice choice) {
  const std::uint32_t slot = near_->other();
  fill_inputs(task_, *memory_, choice, slot);
  reset_outputs(task_, process_->outputs(), choice, slot);
  KF_TRY(bool called, checked_call(*process_, {slot}, context_.call_limit, verdict_));
  if (!called) return {};
  if (auto failure = judge_outputs(context_, expected, process_->outputs(), slot, choice.kind, Gate::kRepeat,
                                   verdict_)) {
    verdict_.fail(*failure);
    return {};
  }
  bool same =
      snapshot(task_, process_->outputs(), near_->judged()) == snapshot(task_, process_->outputs(), slot);
  if (same) verdict_.flags.push_back("bitwise_repeatable");
  if (!same && context_.deterministic)
    verdict_.fail(Rejected{
        Gate::kRepeat, "two calls on the same values differ in their bits, and --deterministic forbids it"});
  return {};
}

Result<void> ValueJudge::finish() {
  verdict_.usage = process_->usage();
  KF_TRY(auto finished, process_->finish());
  if (!finished) verdict_.fail(finished.error());
  return {};
}

Result<void> ValueJudge::every_kind() {
  int done = 0;
  for (InputKind kind : kAllInputKinds) {
    if (context_.progress)
      context_.progress(done++ / static_cast<double>(std::size(kAllInputKinds)), name_of(kind));
    KF_TRY_VOID(judge_kind(kind));
    if (verdict_.failed()) return {};
  }
  if (context_.fresh_secret) {
    KF_TRY(auto failure, judge_spikes(context_, *memory_, *process_, verdict_));
    if (failure && !verdict_.failed()) verdict_.fail(*failure);
    if (verdict_.failed()) return {};
  }
  std::string special;
  // Several times the oracle: only where the verdict is final.
  if (judges_special_values(task_) && !context_.finite_math && context_.fresh_secret) {
    KF_TRY(SpecialFinding found, judge_special_values(context_, *memory_, *process_, verdict_));
    if (found.failure && !verdict_.failed()) verdict_.fail(*found.failure);
    if (verdict_.failed()) return {};
    special = found.judged ? "; NaN, infinities, denormals and -0 among the inputs"
                           : "; special values not judged: the oracle takes too long here";
  }
  if (!context_.relaxed.empty()) special += "; " + context_.relaxed;
  verdict_.pass(Gate::kNonfinite, "infinities and NaN exactly where the oracle has them" + special);
  verdict_.pass(
      Gate::kAccuracy,
      fmt::format("within the {} policy on {} inputs; {:.2g} of the bound at worst", context_.policy.name,
                  done_[Gate::kAccuracy], verdict_.error ? verdict_.error->of_bound : 0));
  verdict_.pass(Gate::kInteger,
                exact_on_integers(task_) ? "bit-exact on whole numbers" : "whole numbers, within the policy");
  if (!done_[Gate::kExtreme].empty()) {
    verdict_.pass(Gate::kExtreme, done_[Gate::kExtreme] + " inputs");
  } else {
    verdict_.skip(Gate::kExtreme, "fp32 itself overflows on every extreme input");
  }
  for (const std::string& kind : skipped_)
    verdict_.gates.back().summary += fmt::format("; {} skipped: fp32 is not finite there", kind);
  for (const std::string& kind : magnified_)
    verdict_.gates.back().summary +=
        fmt::format("; {} within what roundings of fp32 differ by among themselves there", kind);
  verdict_.pass(Gate::kMemory,
                process_->usage().starts_anew
                    ? "every element written, outputs of the right size, inputs sealed"
                : process_->usage().has_transfers
                    ? "every element written, guard zones on the device intact, inputs as they were"
                    : "every element written, canaries and guard pages intact, inputs sealed");
  return {};
}

Result<void> ValueJudge::every_kind_of_a_library() {
  trusted_ = true;
  for (InputKind kind : kAllInputKinds) {
    KF_TRY_VOID(judge_kind(kind));
    if (verdict_.failed()) return {};
  }
  return {};
}

// Another process, with another number of threads, on the check inputs.
Result<void> ValueJudge::another_process(Gate gate, const std::string& setting) {
  InputKind kind = InputKind::kOwn;
  KF_TRY(ExpectedValues expected, expect(kind, context_));
  InputChoice choice{kind, context_.check_seed(kind)};
  fill_params(task_, *memory_, choice);
  KF_TRY(auto prepared, process_->prepare(context_.call_limit));
  if (!prepared) {
    verdict_.fail(prepared.error());
    return {};
  }
  KF_TRY(bool alive, near_->before(choice));
  if (!alive) return {};
  fill_inputs(task_, *memory_, choice, 0);
  reset_outputs(task_, process_->outputs(), choice, 0);
  KF_TRY(bool called,
         checked_call(*process_, near_->run_ending_in(0, choice), context_.call_limit, verdict_));
  if (!called) return {};
  if (auto failure = judge_outputs(context_, *expected, process_->outputs(), 0, kind, gate, verdict_)) {
    *failure = near_->told().explain(std::move(*failure), task_, process_->outputs(), 0);
    if (auto* wrong = std::get_if<WrongValue>(&*failure))
      wrong->reason = fmt::format("in another process, with {}, after calls on nearly the same inputs: {}",
                                  setting, wrong->reason);
    verdict_.fail(*failure);
    return {};
  }
  KF_TRY(auto kept, near_->after(choice));
  if (kept) verdict_.fail(*kept);
  if (verdict_.failed()) return {};
  KF_TRY(auto finished, process_->finish());
  if (!finished) verdict_.fail(finished.error());
  return {};
}

}  // namespace

std::uint32_t check_slots(const BoundTask& task) {
  return MemoryLayout::bytes_per_slot(task) <= kSmallSlot ? 8 : 2;
}

std::optional<Failure> judge_outputs(const JudgeContext& context, const Expected& expected,
                                     const TensorMemory& outputs, std::uint32_t slot, InputKind kind,
                                     Gate gate, Verdict& verdict) {
  const BoundTask& task = *context.task;
  if (auto failure = canary_failure(task, outputs, slot)) return failure;
  CompareOptions options{context.policy, kind == InputKind::kInteger && exact_on_integers(task),
                         context.machine->threads(), gate_of(kind) == Gate::kAccuracy,
                         kind == InputKind::kOwn || kind == InputKind::kNormal};
  for (const ExpectedOutput& output : expected.outputs) {
    std::size_t a = argument_of_output(task, output.name);
    auto actual = outputs.tensor(a, slot);
    Comparison found = compare_output(output, actual, options);
    add_figures(verdict, found, kind);
    if (found.ok()) continue;
    const ComparedOutput evidence = compared_output(output, actual, found, name_of(kind));
    std::uint64_t seed = context.check_seed(kind);
    std::int64_t untouched =
        task.arguments[a].role == Role::kOutput ? count_poison(output.dtype, seed, actual) : 0;
    // A byte-sized output may hold the pattern by chance; wrong elements decide.
    if (untouched > 0 && untouched * 2 >= found.wrong)
      return WrongValue{
          Gate::kMemory,
          fmt::format("{} of {} elements of {} were never written", untouched, found.elements, output.name),
          evidence};
    Gate which = found.wrong_nonfinite > 0 && gate == Gate::kAccuracy ? Gate::kNonfinite : gate;
    return WrongValue{which, comparison_sentence(output, found, context.policy.name, name_of(kind)), evidence,
                      by_chance(found)};
  }
  return std::nullopt;
}

void merge_figures(const Verdict& further, Verdict& verdict) {
  verdict.oracle_seconds += further.oracle_seconds;
  verdict.call_seconds += further.call_seconds;
  if (further.error && (!verdict.error || further.error->of_bound > verdict.error->of_bound))
    verdict.error = further.error;
}

Result<Verdict> judge_guarded(const JudgeContext& context, const ProgramSpec& program, int threads) {
  Verdict verdict;
  ValueJudge judge(context, program, verdict);
  KF_TRY(bool ready, judge.start(threads, true));
  if (ready) KF_TRY_VOID(judge.another_process(Gate::kThreads, fmt::format("{} threads", threads)));
  return verdict;
}

Result<std::vector<Verdict>> judge_trusted_values(const JudgeContext& context,
                                                  std::span<const ProgramSpec> programs) {
  std::vector<Verdict> verdicts(programs.size());
  std::vector<std::unique_ptr<ValueJudge>> judges;
  std::vector<std::future<Result<bool>>> starting;  // destroyed first: it waits for those that still start
  for (std::size_t i = 0; i < programs.size(); ++i) {
    judges.push_back(std::make_unique<ValueJudge>(context, programs[i], verdicts[i]));
    starting.push_back(std::async(std::launch::async, [&judge = *judges.back(), &context] {
      return judge.start(context.threads, false, kPatienceWithLibraries);
    }));
  }
  for (std::size_t i = 0; i < programs.size(); ++i) {
    KF_TRY(bool ready, starting[i].get());
    if (ready) KF_TRY_VOID(judges[i]->every_kind_of_a_library());
    if (ready && !verdicts[i].failed()) KF_TRY_VOID(judges[i]->finish());
    judges[i].reset();  // its process ends, and gives its memory back
  }
  return verdicts;
}

Result<void> judge_values(const JudgeContext& context, const ProgramSpec& program, Verdict& verdict) {
  ValueJudge first(context, program, verdict);
  Verdict second_verdict;
  ValueJudge second(context, program, second_verdict);
  // Both processes start at once: starting one takes longer than judging a small kernel. The second waits,
  // stopped.
  auto beside = std::async(std::launch::async, [&] { return second.start(1); });
  auto started = first.start(context.threads);
  auto second_started = beside.get();
  KF_TRY(bool ready, std::move(started));
  if (!ready) return {};
  KF_TRY_VOID(first.every_kind());
  if (verdict.failed()) return {};
  KF_TRY(bool second_ready, std::move(second_started));
  auto ending =
      std::async(std::launch::async, [&] { return first.finish(); });  // exit handlers take their time
  auto judged = second_ready ? second.another_process(Gate::kRepeat, "one thread") : Result<void>{};
  KF_TRY_VOID(ending.get());
  KF_TRY_VOID(std::move(judged));
  if (verdict.failed()) return {};
  merge_figures(second_verdict, verdict);
  if (second_verdict.failed()) return verdict.fail(*second_verdict.failure), Result<void>{};
  bool same = std::ranges::count(verdict.flags, "bitwise_repeatable") > 0;
  verdict.pass(
      Gate::kRepeat,
      fmt::format("repeats and {} within the policy{}",
                  context.threads > 1 ? fmt::format("1 and {} threads", context.threads) : "1 thread",
                  same ? ", repeats equal bit for bit" : ""));
  if (program.guarded.empty()) return {};
  return judge_team(context, program, verdict);
}

}  // namespace kforge
