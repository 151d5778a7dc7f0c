// When a search ends, and what it has spent.
#include <algorithm>

#include "forge/run_state.h"

namespace kforge {
namespace {

constexpr double kNearRoofline = 0.95;
constexpr int kModelPatience = 8, kRacePatience = 60;  // attempts without gain; races are cheap

int patience(const ForgeState& s) {
  if (s.options.patience > 0) return s.options.patience;
  return s.agents.every(&GeneratorTraits::raced) ? kRacePatience : kModelPatience * s.strategy_settings.width;
}

}  // namespace

Result<Spent> spent(ForgeState& s) {
  Spent spent;
  for (const Attempt& attempt : s.attempts->history().attempts) spent.attempts += attempt.number > 0;
  spent.seconds = s.clock();
  KF_TRY(auto calls, s.records->calls(s.record.id));
  for (const StoredCall& call : calls) {
    spent.tokens += call.input_tokens + call.output_tokens;
    if (call.dollars) spent.dollars = spent.dollars.value_or(0) + *call.dollars;
  }
  return spent;
}

Result<std::optional<Ending>> reason_to_stop(ForgeState& s) {
  if (s.stopped()) return Ending::kInterrupted;
  if (s.service_error) return Ending::kService;
  const History& history = s.attempts->history();
  const Attempt* best = history.best();
  if (best && s.options.check_only) return Ending::kVerified;
  KF_TRY(Spent so_far, spent(s));
  if (auto limit = used_up(s.options.budget, so_far)) return limit;
  if (s.exhausted) return Ending::kExhausted;
  if (!best) return std::nullopt;
  const std::optional<Speedup>& speedup = best->judgement->speedup;
  if (s.options.target && speedup && speedup->lo >= *s.options.target) return Ending::kTarget;
  // A baseline that is faster knows something the roofline does not; so does a machine that was too busy to
  // be measured.
  bool behind = speedup && speedup->value < 1;
  if (best->judgement->roofline_fraction.value_or(0) >= kNearRoofline && !behind) {
    KF_TRY(const Peaks* peaks, s.workspace->peaks());
    if (!peaks->disturbed) return Ending::kRoofline;
  }
  auto since =
      std::ranges::count_if(history.attempts, [&](const Attempt& a) { return a.number > best->number; });
  if (since >= patience(s)) return Ending::kNoGain;
  return std::nullopt;
}

}  // namespace kforge
