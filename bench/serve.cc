// The live page: how long a list of 10,000 results takes at the server, how large a page is, and whether
// fifty viewers of a run disturb what the harness measures meanwhile.
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "base/clock.h"
#include "figures.h"
#include "forge/option_fields.h"
#include "generate/sample_attempt.h"
#include "judge/program.h"
#include "judge/race.h"
#include "serve/raw_http.h"
#include "serve/site.h"
#include "setting.h"
#include "store/live_status.h"
#include "store/sample_report.h"

namespace kforge::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kResults = 10'000, kRequests = 20, kViewers = 50, kTurns = 31;
constexpr const char* kRun = "00000000run1";

Result<void> fill_store() {
  KF_TRY(Store store, Store::open());
  EvalReport report = passed_report();
  report.notes.assign(40, std::string(200, 'n'));  // documents are long: a list must not read them
  for (int i = 0; i < kResults; ++i) {
    report.result_id = fmt::format("{:012d}", i);
    report.kernel_path = fmt::format("kernels/{}/kernel.cc", i % 97);
    StoredResult result;
    result.id = report.result_id;
    result.created_at = report.created_at;
    result.task = fmt::format("core/task_{}", i % 240);
    result.shape_set = "bench";
    result.platform = i % 3 == 0 ? "cuda" : "cpu";
    result.precision = "fp32";
    result.outcome = i % 5 == 0 ? "wrong_value" : "passed";
    result.machine = "m1";
    result.time_ns = 1e6 + i;
    result.speedup = 0.5 + 0.001 * (i % 1000);
    result.against = "onednn";
    result.document = to_json(report);
    KF_TRY_VOID(store.save_result(result));
  }
  return {};
}

struct Listed {
  double seconds = 0;
  std::size_t bytes = 0;
};

Listed list(int port, const std::string& path) {
  std::vector<double> seconds;
  std::size_t bytes = 0;
  for (int i = 0; i < kRequests; ++i) {
    const auto begin = Clock::now();
    bytes = serve::call(port, "GET " + path).body.size();
    seconds.push_back(seconds_since(begin));
  }
  return {median_of(seconds), bytes};
}

int print_lists(int port) {
  int missed = 0;
  for (const char* path :
       {"/results", "/results?page=50", "/results?sort=speedup&order=down", "/results?q=kernels/42/",
        "/results?q=nothing-has-this", "/results.json?platform=cuda&sort=time&order=up"}) {
    const Listed one = list(port, path);
    missed += !print_figure(fmt::format("{} of {} results", path, kResults), 1e3 * one.seconds, "ms", 100);
    missed += !print_figure(fmt::format("{}: size", path), static_cast<double>(one.bytes) / 1e3, "KB", 300);
  }
  return missed;
}

// The server in a process of its own, as it is in use; its port comes through the pipe.
pid_t start_server(int& port) {
  int ends[2];
  if (::pipe(ends) != 0) return -1;
  const pid_t pid = ::fork();
  if (pid == 0) {
    const mcp::OwnProgram own(kProgram, fs::current_path());
    serve::Site site(own);
    auto server = serve::Server::bind({});
    if (!server) ::_exit(1);
    serve::mount_site(**server, site);
    (*server)->start();
    const int bound = (*server)->port();
    (void)!::write(ends[1], &bound, sizeof bound);
    for (;;) ::pause();
  }
  ::close(ends[1]);
  if (::read(ends[0], &port, sizeof port) != sizeof port) port = 0;
  ::close(ends[0]);
  return pid;
}

// Viewers in a process of their own: they come at a byte 'c', read what they are sent, and leave at any other
// byte.
[[noreturn]] void view(int orders, int port) {
  std::vector<std::unique_ptr<serve::RawClient>> viewers;
  for (char order = 0;;) {
    std::vector<pollfd> polled{{orders, POLLIN, 0}};
    for (const auto& viewer : viewers) polled.push_back({viewer->closed() ? -1 : viewer->fd(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), -1) <= 0) continue;
    for (std::size_t i = 1; i < polled.size(); ++i)
      if (polled[i].revents != 0) (void)viewers[i - 1]->receive_once();
    if (polled[0].revents == 0) continue;
    if (::read(orders, &order, 1) != 1) ::_exit(0);
    viewers.clear();
    for (int i = 0; order == 'c' && i < kViewers; ++i) {
      viewers.push_back(std::make_unique<serve::RawClient>(port));
      viewers.back()->send(
          fmt::format("GET /runs/{}/events HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", kRun, port));
    }
  }
}

// A run that says as much of itself, and writes as many verdicts, as one that races quickly does.
class BusyRun {
 public:
  Result<void> begin() {
    KF_TRY(records_, RunRecords::open());
    StoredRun run;
    run.id = kRun;
    run.created_at = utc_now();
    run.task = "core/relu";
    run.platform = "cpu";
    run.options = to_options(ForgeOptions{.budget = {.seconds = 3600}});
    KF_TRY_VOID(records_->begin(run));
    KF_TRY(lock_, records_->hold(kRun));
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
    return {};
  }

 private:
  void work(const std::stop_token& stop) {
    LiveStatusFile file(*kforge_home(), kRun);
    for (int tick = 0; !stop.stop_requested(); ++tick) {
      file.tell({.stage = fmt::format("step {}", tick), .searching = true, .clock = 0.5 * tick}, true);
      if (tick % 4 == 0) judge(tick / 4 + 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  }
  void judge(int number) {
    Attempt attempt{.number = number, .proposal = {.parent = number - 1}};
    (void)records_->save_proposal(kRun, attempt);
    set_source(attempt, std::string(8000, 'x'));
    (void)records_->save_generation(kRun, attempt);
    attempt.judgement =
        AttemptJudgement{.time_ns = 1e6 - number, .speedup = Speedup{{1, 0.9, 1.1}, "onednn"}};
    attempt.decision = Decision{true, true};
    (void)records_->save_judgement(kRun, attempt);
  }
  std::unique_ptr<RunRecords> records_;
  std::optional<FileLock> lock_;
  std::jthread thread_;
};

// One program that the harness times again and again, as a search does. It keeps every processor busy, so
// that whatever else wants one takes it from the program.
class TimedKernel {
 public:
  Result<void> open() {
    JudgeOptions options;
    options.task = "core/relu";
    options.shape_set = "small";
    options.baselines = {"none"};
    KF_TRY(workspace_, Workspace::open(options, progress_));
    const Candidate candidate{{{"kernel.cc", chain_kernel(500'000)}}, "bench"};
    KF_TRY(auto built, build_program(*workspace_, candidate, workspace_->setup().bound(0)));
    if (!built) return fail("{}", reason_text(built.error()));
    build_ = std::move(*built);
    return {};
  }
  // The median of a race without an incumbent, in a process of its own.
  Result<double> ns() {
    Race race(*workspace_, 0);
    KF_TRY(RaceResult result, race.challenge(build_));
    if (result.failure) return fail("{}", reason_text(*result.failure));
    return result.ns.value;
  }

 private:
  SilentProgress progress_;
  std::unique_ptr<Workspace> workspace_;
  Build build_;
};

// Processor time that a process has used so far.
double cpu_seconds(pid_t process) {
  clockid_t clock{};
  timespec used{};
  if (::clock_getcpuclockid(process, &clock) != 0 || ::clock_gettime(clock, &used) != 0) return 0;
  return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

Result<int> print_disturbance(int orders, pid_t server) {
  BusyRun run;
  KF_TRY_VOID(run.begin());
  TimedKernel kernel;
  KF_TRY_VOID(kernel.open());
  KF_TRY([[maybe_unused]] double warm, kernel.ns());
  std::vector<double> ratios, shares;
  const auto timed = [&](bool with_viewers) -> Result<double> {
    (void)!::write(orders, with_viewers ? "c" : "l", 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const double used = cpu_seconds(server);
    const auto begin = Clock::now();
    auto ns = kernel.ns();
    if (with_viewers) shares.push_back((cpu_seconds(server) - used) / seconds_since(begin));
    return ns;
  };
  for (int turn = 0; turn < kTurns; ++turn) {
    // Who is first changes, so that a machine that slows down favours neither.
    const bool watched_first = turn % 2 == 1;
    KF_TRY(double first, timed(watched_first));
    KF_TRY(double second, timed(!watched_first));
    ratios.push_back(watched_first ? first / second : second / first);
    print_fact(fmt::format("turn {}: time with {} viewers over time without", turn + 1, kViewers),
               ratios.back(), "x");
  }
  print_fact(fmt::format("processor time of the server for {} viewers, of one processor", kViewers),
             100 * median_of(shares), "%");
  const double away = median_of(ratios) - 1;
  return !print_figure(fmt::format("what {} viewers change", kViewers), 100 * (away < 0 ? -away : away), "%",
                       2);
}

Result<int> run(bool lists, bool viewers_too) {
  KF_TRY(TempDir home, TempDir::create());
  ::setenv("KFORGE_HOME", home.path().c_str(), 1);
  if (lists) KF_TRY_VOID(fill_store());
  int port = 0, orders[2];
  const pid_t server = start_server(port);
  if (server < 0 || port == 0 || ::pipe(orders) != 0) return fail("the server did not start");
  const pid_t viewers = ::fork();
  if (viewers == 0) view(orders[0], port);
  const int missed = lists ? print_lists(port) : 0;
  Result<int> disturbed = viewers_too ? print_disturbance(orders[1], server) : Result<int>(0);
  for (pid_t child : {viewers, server}) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  if (!disturbed) return disturbed;
  return missed + *disturbed;
}

}  // namespace
}  // namespace kforge::bench

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "all";
  if (argc > 2 || (what != "all" && what != "lists" && what != "viewers")) {
    fmt::print(
        stderr,
        "bench_serve [lists|viewers]\n"
        "  lists    how long a list of 10,000 results takes, and how large it is (half a minute)\n"
        "  viewers  what 50 viewers of a run change in the harness's times (two minutes; wants a quiet "
        "machine)\n");
    return 2;
  }
  auto missed = kforge::bench::run(what != "viewers", what != "lists");
  if (missed) return *missed == 0 ? 0 : 1;
  fmt::print(stderr, "bench_serve: {}\n", missed.error().text());
  return 2;
}
