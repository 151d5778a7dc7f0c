#include <algorithm>
#include <cmath>

#include "execute/quiet_time.h"
#include "verify/look_ahead.h"
#include "verify/timed_judge.h"

namespace kforge {
namespace {

constexpr std::size_t kLeastCalls = 100;  // in the timed process, where they are short enough
constexpr double kMostLateSeconds = 2;
constexpr double kLongestLateBatch = 50e6;
constexpr std::chrono::milliseconds kLeastSpin{2};

}  // namespace

// A program may be honest for as many calls as it expects to be looked at: checks, a warm-up, the least
// number of rounds. Where the rounds made few calls, more are made in the same process, in the same way, and
// are looked at like the others.
Result<void> TimedJudge::make_late_calls() {
  // One that is started anew for every run has no late calls.
  if (calls_made_ >= kLeastCalls || candidate_.starts_anew) return {};
  // Every slot has values anyway, and no time is taken from them: as many calls in a batch as there are
  // slots, where they are short.
  const double slots = memory_->layout.slots;
  const double batch = std::clamp(std::floor(kLongestLateBatch / findings_.ns.value),
                                  std::min<double>(timed_[0].batch, slots), slots);
  const double wanted = std::ceil(static_cast<double>(kLeastCalls - calls_made_) / batch);
  const double budget = std::min(options_.timing.seconds / 2, kMostLateSeconds);
  const double calls = batch * findings_.ns.value / 1e9;
  // Rather a shorter warm-up than fewer calls.
  TimingOptions timing = options_.timing;
  const double left = std::max(budget / wanted - calls, 0.0);
  timing.spin = std::clamp(std::chrono::milliseconds(static_cast<long>(left * 1e3)), kLeastSpin, timing.spin);
  const double affordable = budget / (static_cast<double>(timing.spin.count()) / 1e3 + calls);
  timing.min_rounds = timing.max_rounds = static_cast<int>(std::max(1.0, std::min(wanted, affordable)));
  timing.batch_ns = std::max(timing.batch_ns, batch * findings_.ns.value);
  timing.patience = 1;  // no figure rests on them: disturbed ones count as well
  std::vector<TimedProgram> alone;
  alone.push_back({.process = owned_[0].get()});
  TimingHooks hooks;
  hooks.plan = [this](int round) { return plan(round); };
  hooks.after_batch = [this](const BatchView& view) { after_batch(view); };
  hooks.enough = [this](const auto&) { return verdict_.failed(); };
  KF_TRY(int rounds, time_interleaved(task_, *memory_, alone, timing, hooks));
  rounds_before_ += rounds;
  findings_.call_seconds += alone[0].spent_ns / 1e9;
  findings_.spin_seconds += alone[0].spin_ns / 1e9;
  if (alone[0].failure) verdict_.fail(*alone[0].failure);
  return {};
}

// Small calls come in batches; see look_ahead.h. The call's result joins those that are made again elsewhere.
// Where the probe never gets its chance (a program that does all the work in the first call, or a busy
// machine), calls are timed one by one instead: alone, nobody can work ahead.
Result<void> TimedJudge::judge_look_ahead() {
  constexpr int kTries = 8;
  std::uint32_t batch = timed_[0].batch;
  if (batch < 4 || !can_probe_look_ahead(task_)) return {};
  // On a device the inputs of a batch are there before it begins, and nothing but KForge's own code submits.
  // A program that is started anew does in its first call what is on the clock all the same: a run of one
  // call has the inputs of one.
  if (owned_[0]->usage().has_transfers) return {};
  QuietTime quiet;
  const InputChoice params = next_params();
  fill_params(task_, *memory_, params);
  for (int i = 0; i < kTries; ++i) {
    KF_TRY(auto probe, probe_look_ahead(task_, *memory_, *owned_[0], fresh_plan(), batch, random_(),
                                        context_.call_limit));
    if (!probe) return verdict_.fail(probe.error()), Result<void>{};
    if (!probe->conclusive) continue;
    remembered_.push_back({rounds_before_, params, probe->choice,
                           fingerprint_of(positions_, owned_[0]->outputs(), probe->slot), true});
    return {};
  }
  // What was seen of the batches stays evidence: those calls are made again too.
  options_.timing.batch_ns = 0;
  timed_.clear();
  findings_.opponents.clear();
  run_rounds();
  if (timed_[0].failure) verdict_.fail(*timed_[0].failure);
  if (verdict_.failed()) return {};
  summarise();
  verdict_.flags.push_back("timed_one_by_one");
  return {};
}

}  // namespace kforge
