#include "verify/timed_judge.h"

#include <algorithm>

#include "base/readable.h"

namespace kforge {
namespace {

// Of the calls of a batch; what a call gave takes up to 256 KiB for each output.
constexpr std::size_t kRememberedPerRound = 8;

std::vector<double> pick(const std::vector<Sample>& samples, const std::vector<std::size_t>& rounds) {
  std::vector<double> picked;
  for (std::size_t r : rounds)
    if (r < samples.size()) picked.push_back(samples[r].ns_per_call);
  return picked;
}

// A compiler that takes its time before the first call is part of what a baseline costs, and no part of its
// time.
std::string with_setup(std::string what, double setup_ns) {
  constexpr double kWorthTelling = 1e9;
  if (setup_ns >= kWorthTelling)
    what += fmt::format(", made ready in {} outside the clock", readable_time(setup_ns));
  return what;
}

}  // namespace

// New values for every slot, called in a new order.
RoundPlan TimedJudge::fresh_plan() {
  RoundPlan plan;
  for (std::uint32_t slot = 0; slot < memory_->layout.slots; ++slot) {
    plan.choices.push_back({InputKind::kOwn, random_()});
    plan.order.push_back(slot);
  }
  std::ranges::shuffle(plan.order, random_);
  return plan;
}

// A program without prepare() takes the params anew in every call, so they change from round to round: new
// ones, the same but for a part, or all of them in another order (which is all that can change about the
// initializers of a model).
InputChoice TimedJudge::next_params() {
  if (owned_[0]->usage().has_prepare) return {InputKind::kOwn, context_.check_seed(InputKind::kOwn)};
  switch (random_() % 3) {
    case 0:
      return {InputKind::kOwn, random_(), {VariedPart::kAll, random_()}};
    case 1: {
      InputChoice nearly = plain_params_;
      nearly.variation = {kNearParts[random_() % std::size(kNearParts)], random_()};
      return nearly;
    }
    default:
      return plain_params_ = {InputKind::kOwn, random_()};
  }
}

// One call of each round gets the inputs of an earlier one but for a part.
void TimedJudge::repeat_nearly(RoundPlan& plan) {
  varied_slot_.reset();
  if (remembered_.empty()) return;
  const InputChoice& earlier = remembered_[random_() % remembered_.size()].choice;
  if (earlier.variation.part != VariedPart::kNothing) return;
  varied_slot_ = plan.order[random_() % timed_[0].batch];
  plan.choices[*varied_slot_] = {
      InputKind::kOwn, earlier.seed, {kNearParts[random_() % std::size(kNearParts)], random_()}};
}

// Nothing in it can be foreseen, and nothing comes from the check inputs: which calls will be compared with
// the truth is drawn when all have been made.
RoundPlan TimedJudge::plan(int round) {
  RoundPlan plan = fresh_plan();
  if (round >= 0) repeat_nearly(plan);
  round_params_ = next_params();
  fill_params(task_, *memory_, round_params_);
  return plan;
}

void TimedJudge::after_batch(const BatchView& batch) {
  if (batch.program != 0 || verdict_.failed()) return;
  const TensorMemory& outputs = timed_[0].process->outputs();
  calls_made_ += batch.called.size();
  std::vector<std::uint32_t> looked_at(batch.called.begin(), batch.called.end());
  std::ranges::shuffle(looked_at, random_);
  if (varied_slot_)
    std::ranges::partition(looked_at, [this](std::uint32_t slot) { return slot == *varied_slot_; });
  looked_at.resize(std::min(looked_at.size(), kRememberedPerRound));
  for (std::uint32_t slot : looked_at)
    remembered_.push_back({rounds_before_ + batch.round, round_params_, batch.plan.choices[slot],
                           fingerprint_of(positions_, outputs, slot)});
  // Outputs of calls that were not made must be untouched: a program may not work ahead.
  if (batch.not_called.empty() || verdict_.failed()) return;
  std::uint32_t slot = batch.not_called[random_() % batch.not_called.size()];
  for (std::size_t a = 0; a < task_.arguments.size(); ++a) {
    const BoundArgument& argument = task_.arguments[a];
    if (argument.role != Role::kOutput) continue;
    auto data = outputs.tensor(a, slot);
    if (count_poison(argument.dtype, batch.plan.choices[slot].seed, data) == element_count(argument.shape))
      continue;
    verdict_.fail(
        Rejected{Gate::kTimedCalls,
                 fmt::format("{} of a call that had not been made was written: the program works ahead",
                             argument.c_name)});
    return;
  }
}

// Enough is known when the interval against the quickest opponent is narrow, or the candidate is hopeless.
bool TimedJudge::enough() {
  if (verdict_.failed() || timed_[0].failure) return true;
  auto kept = rounds_kept(timed_).rounds;
  auto own = pick(timed_[0].samples, kept);
  Interval narrowest = median_interval(own);
  double best = 0;
  for (std::size_t i = 1; i < timed_.size(); ++i) {
    if (timed_[i].failure) continue;
    auto theirs = pick(timed_[i].samples, kept);
    if (best != 0 && median(theirs) >= best) continue;
    best = median(theirs);
    narrowest = paired_ratio(theirs, own);
  }
  bool hopeless = best > 0 && narrowest.hi < options_.hopeless;
  return hopeless || (narrowest.hi - narrowest.lo) < 0.02 * narrowest.value;
}

void TimedJudge::run_rounds() {
  for (auto& process : owned_) timed_.push_back({.process = process.get()});
  TimingHooks hooks;
  hooks.plan = [this](int round) { return plan(round); };
  hooks.after_batch = [this](const BatchView& batch) { after_batch(batch); };
  hooks.enough = [this](const auto&) { return enough(); };
  hooks.progress = [this](int round, int of) {
    if (context_.progress) context_.progress(static_cast<double>(round) / of, fmt::format("round {}", round));
  };
  LoadWatch watch;
  options_.timing.watch = &watch;
  auto rounds = time_interleaved(task_, *memory_, timed_, options_.timing, hooks);
  options_.timing.watch = nullptr;
  findings_.rounds = rounds ? *rounds : 0;
  findings_.load = watch.load();
  findings_.load.disturbed = static_cast<double>(rounds_disturbed(timed_)) / std::max(findings_.rounds, 1);
  rounds_before_ += findings_.rounds;
  for (const TimedProgram& timed : timed_) {
    findings_.call_seconds += timed.spent_ns / 1e9;
    findings_.spin_seconds += timed.spin_ns / 1e9;
  }
}

void TimedJudge::summarise() {
  const auto [kept, disturbed] = rounds_kept(timed_);
  findings_.load.rounds_lost = disturbed;
  findings_.dropped = findings_.rounds - static_cast<int>(kept.size());
  findings_.samples = pick(timed_[0].samples, kept);
  findings_.batch = timed_[0].batch;
  std::vector<double> messages;
  for (const Sample& sample : timed_[0].samples) messages.push_back(sample.message_ns);
  findings_.message_ns = median(messages);
  findings_.ns = median_interval(findings_.samples);
  if (findings_.ns.value > 0)
    findings_.spread =
        (quantile(findings_.samples, 0.75) - quantile(findings_.samples, 0.25)) / findings_.ns.value;
  double cpu = 0, wall = 0;
  std::vector<double> computing;
  for (const Sample& sample : timed_[0].samples) {
    cpu += sample.cpu_ns, wall += sample.parent_ns;
    computing.push_back(sample.computing_threads);
  }
  findings_.computing_threads = static_cast<int>(median(computing));
  if (wall > 0) findings_.thread_use = cpu / (wall * context_.threads);
  std::map<const Opponent*, OpponentTimes> found;
  std::map<const Opponent*, Failure> failed;
  for (std::size_t i = 1; i < timed_.size(); ++i) {
    const PresentOpponent& present = present_[i - 1];
    const Opponent& opponent = *present.opponent;
    if (timed_[i].failure) {
      failed.emplace(&opponent, *timed_[i].failure);
      continue;
    }
    auto theirs = pick(timed_[i].samples, kept);
    OpponentTimes times{opponent.name,
                        with_setup(present.what, owned_[i]->usage().setup_ns),
                        median_interval(theirs),
                        paired_ratio(theirs, findings_.samples),
                        theirs,
                        opponent.baseline,
                        present.better_threads,
                        opponent.release};
    // Of two thread counts the quicker.
    auto [other, first] = found.try_emplace(&opponent, times);
    if (!first && times.ns.value < other->second.ns.value) other->second = std::move(times);
  }
  for (auto& [opponent, times] : found) findings_.opponents.push_back(std::move(times));
  for (const auto& [opponent, failure] : failed)
    if (!found.contains(opponent)) findings_.absent.push_back({opponent->name, reason_text(failure)});
  std::ranges::sort(findings_.opponents, {}, [](const OpponentTimes& r) { return r.ns.value; });
  findings_.usage = owned_[0]->usage();
}

}  // namespace kforge
