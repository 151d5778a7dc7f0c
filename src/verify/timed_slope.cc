// Gate "clock" for programs that are started anew for every run. Their time is the slope between a run of one
// call and one of many: whoever makes the short run long makes the slope flat. A run of a number of calls in
// between, drawn now, must lie on the line.
#include <algorithm>

#include "verify/timed_judge.h"

namespace kforge {
namespace {

// Nanoseconds that a run in between may be below the line: start-ups vary, beside busy neighbours by as much
// as they take, and short calls are hidden behind them. `spread_ns` is what they were seen to vary by.
double allowed_bend(double first_ns, double span_ns, double spread_ns) {
  constexpr double kOfSpan = 0.35, kOfFirst = 0.5, kLeast = 3e6;
  return std::max({kOfSpan * span_ns, kLeast + kOfFirst * first_ns, spread_ns});
}

}  // namespace

// How far runs in between lie below the line, over what is allowed: more than 1 is too much.
Step<double> TimedJudge::bend_of_slope(ProgramProcess& process) {
  constexpr int kRuns = 4;
  const std::uint32_t most = timed_[0].batch;
  const auto between = static_cast<std::uint32_t>(most / 3 + random_() % std::max(most / 3, 1u)) + 1;
  const std::uint32_t counts[] = {1, between, most};
  double quickest[] = {0, 0, 0}, slowest[] = {0, 0, 0};
  const RoundPlan plan = fresh_plan();
  for (std::uint32_t slot : plan.order) fill_inputs(task_, *memory_, plan.choices[slot], slot);
  for (int run = 0; run < kRuns; ++run)
    for (std::size_t i = 0; i < std::size(counts); ++i) {
      const std::vector<std::uint32_t> slots(plan.order.begin(), plan.order.begin() + counts[i]);
      KF_STEP(CallTime time, process.call(slots, context_.call_limit));
      quickest[i] = run == 0 ? time.parent_ns : std::min(quickest[i], time.parent_ns);
      slowest[i] = std::max(slowest[i], time.parent_ns);
    }
  const double span = std::max(quickest[2] - quickest[0], 0.0);
  const double line = quickest[0] + span * (between - 1) / std::max(most - 1.0, 1.0);
  return (line - quickest[1]) / allowed_bend(quickest[0], span, slowest[0] - quickest[0]);
}

Result<void> TimedJudge::judge_slope() {
  constexpr int kTries = 3;  // a busy machine bends lines, too
  std::vector<double> once, stated;
  for (const Sample& sample : timed_[0].samples) {
    once.push_back(std::max(sample.first_ns - sample.ns_per_call, 0.0));
    if (sample.stated_ns > 0) stated.push_back(sample.stated_ns);
  }
  const std::string claim =
      stated.empty() ? ""
                     : fmt::format("; the program itself says {:.4g} us for a call", median(stated) / 1e3);
  findings_.usage.setup_ns = median(once);
  KF_TRY(auto started, ProgramProcess::start(candidate_, task_, *memory_, context_.load_limit));
  if (!started) return verdict_.fail(started.error()), Result<void>{};
  double bend = 0;
  for (int i = 0; i < kTries && timed_[0].batch > 2; ++i) {
    KF_TRY(auto measured, bend_of_slope(**started));
    if (!measured) return verdict_.fail(measured.error()), Result<void>{};
    bend = *measured;
    if (bend <= 1) break;
  }
  const Figures evidence{
      {{"once_ns", median(once)}, {"calls", std::int64_t{timed_[0].batch}}, {"bend", bend}}};
  if (bend > 1) {
    verdict_.fail(
        Rejected{Gate::kClock,
                 fmt::format("a run of one call takes longer than runs of more calls say it should: its "
                             "time is no slope{}",
                             claim),
                 evidence});
    return {};
  }
  verdict_.pass(
      Gate::kClock,
      fmt::format("wall time of runs with 1 and {} calls, their difference over {}; {:.4g} ms come once in "
                  "every run{}",
                  timed_[0].batch, timed_[0].batch - 1, median(once) / 1e6, claim),
      evidence);
  return {};
}

}  // namespace kforge
