// How often does a program that is no faster win? Races identical programs, and honest ones that are 5 % and
// 10 % apart, the way a search does: a race, and for the winner a second one in fresh processes. Quiet, and
// beside busy processes.
//
//   bench_false_gain [KIND...] [RACES] [BUSY...]
//       words of the kinds wanted (all), races of each (40), numbers of busy processes (0 2 4 8)
//   bench_false_gain on PLATFORM [RACES] [BUSY...]
//       the platform's example beside itself, with the interval of every race
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "figures.h"
#include "judge/program.h"
#include "judge/race.h"
#include "setting.h"

namespace kforge::bench {
namespace {

// Processes that do nothing but compute, until it goes out of scope or this process ends.
class BusyProcesses {
 public:
  explicit BusyProcesses(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t parent = ::getpid(), child = ::fork();
      if (child > 0) children_.push_back(child);
      if (child != 0) continue;
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(0);
      for (;;) asm volatile("");
    }
  }
  ~BusyProcesses() {
    for (pid_t child : children_) ::kill(child, SIGKILL), ::waitpid(child, nullptr, 0);
  }
  BusyProcesses(const BusyProcesses&) = delete;
  BusyProcesses& operator=(const BusyProcesses&) = delete;

 private:
  std::vector<pid_t> children_;
};

// Bound by memory.
std::string relu_kernel(int version) {
  return fmt::format(R"(// version {}
#include "task.h"
extern "C" void kernel(const float* x, float* y) {{
#pragma omp parallel for simd
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}}
)",
                     version);
}

struct Kind {
  std::string name, incumbent, challenger, shapes;
  double truth = 1;  // how many times faster the challenger is
  std::string platform = "cpu";
  bool show = false;  // every race
};

struct Tally {
  int races = 0, won = 0, confirmed = 0, rounds = 0, disturbed = 0;
  double logarithms = 0, squares = 0;
  int excluded = 0;  // races whose interval leaves out 1
  double cpu_logarithms = 0, cpu_squares = 0;
  int cpu_excluded = 0;
};

Result<Build> built(Workspace& workspace, const std::string& source) {
  Candidate candidate{{{"kernel.cc", source}}, "bench"};
  if (source.empty()) {
    KF_TRY(auto example,
           read_candidate(workspace.setup().platform.folder / "example", workspace.setup().platform));
    if (!example) return fail("{}", reason_text(example.error()));
    candidate = *example;
  }
  KF_TRY(auto build, build_program(workspace, candidate, workspace.setup().bound(0)));
  if (!build) return fail("{}", reason_text(build.error()));
  return std::move(*build);
}

Result<Tally> race(const Kind& kind, int races) {
  SilentProgress progress;
  JudgeOptions options;
  options.task = kind.incumbent.empty() ? fmt::format("platforms/{}/example", kind.platform) : "core/relu";
  options.platform = kind.platform;
  options.shape_set = kind.shapes;
  options.baselines = {"none"};
  KF_TRY(auto workspace, Workspace::open(options, progress));
  KF_TRY(Build incumbent, built(*workspace, kind.incumbent));
  KF_TRY(Build challenger, built(*workspace, kind.challenger));
  Tally tally;
  for (int i = 0; i < races; ++i) {
    Race race(*workspace, 0);
    KF_TRY(RaceResult first, race.challenge(incumbent));
    if (first.failure) return fail("{}", reason_text(*first.failure));
    race.promote();
    KF_TRY(RaceResult second, race.challenge(challenger));
    if (second.failure) return fail("{}", reason_text(*second.failure));
    if (kind.show && !interval_holds(second)) {
      KF_TRY(second, race.challenge_again());
      if (second.failure) return fail("{}", reason_text(*second.failure));
    }
    ++tally.races;
    tally.rounds += second.rounds;
    tally.disturbed += second.disturbed;
    tally.logarithms += std::log(second.ratio->value);
    tally.squares += std::log(second.ratio->value) * std::log(second.ratio->value);
    tally.excluded += second.ratio->lo > 1 || second.ratio->hi < 1;
    const Interval& cpu = *second.cpu_ratio;
    tally.cpu_logarithms += std::log(cpu.value);
    tally.cpu_squares += std::log(cpu.value) * std::log(cpu.value);
    tally.cpu_excluded += cpu.lo > 1 || cpu.hi < 1;
    if (kind.show)
      std::printf("  %.3f [%.3f, %.3f]  by processor time %.3f [%.3f, %.3f]  %d rounds, %d disturbed\n",
                  second.ratio->value, second.ratio->lo, second.ratio->hi, cpu.value, cpu.lo, cpu.hi,
                  second.rounds, second.disturbed),
          std::fflush(stdout);
    if (second.ratio->lo <= 1) continue;
    ++tally.won;
    KF_TRY(RaceResult again, race.challenge_again());
    if (again.failure) return fail("{}", reason_text(*again.failure));
    tally.confirmed += again.ratio->lo > 1;
  }
  return tally;
}

Result<int> run_on(const std::string& platform, int races, const std::vector<int>& busy) {
  use_bench_home();
  for (const int count : busy) {
    const BusyProcesses beside(count);
    std::printf("the example of %s beside itself, %d busy\n", platform.c_str(), count);
    KF_TRY(Tally tally, race({"", "", "", "bench", 1, platform, true}, races));
    const auto say = [&](const char* what, double logarithms, double squares, int excluded) {
      const double mean = logarithms / tally.races;
      std::printf("%s: mean %.3fx, deviation between races %.1f %%, intervals without 1: %d of %d\n", what,
                  std::exp(mean), 100 * std::sqrt(std::max(squares / tally.races - mean * mean, 0.0)),
                  excluded, tally.races);
    };
    say("by the clock", tally.logarithms, tally.squares, tally.excluded);
    say("by processor time", tally.cpu_logarithms, tally.cpu_squares, tally.cpu_excluded);
    std::printf("rounds disturbed %.1f %%\n", 100.0 * tally.disturbed / tally.rounds);
  }
  return 0;
}

Result<int> run(const std::vector<std::string>& wanted, int races, const std::vector<int>& busy) {
  use_bench_home();
  constexpr long kSteps = 500'000;  // about a millisecond
  const std::string same = chain_kernel(kSteps);
  const std::vector<Kind> kinds = {
      {"arithmetic, identical", same, "// the same\n" + same, "small", 1},
      {"memory, identical", relu_kernel(1), relu_kernel(2), "bench", 1},
      {"5 % faster", chain_kernel(kSteps * 105 / 100), same, "small", 1.05},
      {"10 % faster", chain_kernel(kSteps * 110 / 100), same, "small", 1.10},
  };
  std::printf("%-24s %5s %6s %12s %12s %10s %10s\n", "challenger", "busy", "races", "won a race",
              "and another", "mean ratio", "disturbed");
  for (const int count : busy) {
    const BusyProcesses beside(count);
    for (const Kind& kind : kinds) {
      const auto named = [&](const std::string& word) { return kind.name.find(word) != std::string::npos; };
      if (!wanted.empty() && std::ranges::none_of(wanted, named)) continue;
      KF_TRY(Tally tally, race(kind, races));
      const double share = 100.0 / tally.races;
      std::printf("%-24s %5d %6d %10.1f %% %10.1f %% %9.3fx %8.1f %%\n", kind.name.c_str(), count,
                  tally.races, share * tally.won, share * tally.confirmed,
                  std::exp(tally.logarithms / tally.races), 100.0 * tally.disturbed / tally.rounds);
      std::fflush(stdout);
    }
  }
  std::printf(
      "targets: identical ones at most 2.5 %%; 10 %% faster ones at least 80 %% where nothing is busy\n");
  return 0;
}

}  // namespace
}  // namespace kforge::bench

int main(int argc, char** argv) {
  std::vector<int> numbers;
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    const bool number = std::isdigit(static_cast<unsigned char>(argv[i][0])) != 0;
    if (number) numbers.push_back(std::atoi(argv[i]));
    if (!number) words.emplace_back(argv[i]);
  }
  const int races = numbers.empty() ? 40 : numbers[0];
  std::vector<int> busy(numbers.size() > 1 ? numbers.begin() + 1 : numbers.end(), numbers.end());
  if (busy.empty()) busy = {0, 2, 4, 8};
  const bool on = words.size() == 2 && words[0] == "on";
  auto done = on ? kforge::bench::run_on(words[1], races, busy) : kforge::bench::run(words, races, busy);
  if (!done) std::fprintf(stderr, "%s\n", done.error().text().c_str());
  return done ? 0 : 1;
}
