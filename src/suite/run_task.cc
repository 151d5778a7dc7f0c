#include "suite/run_task.h"

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <thread>

#include "base/clock.h"
#include "base/environment.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "import/fit.h"
#include "import/import.h"
#include "store/runs.h"
#include "suite/family.h"
#include "suite/find_kernel.h"
#include "task/task.h"

namespace kforge {
namespace {

constexpr std::size_t kRunsLookedAt = 20'000;
constexpr std::size_t kReportLimit = 64 << 20;
constexpr int kInterrupted = 130;

// KForge's own child may have the keys of model services, unlike any other.
std::string last_line(std::string_view text) {
  auto lines = lines_of(text);
  std::erase_if(lines, [](std::string_view line) { return trimmed(line).empty(); });
  return lines.empty() ? "" : printable(lines.back());
}

SuiteRecord broken(std::string reason, std::string remedy = "") {
  SuiteRecord record;
  record.state = TaskState::kError;
  record.reason = std::move(reason);
  record.remedy = std::move(remedy);
  return record;
}

// What became of the process, where it left no report.
SuiteRecord broken_process(const Finished& done, double limit_seconds) {
  if (done.timed_out) return broken(fmt::format("given up after {:.0f} s", limit_seconds));
  const std::string said = last_line(done.err);
  std::string how =
      done.signal ? fmt::format("its process died of signal {} ({})", done.signal, ::strsignal(done.signal))
                  : fmt::format("its process ended with {}", done.exit_code);
  if (done.signal == SIGKILL) how += "; the memory of the machine may have been used up";
  return broken(said.empty() ? how : how + ": " + said);
}

// The process that worked on the run was killed with its suite, and may still be ending.
void wait_until_free(const std::string& run) {
  auto records = RunRecords::open();
  for (int i = 0; records && (*records)->held(run) && i < 100; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

// Where the import keeps a task that is given as a module; the process that worked on it has made it.
std::string folder_of(const std::string& spec, const std::vector<std::string>& arguments) {
  if (!spec.ends_with(".py")) return spec;
  ImportOptions options;
  options.file = spec;
  auto given = [&](std::string_view name) -> std::string {
    auto at = std::ranges::find(arguments, name);
    return at == arguments.end() || at + 1 == arguments.end() ? "" : *(at + 1);
  };
  options.python = given("--python");
  options.fit_seconds = parse_fit(given("--fit")).value_or(0);
  auto folder = existing_import(options);
  return folder ? folder->string() : spec;
}

// What is known of the task itself, whatever became of the work on it.
void describe_task(const std::string& spec, SuiteRecord& record) {
  auto task = load_task(spec);
  record.family = task ? family_of(task->graph) : "unknown";
  if (!task || !task->module) return;
  for (const std::string& flag : task->module->flags)
    if (std::ranges::find(record.flags, flag) == record.flags.end()) record.flags.push_back(flag);
}

}  // namespace

Result<TaskRunner> TaskRunner::create(const SuiteFolder& folder, fs::path program) {
  if (program.empty()) {
    std::error_code error;
    program = fs::read_symlink("/proc/self/exe", error);
    if (error) return fail("cannot find the program itself: {}", error.message());
  }
  TaskRunner runner(folder, std::move(program));
  if (!folder.plan().kernels.empty()) return runner;
  KF_TRY(auto records, RunRecords::open());
  KF_TRY(auto runs, records->latest("", kRunsLookedAt));
  for (const StoredRun& run : runs)  // newest first: the first one of a folder stays
    if (auto out = run.options.find("out"); out != run.options.end())
      if (const auto* text = std::get_if<std::string>(&out->second)) runner.begun_.emplace(*text, run.id);
  return runner;
}

Result<std::optional<SuiteRecord>> TaskRunner::run(const SuiteItem& item, const std::stop_token& stop) const {
  const auto begin = std::chrono::steady_clock::now();
  KF_TRY(auto record, folder_->plan().kernels.empty() ? forge(item, stop) : judge(item, stop));
  if (!record) return std::nullopt;
  record->task = item.task.name;
  record->level = item.task.level();
  describe_task(folder_of(item.task.spec, folder_->plan().arguments), *record);
  record->platform = item.platform;
  record->variant = item.variant.name;
  record->seconds = seconds_since(begin);
  record->finished_at = utc_now();
  return record;
}

Result<std::optional<SuiteRecord>> TaskRunner::start(const SuiteItem& item,
                                                     std::vector<std::string> arguments,
                                                     const std::stop_token& stop) const {
  Command command;
  command.argv = std::move(arguments);
  command.argv.insert(command.argv.begin(), program_.string());
  command.argv.emplace_back("--json");
  command.env = whole_environment();
  command.cwd = folder_->plan().working_folder;
  command.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(folder_->plan().limit_seconds * 1e3));
  command.output_limit = kReportLimit;
  command.dies_with_us = true;
  command.stop = stop;
  KF_TRY(Finished done, run_command(command));
  if (stop.stop_requested() && (done.signal || done.exit_code == kInterrupted)) return std::nullopt;
  if (done.exit_code == kInterrupted) return fail("{} was interrupted", item.task.name);
  if (auto record = record_of_report(done.out); record && !done.signal && !done.timed_out)
    return std::move(*record);
  return broken_process(done, folder_->plan().limit_seconds);
}

Result<std::optional<SuiteRecord>> TaskRunner::forge(const SuiteItem& item,
                                                     const std::stop_token& stop) const {
  const fs::path out = folder_->run_folder(item);
  // A run that was begun goes on; one that cannot (its task has changed) makes room for a new one.
  if (auto begun = begun_.find(out.string()); begun != begun_.end()) {
    wait_until_free(begun->second);
    KF_TRY(auto record, start(item, {"forge", "--resume", begun->second}, stop));
    if (!record || record->state != TaskState::kError) return record;
  }
  std::error_code ignored;
  fs::remove_all(out, ignored);
  std::vector<std::string> arguments = {"forge", item.task.spec, "--on",        item.platform,
                                        "--out", out.string(),   "--no-callers"};
  for (const auto* more : {&folder_->plan().arguments, &item.variant.arguments})
    arguments.insert(arguments.end(), more->begin(), more->end());
  return start(item, std::move(arguments), stop);
}

// The best of the samples stands for the task; how many there were and how many are right is told.
Result<std::optional<SuiteRecord>> TaskRunner::judge(const SuiteItem& item,
                                                     const std::stop_token& stop) const {
  const auto kernels = find_kernels(folder_->plan().kernels, item.task);
  std::optional<SuiteRecord> best;
  int verified = 0;
  for (const fs::path& kernel : kernels) {
    std::vector<std::string> arguments = {"eval",        item.task.spec, "--on",
                                          item.platform, "--kernel",     kernel.string()};
    arguments.insert(arguments.end(), folder_->plan().arguments.begin(), folder_->plan().arguments.end());
    KF_TRY(auto record, start(item, std::move(arguments), stop));
    if (!record) return std::nullopt;
    verified += record->verified();
    if (!best || record->better_than(*best)) best = std::move(record);
  }
  if (!best) {
    best.emplace();
    best->state = TaskState::kFailed;
    best->outcome = "no_program";
    best->reason = fmt::format("{} has no kernel for it", folder_->plan().kernels);
  }
  best->attempts = static_cast<int>(kernels.size());
  best->attempts_verified = verified;
  return best;
}

}  // namespace kforge
