// What an evaluation costs beyond the work it cannot do without: the compiler, calls of kernel and baselines,
// warm-up spins, and the oracle. Also: how soon a kernel that was built before gets its first check call.
#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "base/subprocess.h"
#include "figures.h"
#include "setting.h"
#include "store/eval_report.h"

namespace kforge::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kRepeats = 9;

// Notes when the first kind of input is about to be checked: the kernel is loaded, its first call comes next.
class FirstCheck final : public Progress {
 public:
  void stage(std::string_view name) override { checking_ = checking_ || name == "checking values"; }
  void advance(double, std::string_view) override {
    if (checking_ && seconds_ == 0) seconds_ = seconds_since(start_);
  }
  void finish() override {}
  double seconds() const { return seconds_; }

 private:
  Clock::time_point start_ = Clock::now();
  bool checking_ = false;
  double seconds_ = 0;
};

double part(const EvalReport& report, const char* name) {
  auto found = report.seconds.find(name);
  return found == report.seconds.end() ? 0 : found->second;
}

// The whole program as a user starts it, less what it must do anyway.
Result<double> overhead_of_program(std::vector<std::string> further) {
  Command command;
  command.argv = {
      kProgram.string(), "eval",  "core/relu",  "--kernel", (kKernels / "relu_bit_masks.cc").string(),
      "--shapes",        "small", "--baseline", "none",     "--json"};
  command.argv.insert(command.argv.end(), further.begin(), further.end());
  auto start = Clock::now();
  KF_TRY(Finished finished, run_command(command));
  double wall = seconds_since(start);
  if (!finished.ok())
    return fail("kforge eval ended with {}: {}{}", finished.exit_code, finished.err, finished.out);
  KF_TRY(EvalReport report, eval_report_from_json(finished.out));
  return wall - part(report, "compiler") - part(report, "oracle") - part(report, "contender calls") -
         part(report, "spins");
}

Result<double> median_overhead(const std::vector<std::string>& further) {
  std::vector<double> all;
  KF_TRY([[maybe_unused]] double warming, overhead_of_program(further));
  for (int i = 0; i < kRepeats; ++i) {
    KF_TRY(double one, overhead_of_program(further));
    all.push_back(one);
  }
  return median_of(all);
}

Result<double> median_first_check() {
  std::vector<double> all;
  for (int i = 0; i <= kRepeats; ++i) {
    FirstCheck progress;
    EvalOptions options = small_evaluation("core/relu", kKernels / "relu_bit_masks.cc");
    options.check_only = true;
    KF_TRY(EvalReport report, evaluate(options, progress));
    if (!report.passed()) return fail("the known kernel did not pass: {}", report.reason);
    if (i > 0) all.push_back(progress.seconds());
  }
  return median_of(all);
}

Result<double> quickest_start() {
  double best = 1e9;
  for (int i = 0; i < 30; ++i) {
    Command command;
    command.argv = {kProgram.string(), "version"};
    auto start = Clock::now();
    KF_TRY([[maybe_unused]] Finished finished, run_command(command));
    best = std::min(best, seconds_since(start));
  }
  return best;
}

Result<int> run() {
  use_bench_home();
  KF_TRY(double start, quickest_start());
  KF_TRY(double full, median_overhead({"--rounds", "5"}));
  KF_TRY(double check, median_overhead({"--check"}));
  KF_TRY(double first, median_first_check());
  int missed = 0;
  missed += !print_figure("kforge version: start to end, quickest of 30", start * 1e3, "ms", 10);
  missed += !print_figure("eval, overhead beyond compiler, calls, spins and oracle", full * 1e3, "ms", 60);
  missed += !print_figure("eval --check, the same", check * 1e3, "ms", 60);
  missed += !print_figure("warm build cache: from the start to the first check call", first * 1e3, "ms", 50);
  return missed;
}

}  // namespace
}  // namespace kforge::bench

int main() {
  auto missed = kforge::bench::run();
  if (missed) return *missed == 0 ? 0 : 1;
  fmt::print(stderr, "bench_overhead: {}\n", missed.error().text());
  return 2;
}
