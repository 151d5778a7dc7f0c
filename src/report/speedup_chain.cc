#include "report/speedup_chain.h"

#include <algorithm>
#include <cmath>

namespace kforge {
namespace {

// A ratio and how far its interval reaches to each side, in logarithms: there steps add up.
struct LogRatio {
  double value = 0, below = 0, above = 0;
};

LogRatio log_of(const Speedup& s) {
  double value = std::log(s.value);
  return {value, value - std::log(s.lo), std::log(s.hi) - value};
}

Interval interval_of(const LogRatio& r) {
  return {std::exp(r.value), std::exp(r.value - r.below), std::exp(r.value + r.above)};
}

LogRatio times(const LogRatio& a, const LogRatio& b) {
  return {a.value + b.value, std::hypot(a.below, b.below), std::hypot(a.above, b.above)};
}

LogRatio over(const LogRatio& a, const LogRatio& b) { return times(a, {-b.value, b.above, b.below}); }

std::optional<LogRatio> step_of(const Attempt& attempt) {
  const auto& j = *attempt.judgement;
  const std::optional<Speedup>& ratio = j.over_best ? j.over_best : j.over_rival;
  if (!ratio || !(ratio->lo > 0) || !(ratio->value > 0)) return std::nullopt;
  return log_of(*ratio);
}

}  // namespace

std::vector<ChainStep> speedup_chain(const std::vector<Attempt>& attempts, int best,
                                     const std::optional<Speedup>& confirmed) {
  std::vector<const Attempt*> accepted;
  for (const Attempt& attempt : attempts)
    if (attempt.accepted() && attempt.verified() && attempt.number <= best) accepted.push_back(&attempt);
  if (accepted.empty() || accepted.back()->number != best) return {};
  std::vector<ChainStep> chain;
  LogRatio at = confirmed && confirmed->lo > 0 ? log_of(*confirmed) : LogRatio{};
  for (auto it = accepted.rbegin(); it != accepted.rend(); ++it) {
    chain.push_back({(*it)->number, interval_of(at)});
    auto step = step_of(**it);
    if (!step) break;
    at = over(at, *step);
  }
  std::ranges::reverse(chain);
  if (confirmed) return chain;
  // Nothing to be faster than: the first program is the measure.
  LogRatio product;
  chain.clear();
  for (const Attempt* attempt : accepted) {
    if (!chain.empty()) {
      auto step = step_of(*attempt);
      if (!step) break;
      product = times(product, *step);
    }
    chain.push_back({attempt->number, interval_of(product)});
  }
  return chain;
}

}  // namespace kforge
