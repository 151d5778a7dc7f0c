// How long judging waits for the oracle: expected outputs (truth and yardstick) of every task, nothing
// cached.
//
//   bench_oracle [SHAPES [SUITE/TASK...]]        SHAPES: bench (default), small, odd, full
#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "figures.h"
#include "oracle/expected.h"
#include "task/task.h"

namespace kforge {
namespace {

rusage usage_so_far() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage;
}

// On a busy machine the processor time says more than the clock.
double processor_seconds() {
  const rusage usage = usage_so_far();
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// False where a target is missed.
bool measure(const Task& task, const std::string& shapes) {
  constexpr double kPatience = 10;  // seconds
  if (!task.shapes.empty() && !task.shapes.contains(shapes)) return true;
  const std::string name = task.suite + "/" + task.name;
  const auto bound = bind_task(task, shapes);
  if (!bound) {
    fmt::print("{}: {}\n", name, bound.error().text());
    return false;
  }
  const int threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const double before = processor_seconds();
  const auto expected = expected_outputs(*bound, InputKind::kOwn, 1, threads, nullptr);
  if (!expected) {
    fmt::print("{}: {}\n", name, expected.error().text());
    return false;
  }
  const std::string what =
      fmt::format("{} ({:.3g} Gflop, processor {:.2g} s, peak {:.2g} GB)", name, bound->cost.flops / 1e9,
                  processor_seconds() - before, static_cast<double>(usage_so_far().ru_maxrss) / 1e6);
  return bench::print_figure(what, expected->seconds, "s", kPatience);
}

int run(const std::vector<std::string>& words) {
  const std::string shapes = words.empty() ? "bench" : words[0];
  std::vector<Task> tasks;
  if (words.size() > 1) {
    for (std::size_t i = 1; i < words.size(); ++i) {
      auto task = load_task(words[i]);
      if (!task) return fmt::print("{}\n", task.error().text()), 2;
      tasks.push_back(std::move(*task));
    }
  } else {
    auto all = load_all_tasks();
    if (!all) return fmt::print("{}\n", all.error().text()), 2;
    tasks = std::move(*all);
  }
  int missed = 0;
  for (const Task& task : tasks) missed += !measure(task, shapes);
  fmt::print("{} of {} tasks within the target\n", tasks.size() - static_cast<std::size_t>(missed),
             tasks.size());
  return missed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kforge

int main(int argc, char** argv) { return kforge::run({argv + 1, argv + argc}); }
