// Is a contender slowed by others being alive? Each baseline is timed alone and with all others present, in
// blocks alone, present, present, alone, the way a race times. Thread pools that go on spinning after a call
// (onnxruntime's, OpenMP's) would show here: the others have just made a call of their own when its turn
// comes.
//
//   bench_neighbours [--set bench] [--python PATH] [--rounds N] [TASK...]
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "base/files.h"
#include "baseline/baseline.h"
#include "execute/timing.h"
#include "figures.h"
#include "machine/spin.h"

namespace kforge::bench {
namespace {

constexpr std::chrono::milliseconds kLimit{180'000};
constexpr double kAllowed = 3;  // per cent

struct Options {
  std::string set = "bench";
  std::vector<std::string> tasks;
  BaselineOptions baselines;
  int rounds = 20;
};

using Process = std::unique_ptr<ProgramProcess>;

// Null where it cannot run the task.
Result<Process> start(const Baseline& baseline, const BoundTask& task, const InputMemory& memory) {
  KF_TRY(auto started, ProgramProcess::start(baseline.spec, task, memory, kLimit));
  if (!started) return Process();
  KF_TRY(auto prepared, (*started)->prepare(kLimit));
  if (!prepared) return Process();
  return std::move(*started);
}

class Neighbours {
 public:
  Neighbours(const BoundTask& task, const InputMemory& memory, const Machine& machine, int rounds)
      : task_(task), memory_(memory) {
    timing_.cpus = machine.cpus;
    timing_.evict_bytes = evict_bytes_per_core(machine);
    timing_.min_rounds = timing_.max_rounds = rounds;
    timing_.seconds = 600;
    hooks_.plan = [this](int) {
      RoundPlan plan{std::vector<InputChoice>(memory_.layout.slots, {InputKind::kOwn, 1}), {}};
      plan.order.resize(memory_.layout.slots);
      std::iota(plan.order.begin(), plan.order.end(), 0u);
      return plan;
    };
  }

  // Nanoseconds of the first one's calls, others in turns with it.
  Result<std::vector<double>> time(const std::vector<ProgramProcess*>& programs) {
    std::vector<TimedProgram> timed;
    for (ProgramProcess* program : programs) timed.push_back({.process = program});
    KF_TRY([[maybe_unused]] int rounds, time_interleaved(task_, memory_, timed, timing_, hooks_));
    if (timed[0].failure) return fail("{}", reason_text(*timed[0].failure));
    std::vector<double> ns;
    for (std::size_t round : rounds_kept(timed).rounds) ns.push_back(timed[0].samples[round].ns_per_call);
    return ns;
  }

 private:
  const BoundTask& task_;
  const InputMemory& memory_;
  TimingOptions timing_;
  TimingHooks hooks_;
};

Result<int> compare(const Task& task, const Options& options, const Machine& machine) {
  KF_TRY(BoundTask bound, bind_task(task, options.set));
  KF_TRY(TempDir work, TempDir::create(0755));
  KF_TRY(Baselines found, find_baselines(bound, machine, options.baselines, work.path()));
  KF_TRY(InputMemory memory, InputMemory::create_for_turns(bound, slots_for(bound, 20e3, 4e6)));
  fill_params(bound, memory, {InputKind::kOwn, 1});
  Neighbours neighbours(bound, memory, machine, options.rounds);
  int missed = 0;
  for (const Baseline& one : found.present) {
    KF_TRY(Process own, start(one, bound, memory));
    if (!own) continue;
    std::vector<double> alone, present;
    auto add = [](std::vector<double>& all, const std::vector<double>& more) {
      all.insert(all.end(), more.begin(), more.end());
    };
    KF_TRY(auto before, neighbours.time({own.get()}));
    add(alone, before);
    {
      std::vector<Process> others;
      std::vector<ProgramProcess*> all{own.get()};
      for (const Baseline& other : found.present) {
        if (&other == &one) continue;
        KF_TRY(Process started, start(other, bound, memory));
        if (!started) continue;
        all.push_back(started.get());
        others.push_back(std::move(started));
      }
      for (int block = 0; block < 2; ++block) {
        KF_TRY(auto between, neighbours.time(all));
        add(present, between);
      }
      for (Process& other : others) (void)other->finish();
    }
    KF_TRY(auto after, neighbours.time({own.get()}));
    add(alone, after);
    (void)own->finish();
    double drift = 100 * (median_of(after) / median_of(before) - 1);
    double change = 100 * (median_of(present) / median_of(alone) - 1);
    print_fact(fmt::format("{} {}: alone, after against before", task.name, one.name), drift, "%");
    print_fact(fmt::format("{} {}: beside the others, against alone", task.name, one.name), change, "%");
    // Faster beside others is no virtue: then the two were not measured alike.
    missed +=
        !print_figure(fmt::format("{} {}: apart by", task.name, one.name), std::abs(change), "%", kAllowed);
  }
  return missed;
}

Result<int> run(const Options& options) {
  KF_TRY(Machine machine, describe_machine());
  int missed = 0;
  for (const std::string& name : options.tasks) {
    KF_TRY(Task task, load_task(name));
    KF_TRY(int more, compare(task, options, machine));
    missed += more;
  }
  return missed;
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
    else if (word == "--python")
      options.baselines.python = value();
    else if (word == "--rounds")
      options.rounds = std::max(1, std::atoi(value().c_str()));
    else
      options.tasks.push_back(word);
  }
  if (options.tasks.empty()) options.tasks = {"core/matmul", "core/gelu", "core/softmax"};
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  auto missed = kforge::bench::run(options);
  if (!missed) fmt::print(stderr, "{}\n", missed.error().text());
  return !missed ? 2 : *missed > 0;
}
