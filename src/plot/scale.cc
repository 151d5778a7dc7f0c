#include "plot/scale.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

namespace kforge {
namespace {

bool usable(ScaleKind kind, double value) {
  return std::isfinite(value) && std::abs(value) < 1e300 && (kind == ScaleKind::kLinear || value > 1e-300);
}

std::vector<double> linear_ticks(Range range, int most) {
  const double step_least = (range.hi - range.lo) / std::max(most, 1);
  if (!(step_least > 0)) return {range.lo};
  const double power = std::pow(10, std::floor(std::log10(step_least)));
  double step = 10 * power;
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= step_least * 0.999) {
      step = factor * power;
      break;
    }
  std::vector<double> ticks;
  const double slack = 1e-9 * step;
  for (double k = std::ceil((range.lo - slack) / step);; ++k) {
    const double tick = k * step;
    if (tick > range.hi + slack || ticks.size() > 100) return ticks;
    ticks.push_back(tick == 0 ? 0 : tick);
  }
}

std::vector<double> log_ticks(Range range, int most) {
  const int first = static_cast<int>(std::floor(std::log10(range.lo) + 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(range.hi) - 1e-9));
  const int decades = last - first;
  auto within = [&](double v) { return v >= range.lo * (1 - 1e-9) && v <= range.hi * (1 + 1e-9); };
  auto collect = [&](std::initializer_list<double> factors, int every) {
    std::vector<double> ticks;
    for (int power = first; power <= last; power += every)
      for (double factor : factors)
        if (double tick = factor * std::pow(10, power); within(tick)) ticks.push_back(tick);
    return ticks;
  };
  if (decades > most) return collect({1}, (decades + most - 1) / std::max(most, 1));
  for (auto factors : {std::initializer_list<double>{1, 2, 5}, std::initializer_list<double>{1, 3}})
    if (auto ticks = collect(factors, 1); static_cast<int>(ticks.size()) <= most && ticks.size() >= 3)
      return ticks;
  auto ticks = collect({1}, 1);
  return ticks.size() >= 2 ? ticks : linear_ticks(range, most);
}

}  // namespace

Range range_over(ScaleKind kind, std::span<const double> values) {
  double lo = 0, hi = 0;
  bool any = false;
  for (double value : values) {
    if (!usable(kind, value)) continue;
    lo = any ? std::min(lo, value) : value;
    hi = any ? std::max(hi, value) : value;
    any = true;
  }
  if (kind == ScaleKind::kLog) {
    if (!any) return {0.1, 10};
    const double room = std::max(std::pow(hi / lo, 0.06), 1.05);
    return {lo / room, hi * room};
  }
  if (!any) return {0, 1};
  const double room = hi > lo ? 0.06 * (hi - lo) : std::max(std::abs(hi) * 0.1, 1e-12);
  return {lo == 0 ? 0 : lo - room, hi == 0 && lo < 0 ? 0 : hi + room};
}

Scale::Scale(ScaleKind kind, Range range, double from, double to) : kind_(kind), from_(from), to_(to) {
  lo_ = position(range.lo);
  hi_ = position(range.hi);
}

double Scale::position(double value) const {
  if (kind_ == ScaleKind::kLinear) return value;
  return value > 0 ? std::log10(value) : -300;
}

double Scale::at(double value) const {
  if (std::isnan(value) || !(hi_ > lo_)) return from_;
  const double share = std::clamp((position(value) - lo_) / (hi_ - lo_), 0.0, 1.0);
  return from_ + share * (to_ - from_);
}

std::vector<double> ticks_of(ScaleKind kind, Range range, int most) {
  if (!usable(kind, range.lo) || !usable(kind, range.hi) || !(range.hi > range.lo)) return {};
  return kind == ScaleKind::kLinear ? linear_ticks(range, most) : log_ticks(range, most);
}

std::string tick_label(double value) { return fmt::format("{:.6g}", value); }

}  // namespace kforge
