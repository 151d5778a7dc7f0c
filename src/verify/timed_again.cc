#include "verify/timed_judge.h"

#include <algorithm>
#include <numeric>

#include "verify/look_ahead.h"

namespace kforge {
namespace {

constexpr double kRepeatSeconds = 1.5;  // spent on making timed calls again in a fresh process
constexpr std::size_t kRepeatLeast = 4, kRepeatMost = 64;
constexpr int kMostOracleCalls = 16;

}  // namespace

// Small calls come in batches; see look_ahead.h. The call's result joins those that are made again elsewhere.
// Where the probe never gets its chance (a program that does all the work in the first call, or a busy
// machine), calls are timed one by one instead: alone, nobody can work ahead.
Result<void> TimedJudge::judge_look_ahead() {
  constexpr int kTries = 8;
  std::uint32_t batch = timed_[0].batch;
  if (batch < 4 || !can_probe_look_ahead(task_)) return {};
  // Params seen now must not give away the drawn call, should there be more rounds.
  InputChoice params{InputKind::kOwn, context_.check_seed(InputKind::kOwn)};
  if (!owned_[0]->usage().has_prepare) params.seed = random_();
  fill_params(task_, *memory_, params);
  for (int i = 0; i < kTries; ++i) {
    KF_TRY(auto probe, probe_look_ahead(task_, *memory_, *owned_[0], fresh_plan(), batch, random_(),
                                        context_.call_limit));
    if (!probe) return verdict_.fail(probe.error()), Result<void>{};
    if (!probe->conclusive) continue;
    remembered_.insert(remembered_.begin(),
                       {findings_.rounds, params, probe->choice,
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

// How many of the remembered calls from `first` on can be one command: those of one round, which have the
// same params.
std::size_t TimedJudge::calls_together(std::size_t first) const {
  std::size_t most = std::min<std::size_t>(fresh_memory_->layout.slots, remembered_.size() - first),
              count = 1;
  if (remembered_[first].probe) return 1;
  while (count < most && remembered_[first + count].params.seed == remembered_[first].params.seed) ++count;
  return count;
}

Result<void> TimedJudge::repeat_calls(ProgramProcess& fresh, std::span<const RememberedCall> calls) {
  const InputMemory& memory = *fresh_memory_;
  if (!fresh.usage().has_prepare) fill_params(task_, memory, calls[0].params);
  std::vector<std::uint32_t> slots(memory.layout.slots);
  std::iota(slots.begin(), slots.end(), 0);
  std::ranges::shuffle(slots, random_);
  slots.resize(calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    fill_inputs(task_, memory, calls[i].choice, slots[i]);
    reset_outputs(task_, fresh.outputs(), calls[i].choice, slots[i]);
  }
  KF_TRY(auto time, fresh.call(slots, context_.call_limit));
  if (!time) return verdict_.fail(time.error()), Result<void>{};
  findings_.call_seconds += time->parent_ns / 1e9;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const RememberedCall& call = calls[i];
    auto again = fingerprint_of(positions_, fresh.outputs(), slots[i]);
    auto difference = fingerprints_differ(positions_, task_, call.values, again, context_.policy, *expected_);
    if (!difference) {
      if (oracle_wanted(call)) KF_TRY_VOID(judge_by_oracle(call, fresh.outputs(), slots[i]));
      if (verdict_.failed()) return {};
      continue;
    }
    if (call.probe) {
      verdict_.fail(Rejected{
          Gate::kTimedCalls,
          "a call used values its inputs had before it was made: the program works ahead in a batch; " +
              *difference,
          ""});
      return {};
    }
    verdict_.fail(
        Rejected{Gate::kTimedCalls,
                 fmt::format("a timed call (round {}) gave another result than the same call alone: {}",
                             call.round + 1, *difference),
                 fmt::format("{{\"round\":{}}}", call.round + 1)});
    return {};
  }
  return {};
}

// Gate "timed_calls": the timed calls made again, shuffled, in a process that knows nothing of the first.
Result<void> TimedJudge::judge_timed_calls() {
  double each = findings_.ns.value / 1e9 + static_cast<double>(MemoryLayout::bytes_per_slot(task_)) / 1e9;
  auto affordable = static_cast<std::size_t>(kRepeatSeconds / std::max(each, 1e-9));
  std::ranges::shuffle(remembered_, random_);
  std::ranges::partition(remembered_, &RememberedCall::probe);
  remembered_.resize(std::min(remembered_.size(), std::clamp(affordable, kRepeatLeast, kRepeatMost)));
  // Calls of one round have the same params and can be made together; the order within a round stays
  // shuffled.
  std::ranges::stable_sort(
      remembered_, {}, [](const RememberedCall& call) { return std::pair(!call.probe, call.params.seed); });
  oracle_calls_left_ = oracle_is_slow() ? 0 : kMostOracleCalls;
  const InputMemory& memory = *fresh_memory_;
  fill_params(task_, memory, {InputKind::kOwn, context_.check_seed(InputKind::kOwn)});
  if (!fresh_) {
    KF_TRY(auto started, ProgramProcess::start(candidate_, task_, memory, context_.load_limit));
    if (!started) return verdict_.fail(started.error()), Result<void>{};
    fresh_ = std::move(*started);
  }
  ProgramProcess& fresh = *fresh_;
  KF_TRY(auto prepared, fresh.prepare(context_.call_limit));
  if (!prepared) return verdict_.fail(prepared.error()), Result<void>{};
  for (std::size_t first = 0; first < remembered_.size();) {
    std::size_t count = calls_together(first);
    KF_TRY_VOID(repeat_calls(fresh, std::span(remembered_).subspan(first, count)));
    if (verdict_.failed()) return {};
    first += count;
  }
  KF_TRY(auto finished, fresh.finish());
  if (!finished) return verdict_.fail(finished.error()), Result<void>{};
  verdict_.pass(
      Gate::kTimedCalls,
      fmt::format("{} equal the oracle{}, {} others equal the same call in a fresh process",
                  compared_with_oracle_ == 0 ? "one timed call"
                                             : fmt::format("{} timed calls", compared_with_oracle_ + 1),
                  compared_with_baseline_ == 0 ? "" : fmt::format(", {} a baseline", compared_with_baseline_),
                  remembered_.size()));
  return {};
}

}  // namespace kforge
