#include <algorithm>
#include <cmath>
#include <ranges>

#include "task/random.h"
#include "task/task.h"

namespace kforge {
namespace {

constexpr std::uint64_t kAttempts = 96;
constexpr std::size_t kMostLong = 3, kMostSingle = 2;
// What judging one shape may take: about a second of the oracle for all kinds of inputs.
constexpr double kMostBytes = 24e6, kMostFlops = 400e6;

const ShapeCase* first_case(const Task& task, const std::string& set) {
  auto found = task.shapes.find(set);
  return found == task.shapes.end() || found->second.empty() ? nullptr : &found->second[0];
}

bool is_named(const Task& task, const std::map<std::string, std::int64_t>& dims) {
  for (const auto& [set, cases] : task.shapes)
    for (const ShapeCase& one : cases)
      if (one.dims == dims) return true;
  return false;
}

bool has_named_extent(const Task& task, const std::map<std::string, std::int64_t>& dims) {
  for (const auto& [set, cases] : task.shapes)
    for (const ShapeCase& shape : cases)
      for (const auto& [symbol, extent] : shape.dims)
        if (auto found = dims.find(symbol); found != dims.end() && found->second == extent) return true;
  return false;
}

// A window that is longer than its row leaves nothing to compute, and a launch of no threads is an error that
// says nothing about a program.
Result<BoundTask> bind_not_empty(const Task& task, const ShapeCase& drawn) {
  KF_TRY(BoundTask bound, bind_case(task, "hidden", drawn));
  for (const BoundArgument& argument : bound.arguments)
    if (element_count(argument.shape) == 0) return fail("'{}' would be empty", argument.name);
  return bound;
}

// Not every mixture fits the graph (heads must divide a width, ...). Early attempts change every dimension,
// later ones fewer, starting from a shape that is known to fit.
Result<BoundTask> bind_between(const Task& task, const ShapeCase& small, const ShapeCase& odd,
                               RandomBits& random) {
  std::string reason = "none differs from the named ones";
  for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    ShapeCase drawn = attempt % 2 ? odd : small;
    std::uint64_t changed_percent = attempt < 32 ? 100 : attempt < 64 ? 50 : 25;
    for (auto& [symbol, extent] : drawn.dims) {
      auto other = (attempt % 2 ? small : odd).dims.find(symbol);
      std::int64_t low = std::min(extent, other->second), high = std::max(extent, other->second);
      if (low == high) low = std::max<std::int64_t>(1, low / 2), high += 3;
      if (random.next() % 100 < changed_percent)
        extent = low + static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(high - low + 1));
    }
    if (is_named(task, drawn.dims)) continue;
    // A program that knows the named sizes one by one is to meet none of them, where the graph allows that.
    if (attempt < 48 && has_named_extent(task, drawn.dims)) continue;
    auto bound = bind_not_empty(task, drawn);
    if (bound) return bound;
    reason = bound.error().message;
  }
  return fail("task '{}': no hidden shape was found ({})", task.name, reason);
}

std::int64_t log_uniform(RandomBits& random, double low, double high) {
  return std::llround(std::exp(std::log(low) + random.uniform() * (std::log(high) - std::log(low))));
}

// `symbol` between two extents, log-uniformly, and the other dimensions at most small; nothing where no such
// shape fits the graph or is quick to judge.
std::optional<BoundTask> bind_long(const Task& task, const ShapeCase& small, const std::string& symbol,
                                   double shortest, double longest, RandomBits& random) {
  if (longest < 2 * static_cast<double>(small.dims.at(symbol))) return std::nullopt;
  for (std::uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    // What fits may need whole multiples of something: later attempts take multiples of the small extent.
    ShapeCase drawn = small;
    std::int64_t& extent = drawn.dims.at(symbol);
    std::int64_t step = attempt < kAttempts / 2 ? 1 : extent;
    extent = std::max(step, log_uniform(random, shortest, longest) / step * step);
    for (auto& [other, size] : drawn.dims)
      if (other != symbol && attempt % 2 == 0) size = log_uniform(random, 1, static_cast<double>(size));
    if (attempt < kAttempts / 4 && has_named_extent(task, {{symbol, extent}})) continue;
    auto bound = bind_not_empty(task, drawn);
    if (!bound) continue;
    if (bound->cost.unfused_bytes <= kMostBytes && bound->cost.flops <= kMostFlops) return std::move(*bound);
    shortest *= 0.9, longest *= 0.9;  // it is this dimension that makes it dear
  }
  return std::nullopt;
}

// `symbol` is 1, where the loops of many programs have their special case, and the others between small and
// odd; nothing where no such shape fits the graph.
std::optional<BoundTask> bind_single(const Task& task, const ShapeCase& small, const ShapeCase& odd,
                                     const std::string& symbol, RandomBits& random) {
  for (std::uint64_t attempt = 0; attempt < kAttempts / 4; ++attempt) {
    ShapeCase drawn = attempt % 2 ? odd : small;
    for (auto& [other, extent] : drawn.dims)
      if (attempt < kAttempts / 8 && other != symbol)
        extent = log_uniform(random, 2, static_cast<double>(std::max<std::int64_t>(extent, 2)));
    drawn.dims.at(symbol) = 1;
    if (is_named(task, drawn.dims)) continue;
    if (auto bound = bind_not_empty(task, drawn)) return std::move(*bound);
  }
  return std::nullopt;
}

}  // namespace

Result<std::vector<BoundTask>> bind_hidden_shapes(const Task& task, std::uint64_t seed) {
  const ShapeCase *small = first_case(task, "small"), *odd = first_case(task, "odd"),
                  *bench = first_case(task, "bench");
  if (!small || !odd)
    return fail("task '{}' needs the shape sets small and odd for a hidden shape", task.name);
  if (small->dims.empty()) return fail("task '{}' has only one shape", task.name);
  RandomBits random(seed, 0x68696464656eULL);
  std::vector<BoundTask> shapes;
  KF_TRY(BoundTask between, bind_between(task, *small, *odd, random));
  shapes.push_back(std::move(between));
  if (!bench) return shapes;
  std::vector<std::string> symbols;
  for (const auto& [symbol, extent] : small->dims)
    if (bench->dims.contains(symbol)) symbols.push_back(symbol);
  for (std::size_t i = symbols.size(); i > 1; --i) std::swap(symbols[i - 1], symbols[random.next() % i]);
  if (symbols.size() > kMostLong) symbols.resize(kMostLong);
  for (const std::string& symbol : symbols | std::views::take(kMostSingle))
    if (auto bound = bind_single(task, *small, *odd, symbol, random)) shapes.push_back(std::move(*bound));
  for (const std::string& symbol : symbols) {
    auto timed = static_cast<double>(bench->dims.at(symbol)),
         least = static_cast<double>(small->dims.at(symbol));
    if (auto bound = bind_long(task, *small, symbol, timed, 2 * timed, random))
      shapes.push_back(std::move(*bound));
    if (symbol != symbols.front()) continue;
    if (auto bound = bind_long(task, *small, symbol, std::sqrt(least * timed), timed, random))
      shapes.push_back(std::move(*bound));
  }
  return shapes;
}

}  // namespace kforge
