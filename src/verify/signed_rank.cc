#include "verify/signed_rank.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace kforge {
namespace {

// The largest c with P(W <= c) <= tail, where W is the sum of the ranks 1..n that chance takes with 1/2 each;
// -1: none.
long critical_rank_sum(std::size_t n, double tail) {
  const std::size_t most = n * (n + 1) / 2;
  std::vector<double> chance(most + 1, 0.0);
  chance[0] = 1;
  for (std::size_t rank = 1; rank <= n; ++rank)
    for (std::size_t sum = most + 1; sum-- > 0;)
      chance[sum] = 0.5 * (chance[sum] + (sum >= rank ? chance[sum - rank] : 0.0));
  double together = 0;
  long critical = -1;
  while (critical < static_cast<long>(most)) {
    together += chance[static_cast<std::size_t>(critical + 1)];
    if (together > tail) break;
    ++critical;
  }
  return critical;
}

}  // namespace

int least_differences(double confidence) {
  return static_cast<int>(std::ceil(1 - std::log2(1 - confidence)));  // all of one sign: 2^(1 - n)
}

Interval signed_rank_interval(std::span<const double> differences, double confidence) {
  const std::size_t n = differences.size();
  if (n == 0) return {};
  std::vector<double> means;
  means.reserve(n * (n + 1) / 2);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = i; j < n; ++j) means.push_back((differences[i] + differences[j]) / 2);
  std::ranges::sort(means);
  const long critical = std::max(critical_rank_sum(n, (1 - confidence) / 2), -1L);
  const auto from = static_cast<std::size_t>(std::max(critical + 1, 0L));
  return {median(means), means[std::min(from, means.size() - 1)],
          means[means.size() - 1 - std::min(from, means.size() - 1)]};
}

}  // namespace kforge
