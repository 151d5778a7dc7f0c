#include "judge/race.h"

#include <algorithm>
#include <numeric>

#include "execute/start_together.h"
#include "judge/program.h"
#include "verify/signed_rank.h"
#include "verify/value_gates.h"

namespace kforge {
namespace {

constexpr int kLeastRounds = 3, kSureRounds = 8, kMostRounds = 15;
constexpr double kSeconds = 2.5;
constexpr double kEarly = 0.995;  // confidence that ends a race before its last round: it is asked after each
constexpr double kBusy = 0.99;
constexpr double kFarSlower = 0.8;  // three rounds can all be disturbed: by this much they are not

std::vector<double> times_of(const TimedProgram& timed) {
  std::vector<double> ns;
  for (const Sample& sample : timed.samples) ns.push_back(sample.ns_per_call);
  return ns;
}

// Rounds in which others had the processors say less than their number: more is asked of them.
Interval ratio_of(
    const std::vector<TimedProgram>& timed, double confidence = 0.95,
    double (*value)(const Sample&) = [](const Sample& sample) { return sample.ns_per_call; }) {
  std::vector<double> own, other;
  const KeptRounds kept = rounds_kept(timed);
  if (kept.disturbed) confidence = std::max(confidence, kBusy);
  for (std::size_t round : kept.rounds) {
    own.push_back(value(timed[0].samples[round]));
    other.push_back(value(timed[1].samples[round]));
  }
  return paired_ratio(other, own, confidence);
}

// Far slower: three rounds are enough. Surely slower, surely faster, or surely the same: eight.
bool known(const std::vector<TimedProgram>& timed) {
  if (timed[0].failure) return true;
  if (timed.size() < 2) return timed[0].samples.size() >= kSureRounds;
  Interval ratio = ratio_of(timed);
  if (ratio.hi < kFarSlower) return true;
  if (timed[0].samples.size() < kSureRounds) return false;
  if (ratio.hi < 0.97) return true;
  return ratio.hi < 1 || ratio.hi - ratio.lo < 0.01 || ratio_of(timed, kEarly).lo > 1;
}

RoundPlan fixed_plan(const std::vector<InputChoice>& choices) {
  RoundPlan plan;
  plan.choices = choices;
  plan.order.resize(choices.size());
  std::iota(plan.order.begin(), plan.order.end(), 0);
  return plan;
}

// How long a library takes is not known before it runs; that it takes half of what the machine's peaks allow
// is. A slot costs more than a call on it: values are written to it, and outputs reset in every round.
Result<std::uint32_t> slots_for_libraries(Workspace& workspace, const BoundTask& task, double batch_ns) {
  constexpr double kLeastNs = 20e3;
  const JudgeSetup& setup = workspace.setup();
  KF_TRY(const Peaks* peaks, workspace.peaks());
  const double bound_ns = roofline_position(task, setup.machine, *peaks, 1, setup.options.cold).bound_ns;
  return slots_for(task, std::max(kLeastNs, bound_ns / 2), batch_ns);
}

}  // namespace

bool interval_holds(const RaceResult& result) {
  return result.rounds - result.disturbed >= least_differences(0.95) ||
         result.rounds >= least_differences(kBusy);
}

Race::Race(Workspace& workspace, std::size_t index)
    : workspace_(workspace), index_(index), task_(workspace.setup().bound(index)) {}
Race::~Race() = default;

Result<void> Race::open(double call_ns) {
  TimingOptions timing = timing_options(workspace_.setup(), *context_);
  const std::uint32_t slots = workspace_.setup().run.starts_anew
                                  ? slots_for_runs(task_)
                                  : slots_for(task_, std::max(call_ns, 1e3) / 4, timing.batch_ns);
  KF_TRY(memory_, InputMemory::create_for_turns(task_, slots));
  choices_.assign(memory_->layout.slots, {InputKind::kOwn, context_->check_seed(InputKind::kOwn)});
  for (std::uint32_t slot = 1; slot < memory_->layout.slots; ++slot)
    choices_[slot].seed = mix_seed(context_->secret, 1000 + slot);
  fill_params(task_, *memory_, choices_[0]);
  for (std::uint32_t slot = 0; slot < memory_->layout.slots; ++slot)
    fill_inputs(task_, *memory_, choices_[slot], slot);
  return {};
}

// `look`: one call whose result is compared with the truth.
Step<bool> Race::start(Runner& runner, bool look) {
  KF_STEP(runner.process, ProgramProcess::start(runner.program.spec, task_, *memory_, context_->load_limit));
  KF_STEP([[maybe_unused]] CallTime prepared, runner.process->prepare(context_->call_limit));
  if (!look) return true;
  reset_outputs(task_, runner.process->outputs(), choices_[0], 0);
  KF_STEP([[maybe_unused]] CallTime called, runner.process->call({0}, context_->call_limit));
  Verdict scratch;
  if (auto failure = judge_outputs(*context_, *expected_, runner.process->outputs(), 0, InputKind::kOwn,
                                   Gate::kAccuracy, scratch))
    return candidate_failed(*failure);
  return true;
}

Result<RaceResult> Race::challenge(const Build& build) {
  RaceResult result;
  if (!context_) {
    KF_TRY(context_, workspace_.context(task_));
    KF_TRY(expected_, context_->expected(InputKind::kOwn));
  }
  challenger_.reset();
  challenger_.emplace();
  KF_TRY(challenger_->program, stage_program(workspace_, "challenger", build, task_));
  bool first = !memory_;
  if (first) KF_TRY_VOID(open(1e9));  // one slot: how long a call takes is not known yet
  workspace_.progress().stage("racing");
  KF_TRY(auto started, start(*challenger_, true));
  if (!started) {
    result.failure = started.error();
    if (first) memory_.reset();
    return result;
  }
  if (first) {
    reset_outputs(task_, challenger_->process->outputs(), choices_[0], 0);
    KF_TRY(auto called, challenger_->process->call({0}, context_->call_limit));
    if (!called) return result.failure = called.error(), memory_.reset(), result;
    challenger_->process.reset();
    KF_TRY_VOID(open(called->parent_ns));
    KF_TRY(auto again, start(*challenger_, true));
    if (!again) return result.failure = again.error(), memory_.reset(), result;
  }
  if (incumbent_ && !incumbent_->process) {
    KF_TRY(auto woken, start(*incumbent_, false));
    if (!woken)
      return fail("the best program so far does not start any more: {}", reason_text(woken.error()));
  }
  return time_both(kLeastRounds);
}

Result<RaceResult> Race::challenge_again() {
  RaceResult result;
  workspace_.progress().stage("racing again");
  incumbent_->process.reset();
  challenger_->process.reset();
  KF_TRY(auto woken, start(*incumbent_, false));
  if (!woken) return fail("the best program so far does not start any more: {}", reason_text(woken.error()));
  KF_TRY(auto started, start(*challenger_, true));
  if (!started) return result.failure = started.error(), result;
  return time_both(kMostRounds);
}

Result<RaceResult> Race::time_both(int least_rounds) {
  RaceResult result;
  std::vector<TimedProgram> timed;
  timed.push_back({.process = challenger_->process.get()});
  if (incumbent_) timed.push_back({.process = incumbent_->process.get()});
  TimingOptions timing = timing_options(workspace_.setup(), *context_);
  timing.refill = false;
  timing.min_rounds = least_rounds;
  timing.max_rounds = kMostRounds;
  timing.seconds = kSeconds;
  TimingHooks hooks;
  hooks.plan = [this](int) { return fixed_plan(choices_); };
  hooks.enough = [](const auto& programs) { return known(programs); };
  KF_TRY(result.rounds, time_interleaved(task_, *memory_, timed, timing, hooks));
  if (timed.size() > 1 && timed[1].failure)
    return fail("the best program so far failed in a race: {}", reason_text(*timed[1].failure));
  result.failure = timed[0].failure;
  if (result.failure) return result;
  result.ns = median_interval(times_of(timed[0]));
  double cpu = 0, wall = 0;
  for (const Sample& sample : timed[0].samples) cpu += sample.cpu_ns, wall += sample.parent_ns;
  if (wall > 0) result.thread_use = cpu / (wall * workspace_.setup().threads);
  if (timed.size() > 1) {
    result.ratio = ratio_of(timed);
    // Over the wall time, because batches need not be of as many calls.
    result.cpu_ratio = ratio_of(timed, 0.95, [](const Sample& sample) {
      return sample.ns_per_call * sample.cpu_ns / std::max(sample.parent_ns, 1.0);
    });
  }
  result.disturbed = rounds_disturbed(timed);
  return result;
}

void Race::promote() { incumbent_ = std::exchange(challenger_, std::nullopt); }

void Race::pause() {
  challenger_.reset();
  if (incumbent_) incumbent_->process.reset();
}

Result<Interval> race_once(Workspace& workspace, const Candidate& challenger, const Candidate& incumbent) {
  GeometricMean ratios;
  for (std::size_t i = 0; i < workspace.setup().cases.size(); ++i) {
    const BoundTask& task = workspace.setup().bound(i);
    Race race(workspace, i);
    for (const Candidate* program : {&incumbent, &challenger}) {
      KF_TRY(auto built, build_program(workspace, *program, task));
      if (!built)
        return fail("a program that was verified before does not compile any more: {}",
                    reason_text(built.error()));
      KF_TRY(RaceResult result, race.challenge(*built));
      if (result.ratio && !interval_holds(result)) {
        KF_TRY(result, race.challenge_again());
      }
      if (result.failure)
        return fail("a program that was verified before fails in a race: {}", reason_text(*result.failure));
      if (result.ratio) ratios.add(*result.ratio, task.shape_case.weight);
      race.promote();
    }
  }
  return ratios.get();
}

Result<std::vector<MeasuredBaseline>> measure_baselines(Workspace& workspace, std::size_t index,
                                                        BaselineScope scope) {
  constexpr int kRounds = 5;
  const BoundTask& task = workspace.setup().bound(index);
  KF_TRY(JudgeContext context, workspace.context(task));
  workspace.progress().stage("checking baselines");
  CaseBaselines quick;
  const CaseBaselines* baselines = &quick;
  if (scope == BaselineScope::kAll) {
    KF_TRY(baselines, workspace.baselines(index, context));
  } else {
    KF_TRY(quick, workspace.quick_baselines(index, context));
  }
  const std::vector<Opponent>& opponents = baselines->present;
  std::vector<MeasuredBaseline> measured;
  if (opponents.empty()) return measured;
  TimingOptions timing = timing_options(workspace.setup(), context);
  timing.refill = false;
  KF_TRY(const std::uint32_t slots, slots_for_libraries(workspace, task, timing.batch_ns));
  KF_TRY(InputMemory memory, InputMemory::create_for_turns(task, slots));
  InputChoice own{InputKind::kOwn, context.check_seed(InputKind::kOwn)};
  fill_params(task, memory, own);
  for (std::uint32_t slot = 0; slot < memory.layout.slots; ++slot) fill_inputs(task, memory, own, slot);
  std::vector<std::unique_ptr<ProgramProcess>> running;
  std::vector<TimedProgram> timed;
  std::vector<std::string> names;
  workspace.progress().advance(0, "starting the baselines");
  std::vector<ProgramSpec> specs;
  for (const Opponent& opponent : opponents) specs.push_back(opponent.spec);
  auto processes = start_together(specs, task, memory, context.load_limit * 3);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    KF_TRY(auto started, std::move(processes[i]));
    if (!started) continue;  // the judging of the first candidate says why
    KF_TRY(auto prepared, (*started)->prepare(context.call_limit * 3));
    if (!prepared) continue;
    names.push_back(opponents[i].name);
    timed.push_back({.process = started->get()});
    running.push_back(std::move(*started));
  }
  if (timed.empty()) return measured;
  timing.min_rounds = kLeastRounds;
  timing.max_rounds = kRounds;
  timing.seconds = kSeconds;
  TimingHooks hooks;
  std::vector<InputChoice> choices(memory.layout.slots, own);
  hooks.plan = [&](int) { return fixed_plan(choices); };
  workspace.progress().stage("timing baselines");
  KF_TRY([[maybe_unused]] int rounds, time_interleaved(task, memory, timed, timing, hooks));
  for (std::size_t i = 0; i < timed.size(); ++i)
    if (!timed[i].failure) measured.push_back({names[i], median_interval(times_of(timed[i]))});
  std::ranges::sort(measured, {}, [](const MeasuredBaseline& baseline) { return baseline.ns.value; });
  if (!measured.empty() && scope == BaselineScope::kAll) workspace.set_fastest(index, measured.front().name);
  return measured;
}

}  // namespace kforge
