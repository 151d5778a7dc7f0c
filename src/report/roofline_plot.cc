#include "report/roofline_plot.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/readable.h"
#include "report/attempt_text.h"
#include "report/speedup_chain.h"

namespace kforge {
namespace {

using Drawn = XySeries::Shape;

constexpr std::size_t kMostPoints = 200;

Interval exactly(double value) { return {value, value, value}; }

// Heights are per second: flops, or bytes for a task that has none. Times are in ns, so these are giga.
struct Work {
  double amount = 0;
  const char* unit = "GFLOP/s";
};

// With several shapes there is no one amount of work that a time belongs to.
std::optional<Work> work_of(const RunReport& r) {
  if (!r.best || !r.best->time_ns || r.best->cases.size() > 1) return std::nullopt;
  if (r.best->flops > 0) return Work{r.best->flops, "GFLOP/s"};
  if (r.best->bytes > 0) return Work{r.best->bytes, "GB/s"};
  return std::nullopt;
}

Interval rate_of(const Work& work, const Interval& ns) {
  return {work.amount / ns.value, work.amount / ns.hi, work.amount / ns.lo};
}

std::string attempt_tip(const Attempt& a, double rate, const char* unit) {
  return fmt::format("attempt {}: {:.3g} {}, {}: {}", a.number, rate, unit, outcome_text(a),
                     shortened(a.change(), 40));
}

// The timed attempts, at their numbers or all at one x.
std::vector<XyPoint> points_of(const RunReport& r, const Work& work, std::optional<double> x) {
  std::vector<XyPoint> points;
  for (const Attempt& a : r.attempts) {
    if (!a.judgement || !a.judgement->time_ns || !(*a.judgement->time_ns > 0)) continue;
    const double rate = work.amount / *a.judgement->time_ns;
    points.push_back({x.value_or(a.number), exactly(rate), "", attempt_tip(a, rate, work.unit)});
    if (points.size() == kMostPoints) break;
  }
  return points;
}

XySeries roof(const std::string& name, Tone tone, double x1, double y1, double x2, double y2) {
  return {name, Drawn::kLine, tone, {{x1, exactly(y1)}, {x2, exactly(y2)}}, false, true};
}

}  // namespace

std::optional<XyChart> roofline_plot(const RunReport& r, const RunEvidence& evidence) {
  const auto work = work_of(r);
  if (!work || r.best->flops <= 0 || r.best->bytes <= 0) return std::nullopt;
  if (!evidence.peaks || !(evidence.peaks->fp32_gflops > 0)) return std::nullopt;
  const double peak = evidence.peaks->fp32_gflops, intensity = r.best->flops / r.best->bytes;
  double fastest = 0, slowest = 0;
  for (const Bandwidth& level : evidence.peaks->bandwidths) {
    fastest = std::max(fastest, level.read_gb_s);
    if (level.read_gb_s > 0) slowest = slowest > 0 ? std::min(slowest, level.read_gb_s) : level.read_gb_s;
  }
  if (!(slowest > 0)) return std::nullopt;
  const double lo = std::min(intensity, peak / fastest) / 3, hi = std::max(intensity, peak / slowest) * 3;
  XyChart chart{.title = "roofline: every attempt below the machine's measured limits",
                .x = {"flop per byte of memory the graph needs", ScaleKind::kLog, {lo, hi}},
                .y = {work->unit, ScaleKind::kLog, {peak * 1.2}}};
  constexpr Tone kTones[] = {Tone::kFaint, Tone::kThird, Tone::kWarn, Tone::kPlain};
  std::size_t which = 0;
  for (const Bandwidth& level : evidence.peaks->bandwidths) {
    if (!(level.read_gb_s > 0)) continue;
    chart.series.push_back(roof(fmt::format("{} {:.0f} GB/s", shortened(level.level, 24), level.read_gb_s),
                                kTones[which++ % std::size(kTones)], lo, lo * level.read_gb_s,
                                peak / level.read_gb_s, peak));
  }
  chart.series.push_back(
      roof(fmt::format("fp32 {:.0f} GFLOP/s", peak), Tone::kPlain, peak / fastest, peak, hi, peak));
  chart.series.push_back({"attempts", Drawn::kPoints, Tone::kSecond, points_of(r, *work, intensity)});
  chart.series.push_back({"confirmed",
                          Drawn::kPoints,
                          Tone::kBest,
                          {{intensity, rate_of(*work, *r.best->time_ns), "", "the confirmed figure"}}});
  return chart;
}

std::optional<XyChart> roofline_plot(const EvalReport& r) {
  if (!r.time_ns || !r.roofline || !r.achieved || r.cases.size() > 1 || r.flops <= 0 || r.bytes <= 0)
    return std::nullopt;
  if (!(r.roofline->fraction > 0) || !(r.achieved->gflops > 0)) return std::nullopt;
  const Work work{r.flops, "GFLOP/s"};
  const double intensity = r.flops / r.bytes, lo = intensity / 10, hi = intensity * 10;
  const double limit = r.achieved->gflops / r.roofline->fraction;
  XyChart chart{.title = "roofline: the kernel and its baselines below the limit that binds",
                .x = {"flop per byte of memory the graph needs", ScaleKind::kLog, {lo, hi}},
                .y = {work.unit, ScaleKind::kLog, {limit * 1.2}}};
  if (r.roofline->bound == "compute")
    chart.series.push_back(
        roof(fmt::format("compute {:.0f} GFLOP/s", limit), Tone::kPlain, lo, limit, hi, limit));
  else
    chart.series.push_back(
        roof(fmt::format("{} {:.0f} GB/s", shortened(r.roofline->bound, 24), limit / intensity), Tone::kPlain,
             lo, limit / 10, hi, limit * 10));
  XySeries baselines{"baselines", Drawn::kPoints, Tone::kSecond, {}};
  for (const BaselineResult& baseline : r.baselines)
    if (baselines.points.size() < kMostPoints && baseline.time_ns.lo > 0)
      baselines.points.push_back(
          {intensity, rate_of(work, baseline.time_ns), "", shortened(baseline.name, 40)});
  if (!baselines.points.empty()) chart.series.push_back(std::move(baselines));
  chart.series.push_back({"the kernel",
                          Drawn::kPoints,
                          Tone::kBest,
                          {{intensity, rate_of(work, *r.time_ns), "", "the kernel"}}});
  return chart;
}

std::optional<XyChart> attempts_plot(const RunReport& r) {
  const auto work = work_of(r);
  if (!work) return std::nullopt;
  std::vector<XyPoint> points = points_of(r, *work, std::nullopt);
  if (points.empty()) return std::nullopt;
  const double last = std::max(points.back().x, static_cast<double>(r.attempts.back().number));
  XyChart chart{.title = "what each attempt reached, and the path of the best",
                .x = {.title = "attempt", .reach = {0, last}, .whole = true},
                .y = {.title = work->unit, .reach = {0}}};
  if (r.best->roofline && r.best->achieved && r.best->roofline->fraction > 0) {
    const bool flops = r.best->flops > 0;
    const double bound =
        (flops ? r.best->achieved->gflops : r.best->achieved->gbytes_s) / r.best->roofline->fraction;
    chart.series.push_back(roof(fmt::format("{} bound", shortened(r.best->roofline->bound, 20)), Tone::kWarn,
                                0, bound, last, bound));
  }
  XySeries path{"path of the best", Drawn::kSteps, Tone::kBest, {}};
  for (const Attempt& a : r.attempts)
    if (a.accepted() && a.judgement && a.judgement->time_ns && *a.judgement->time_ns > 0)
      path.points.push_back({static_cast<double>(a.number), exactly(work->amount / *a.judgement->time_ns)});
  if (!path.points.empty()) {
    path.points.push_back({last, path.points.back().y});
    chart.series.push_back(std::move(path));
  }
  chart.series.push_back({"attempts", Drawn::kPoints, Tone::kSecond, std::move(points)});
  return chart;
}

std::optional<XyChart> incumbent_plot(const RunReport& r) {
  if (!r.best_attempt) return std::nullopt;
  const auto confirmed = r.best ? r.best->speedup : std::nullopt;
  const auto chain = speedup_chain(r.attempts, *r.best_attempt, confirmed);
  if (chain.empty()) return std::nullopt;
  const double last = std::max(r.attempts.back().number, *r.best_attempt);
  XyChart chart{.title = "speedup of the best so far after each attempt, with its 95 % interval",
                .x = {.title = "attempt", .reach = {0, last}, .whole = true},
                .y = {.title = confirmed ? "times as fast as " + shortened(confirmed->against, 40)
                                         : "times as fast as the first",
                      .reach = {1}},
                .height = 220};
  chart.series.push_back(roof("level", Tone::kFaint, 0, 1, last, 1));
  XySeries curve{"best so far", Drawn::kSteps, Tone::kBest, {}, true};
  for (const ChainStep& step : chain)
    curve.points.push_back(
        {static_cast<double>(step.attempt), step.speedup,
         fmt::format("{}x", readable_ratio(step.speedup.value)),
         fmt::format("attempt {}: {}x [{}, {}]", step.attempt, readable_ratio(step.speedup.value),
                     readable_ratio(step.speedup.lo), readable_ratio(step.speedup.hi))});
  if (chain.size() > kMostPoints) return std::nullopt;
  XySeries marks{"", Drawn::kPoints, Tone::kBest, curve.points};
  for (XyPoint& point : marks.points) point.y = exactly(point.y.value);
  if (curve.points.back().x < last) curve.points.push_back({last, curve.points.back().y});
  chart.series.push_back(std::move(curve));
  chart.series.push_back(std::move(marks));
  return chart;
}

}  // namespace kforge
