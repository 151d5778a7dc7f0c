#include "baseline/onednn/step_times.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <new>

#include "task/inputs.h"

namespace kforge::onednn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLeastCalls = 3, kMostCalls = 15;
constexpr double kSeconds = 2;
constexpr std::uint64_t kSeed = 1;

void evict(std::vector<unsigned char>& lines) {
#pragma omp parallel for schedule(static)
  for (std::size_t i = 0; i < lines.size(); i += 64) ++lines[i];
}

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

}  // namespace

Result<std::string> print_step_times(Plan& plan, const BoundTask& task, std::size_t evict_bytes) {
  try {
    std::vector<std::unique_ptr<std::byte, void (*)(void*)>> memory;
    std::vector<std::byte*> addresses;
    for (std::size_t i = 0; i < task.arguments.size(); ++i) {
      const BoundArgument& argument = task.arguments[i];
      memory.push_back(allocate(argument.bytes()));
      addresses.push_back(memory.back().get());
      if (argument.role != Role::kOutput)
        fill_argument(argument, InputKind::kOwn, kSeed, i, {addresses.back(), argument.bytes()});
    }
    std::vector<unsigned char> lines(evict_bytes);
    plan.prepare(addresses);
    plan.call(addresses);  // what happens once per process
    std::vector<std::vector<double>> samples(plan.steps().size());
    auto start = Clock::now();
    for (int call = 0; call < kMostCalls; ++call) {
      if (call >= kLeastCalls && Clock::now() - start > std::chrono::duration<double>(kSeconds)) break;
      if (!lines.empty()) evict(lines);
      plan.call_timed(addresses, samples);
    }
    // Steps of one operator are its parts.
    std::vector<std::pair<std::string, double>> operators;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Step& step = plan.steps()[i];
      std::string name = step.node + "\t" + step.op;
      if (operators.empty() || operators.back().first != name) operators.emplace_back(name, 0);
      operators.back().second += median(samples[i]);
    }
    std::string text;
    for (const auto& [name, ns] : operators) text += fmt::format("{}\t{:.0f}\n", name, ns);
    return text;
  } catch (const std::exception& why) {
    return fail("oneDNN failed: {}", why.what());
  }
}

}  // namespace kforge::onednn
