// What an attempt of `kforge forge` costs beyond the work it cannot do without: the model, the compiler,
// calls of kernels and baselines with the warm-up before them, and the oracle. A scripted model on the
// loopback interface answers at once; every program is new, so that nothing comes from a cache.
#include <algorithm>
#include <map>

#include "base/random_seed.h"
#include "e2e/conversation.h"
#include "figures.h"
#include "forge/forge.h"
#include "setting.h"
#include "store/store.h"

namespace kforge::bench {
namespace {

constexpr int kAttempts = 12;
constexpr double kTarget = 40;  // ms

class Silent final : public RunView {
 public:
  void stage(std::string_view) override {}
  void advance(double, std::string_view) override {}
  void finish() override {}
  void line(std::string_view) override {}
};

// Seconds of what an attempt cannot do without, by name.
Result<std::map<std::string, double>> necessary(const std::string& result) {
  std::map<std::string, double> parts;
  if (result.empty()) return parts;
  KF_TRY(Store store, Store::open());
  KF_TRY(StoredResult stored, store.result(result));
  KF_TRY(EvalReport report, eval_report_from_json(stored.document));
  for (const char* name : {"compiler", "oracle", "contender calls", "spins"})
    if (auto found = report.seconds.find(name); found != report.seconds.end()) parts[name] = found->second;
  return parts;
}

struct Overheads {
  double whole = 0;              // of the search, per attempt
  std::vector<double> judging;   // per attempt that passed and was timed
  std::vector<double> refusing;  // per attempt that did not compile
};

// The programs differ by a number nobody used before: the build cache knows none of them.
ModelStep fresh(const ScriptedTask& task, std::uint64_t salt, int number) {
  std::string body = fmt::format("/* {:x} {} */ {}", salt, number, task.body);
  return kernel_reply(task, number % 4 == 3 ? "undeclared_name = 3; " + body : body, 1);
}

Result<Overheads> run_once(std::uint64_t salt) {
  const ScriptedTask& task = scripted_tasks()[0];
  ModelServer server;
  std::vector<ModelStep> steps;
  for (int i = 0; i < kAttempts; ++i) steps.push_back(fresh(task, salt, i));
  server.script("generator", steps);
  KF_TRY(TempDir folder, TempDir::create());
  ForgeOptions options;
  options.session.task = task.name;
  options.session.shape_set = "small";
  options.session.baselines = {"none"};
  options.generators = {server.openai("generator")};
  options.budget.attempts = kAttempts;
  options.patience = kAttempts + 1;
  options.timing_rounds = 5;
  options.without = {"profile", "assembly"};
  options.out = folder.path() / "out";
  Silent view;
  ForgeHost host;
  host.view = &view;
  KF_TRY(RunReport report, forge(options, host));
  if (!report.found() || report.attempts.size() != kAttempts)
    return fail("the scripted run did not go as planned: {}", to_json(report));
  Overheads overheads;
  double needed = report.cost.model_seconds;
  for (const Attempt& attempt : report.attempts) {
    const AttemptJudgement& judgement = *attempt.judgement;
    KF_TRY(auto parts, necessary(judgement.result));
    double own = judgement.seconds;
    for (const auto& [name, seconds] : parts) {
      needed += seconds;
      own -= seconds;
    }
    (judgement.outcome == Outcome::kPassed ? overheads.judging : overheads.refusing).push_back(own);
  }
  overheads.whole = (report.seconds["search"] - needed) / kAttempts;
  return overheads;
}

Result<int> run() {
  use_bench_home();
  std::uint64_t salt = random_seed();
  KF_TRY([[maybe_unused]] Overheads warming, run_once(salt));
  std::vector<double> whole, judging, refusing;
  for (std::uint64_t i = 1; i <= 5; ++i) {
    KF_TRY(Overheads one, run_once(salt + i));
    whole.push_back(one.whole);
    judging.insert(judging.end(), one.judging.begin(), one.judging.end());
    refusing.insert(refusing.end(), one.refusing.begin(), one.refusing.end());
  }
  int missed = !print_figure("forge, overhead per attempt beyond model, compiler, calls, spins and oracle",
                             median_of(whole) * 1e3, "ms", kTarget);
  print_fact("  of an attempt that passes and is timed", median_of(judging) * 1e3, "ms");
  print_fact("  of an attempt that does not compile", median_of(refusing) * 1e3, "ms");
  return missed;
}

}  // namespace
}  // namespace kforge::bench

int main() {
  auto missed = kforge::bench::run();
  if (missed) return *missed == 0 ? 0 : 1;
  fmt::print(stderr, "bench_forge_overhead: {}\n", missed.error().text());
  return 2;
}
