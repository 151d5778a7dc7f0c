// The baselines side by side: calls through the protocol in a plain loop, interleaved, outputs compared with
// each other. `--baseline torch --baseline torch.graph` on imported tasks (docs/import.md) also tells whether
// the module is a fair baseline: 21 calls on a quiet machine say it.
//   bench_baselines [--set bench] [--python PATH] [--calls N] [--threads N] [--suite NAME | TASK...]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "base/files.h"
#include "baseline/baseline.h"
#include "execute/fill.h"
#include "execute/program_process.h"
#include "figures.h"

namespace kforge::bench {
namespace {

struct Options {
  std::string set = "bench", suite;
  std::vector<std::string> tasks;
  BaselineOptions baselines;
  int calls = 5;
};

struct Running {
  std::string name;
  std::unique_ptr<ProgramProcess> process;
  std::vector<double> milliseconds, cpu_milliseconds;
};

// Largest difference over rms of the reference; what fp32 rounding alone gives is below 1e-5 or so.
double difference(const BoundTask& task, const TensorMemory& a, const TensorMemory& b) {
  double worst = 0;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const BoundArgument& argument = task.arguments[i];
    if (argument.role != Role::kOutput && argument.role != Role::kInout) continue;
    auto left = a.tensor(i, 0), right = b.tensor(i, 0);
    if (argument.dtype != DType::kFloat32) {
      std::size_t size = size_of(argument.dtype), differ = 0, count = left.size() / size;
      for (std::size_t at = 0; at + size <= left.size(); at += size)
        differ += std::memcmp(&left[at], &right[at], size) != 0;
      if (argument.dtype != DType::kBFloat16 && argument.dtype != DType::kFloat16)
        worst = std::max(worst,
                         static_cast<double>(differ) / static_cast<double>(std::max<std::size_t>(count, 1)));
      continue;
    }
    auto* x = reinterpret_cast<const float*>(left.data());
    auto* y = reinterpret_cast<const float*>(right.data());
    double squares = 0, largest = 0;
    std::size_t count = left.size() / sizeof(float);
    for (std::size_t k = 0; k < count; ++k) {
      squares += static_cast<double>(x[k]) * x[k];
      double d = std::abs(static_cast<double>(x[k]) - y[k]);
      largest = std::isnan(d) && std::isnan(x[k]) && std::isnan(y[k]) ? largest
                : std::isnan(d)                                       ? INFINITY
                                                                      : std::max(largest, d);
    }
    worst = std::max(worst, largest / std::max(std::sqrt(squares / static_cast<double>(count)), 1e-30));
  }
  return worst;
}

template <class T>
std::optional<std::string> trouble(const Step<T>& step) {
  if (!step) return step.error().message;
  if (!step->has_value()) return reason_text(step->error());
  return std::nullopt;
}

// The user's module beside the graph that was made of it, in torch's operators: a module that is slower would
// make a baseline that is easily beaten.
void compare_forms(const std::vector<Running>& running) {
  constexpr double kHandicap = 1.03;
  auto find = [&](const char* name) {
    return std::ranges::find_if(running, [&](const Running& one) { return one.name == name; });
  };
  auto module = find("torch"), graph = find("torch.graph");
  if (module == running.end() || graph == running.end()) return;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(module->milliseconds.size(), graph->milliseconds.size()); ++i)
    ratios.push_back(module->milliseconds[i] / graph->milliseconds[i]);
  if (ratios.empty()) return;
  const double ratio = median_of(ratios);
  fmt::print("  the module takes {:.3f} of what its graph takes: {}\n", ratio,
             ratio <= kHandicap ? "no handicap" : "HANDICAPPED by more than 3 %");
}

Result<void> compare(const Task& task, const Options& options, const Machine& machine) {
  KF_TRY(BoundTask bound, bind_task(task, options.set));
  KF_TRY(TempDir work, TempDir::create(0755));
  KF_TRY(Baselines found, find_baselines(bound, machine, options.baselines, work.path()));
  KF_TRY(InputMemory inputs, InputMemory::create(bound, 1));
  fill_params(bound, inputs, {InputKind::kOwn, 1});
  fill_inputs(bound, inputs, {InputKind::kOwn, 1}, 0);
  constexpr std::chrono::milliseconds kLimit{180'000};
  std::vector<Running> running;
  fmt::print("{}/{} {}: {:.3g} GFLOP, {:.3g} MB\n", task.suite, task.name, options.set,
             bound.cost.flops / 1e9, bound.cost.compulsory_bytes / 1e6);
  for (const AbsentBaseline& absent : found.absent)
    fmt::print("  {:<14} absent: {}\n", absent.name, absent.reason);
  for (Baseline& baseline : found.present) {
    auto started = ProgramProcess::start(baseline.spec, bound, inputs, kLimit);
    if (auto why = trouble(started)) {
      fmt::print("  {:<14} unavailable: {}\n", baseline.name, *why);
      continue;
    }
    Running one{baseline.name, std::move(**started), {}};
    if (auto why = trouble(one.process->prepare(kLimit)))
      fmt::print("  {:<14} unavailable: {}\n", baseline.name, *why);
    else
      running.push_back(std::move(one));
  }
  for (int round = 0; round <= options.calls; ++round)
    for (Running& one : running) {
      reset_outputs(bound, one.process->outputs(), {InputKind::kOwn, 1}, 0);
      auto took = one.process->call({0}, kLimit);
      if (auto why = trouble(took))
        fmt::print("  {:<14} failed: {}\n", one.name, *why);
      else if (round > 0)
        one.milliseconds.push_back((*took)->parent_ns / 1e6),
            one.cpu_milliseconds.push_back((*took)->cpu_ns / 1e6);
    }
  compare_forms(running);
  for (Running& one : running) {
    double ms = median_of(one.milliseconds);
    double apart =
        &one == &running[0] ? 0 : difference(bound, running[0].process->outputs(), one.process->outputs());
    fmt::print(
        "  {:<14} {:>9.3f} ms (cpu {:>9.3f}) {:>8.1f} GF/s {:>7.1f} GB/s   set-up {:>7.0f} ms   off {} by "
        "{:.1e}{}\n",
        one.name, ms, median_of(one.cpu_milliseconds), bound.cost.flops / ms / 1e6,
        bound.cost.compulsory_bytes / ms / 1e6, one.process->usage().setup_ns / 1e6, running[0].name, apart,
        apart > 1e-4 ? "  !!" : "");
    (void)one.process->finish();
  }
  return {};
}

Result<void> run(const Options& options) {
  KF_TRY(Machine machine, describe_machine());
  std::vector<Task> tasks;
  if (options.tasks.empty()) {
    KF_TRY(tasks, load_all_tasks(options.suite));
  }
  for (const std::string& name : options.tasks) {
    KF_TRY(Task task, load_task(name));
    tasks.push_back(std::move(task));
  }
  for (const Task& task : tasks)
    if (auto done = compare(task, options, machine); !done)
      fmt::print("  {}: {}\n", task.name, done.error().message);
  return {};
}

}  // namespace
}  // namespace kforge::bench

int main(int argc, char** argv) {
  kforge::bench::Options options;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    auto value = [&]() -> std::string { return i + 1 < argc ? argv[++i] : ""; };
    if (word == "--set")
      options.set = value();
    else if (word == "--suite")
      options.suite = value();
    else if (word == "--python")
      options.baselines.python = value();
    else if (word == "--calls")
      options.calls = std::atoi(value().c_str());
    else if (word == "--threads")
      options.baselines.threads = std::atoi(value().c_str());
    else if (word == "--baseline")
      options.baselines.names.push_back(value());
    else
      options.tasks.push_back(word);
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  auto done = kforge::bench::run(options);
  if (!done) fmt::print(stderr, "{}\n", done.error().text());
  return done ? 0 : 2;
}
