// The smith against the libraries, task by task: `kforge forge` as a user runs it, so that every figure is
// from a confirmation run (fresh process, fresh inputs, baselines and kernel interleaved). One process per
// task: a task that goes wrong is a row of the table and not the end of the sweep.
//   bench_smith [SUITE | GLOB]... [--budget 8s] [--precision fp32] [--results FILE] [--again] [--only-table]
#include <fnmatch.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>

#include "base/files.h"
#include "base/subprocess.h"
#include "setting.h"
#include "smith_table.h"
#include "task/task.h"

namespace kforge::bench {
namespace {

struct Options {
  std::vector<std::string> wanted;
  std::string budget = "8s", precision = "fp32", shapes = "bench", results, python;
  std::vector<std::string> baselines;
  double timeout = 600, at_most = 0;
  int threads = 0;
  bool again = false, failed = false, only_table = false, json = false, markdown = false;
};

bool wants(const Options& options, const Task& task) {
  const std::string full = task.suite + "/" + task.name;
  if (options.wanted.empty()) return true;
  for (const std::string& wanted : options.wanted)
    if (wanted == task.suite || ::fnmatch(wanted.c_str(), task.name.c_str(), 0) == 0 ||
        ::fnmatch(wanted.c_str(), full.c_str(), 0) == 0)
      return true;
  return false;
}

Result<std::vector<std::string>> wanted_tasks(const Options& options) {
  KF_TRY(auto tasks, load_all_tasks());
  std::vector<std::string> names;
  for (const Task& task : tasks)
    if (wants(options, task)) names.push_back(task.suite + "/" + task.name);
  if (names.empty()) return fail_with_remedy("`kforge tasks` lists them", "no task has such a name");
  return names;
}

SmithRow failed_row(const std::string& task, const Options& options, std::string outcome,
                    std::string reason) {
  SmithRow row;
  row.task = task;
  row.precision = options.precision;
  row.outcome = std::move(outcome);
  row.reason = std::move(reason);
  return row;
}

Result<SmithRow> measure(const std::string& task, const Options& options) {
  KF_TRY(const fs::path home, kforge_home());
  const fs::path folder = home / "smith" / options.precision / task;
  std::error_code ignored;
  fs::remove_all(folder, ignored);  // of an earlier bench: a run overwrites nothing that it did not write
  Command command;
  command.argv = {kProgram.string(), "forge",        task,          "--json",
                  "--budget",        options.budget, "--precision", options.precision,
                  "--shapes",        options.shapes, "--out",       folder.string()};
  auto add = [&](const char* name, const std::string& value) {
    command.argv.emplace_back(name);
    command.argv.push_back(value);
  };
  if (!options.python.empty()) add("--python", options.python);
  if (options.threads > 0) add("--threads", std::to_string(options.threads));
  for (const std::string& baseline : options.baselines) add("--baseline", baseline);
  command.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * options.timeout));
  command.output_limit = std::size_t{64} << 20;
  command.dies_with_us = true;
  KF_TRY(Finished finished, run_command(command));
  if (finished.timed_out)
    return failed_row(task, options, "timeout", fmt::format("not done after {} s", options.timeout));
  if (finished.signal != 0)
    return failed_row(task, options, "crash", fmt::format("kforge ended by signal {}", finished.signal));
  if (finished.exit_code == 130) return fail("interrupted");
  auto row = row_from_report(finished.out);
  if (!row) return failed_row(task, options, "error", finished.err.empty() ? finished.out : finished.err);
  row->task = task;
  return *row;
}

void say(const SmithRow& row, std::size_t at, std::size_t count) {
  if (row.passed())
    fmt::print(stderr, "[{}/{}] {:<48} {:>6.2f}x over {:<12} {:>4.0f} % of the {} bound  ({:.0f} s)\n", at,
               count, row.task, row.ratio, row.baseline.empty() ? "-" : row.baseline, 100 * row.fraction,
               row.bound.empty() ? "roofline" : row.bound, row.seconds);
  else
    fmt::print(stderr, "[{}/{}] {:<48} {}: {}\n", at, count, row.task, row.outcome,
               row.reason.substr(0, row.reason.find('\n')));
}

// Measures what has no row yet; each row is on disk before the next task begins.
Result<void> sweep(const std::vector<std::string>& tasks, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  auto known = read_rows(options.results, options.precision);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    auto before = known.find(tasks[i]);
    if (before != known.end() && !options.again && (before->second.passed() || !options.failed)) continue;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (options.at_most > 0 && took.count() > options.at_most) {
      fmt::print(stderr, "stopped after {:.0f} s; the same command goes on\n", took.count());
      return {};
    }
    if (::isatty(2)) fmt::print(stderr, "[{}/{}] {} ...\r", i + 1, tasks.size(), tasks[i]);
    KF_TRY(SmithRow row, measure(tasks[i], options));
    say(row, i + 1, tasks.size());
    std::ofstream file(options.results, std::ios::app);
    file << to_line(row);
    if (!file.flush()) return fail("cannot write {}", options.results);
  }
  return {};
}

// What misses the bars: a task that does not pass, or is slower than the fastest baseline by more than 5 %.
int print_all(const std::vector<std::string>& tasks, const Options& options) {
  const auto known = read_rows(options.results, options.precision);
  std::vector<SmithRow> rows;
  for (const std::string& task : tasks)
    if (auto row = known.find(task); row != known.end()) rows.push_back(row->second);
  if (options.json) {
    fmt::print("{}\n", to_json(rows));
  } else {
    const TableForm form = options.markdown ? TableForm::kMarkdown : TableForm::kTerminal;
    fmt::print("{}\n{}", print_rows(rows, form), print_means(rows, form));
    fmt::print("\n{} of {} tasks measured, policy {}, {}\n", rows.size(), tasks.size(), options.precision,
               rows.empty() ? "" : rows.back().machine);
  }
  int missed = 0;
  for (const SmithRow& row : rows) {
    const bool slower = row.compared() && row.ratio < 0.95;
    if (row.passed() && !slower) continue;
    ++missed;
    if (options.json) continue;
    if (slower)
      fmt::print("slower   {:<48} {:.2f}x [{:.2f}, {:.2f}] of {}\n", row.task, row.ratio, row.lo, row.hi,
                 row.baseline);
    else
      fmt::print("failed   {:<48} {}: {}\n", row.task, row.outcome,
                 row.reason.substr(0, row.reason.find('\n')));
  }
  return missed;
}

Result<int> run(Options& options) {
  KF_TRY(auto tasks, wanted_tasks(options));
  KF_TRY(const fs::path home, kforge_home());
  if (options.results.empty())
    options.results = (home / fmt::format("smith-{}.jsonl", options.shapes)).string();
  if (!options.only_table) {
    KF_TRY_VOID(sweep(tasks, options));
  }
  return print_all(tasks, options) > 0 ? 1 : 0;
}

}  // namespace
}  // namespace kforge::bench

int main(int argc, char** argv) {
  using namespace kforge::bench;
  Options options;
  CLI::App app("The smith against the libraries, task by task.");
  app.add_option("TASKS", options.wanted, "suites (core, fusion, llm) or globs of names; none: all of them");
  app.add_option("--budget", options.budget, "of the search, for each task")->capture_default_str();
  app.add_option("--precision", options.precision, "policy: fp32, high, bf16, fp16")->capture_default_str();
  app.add_option("--shapes", options.shapes, "shape set")->capture_default_str();
  app.add_option("--results", options.results, "file of rows, appended to [smith-SHAPES.jsonl in the home]");
  app.add_option("--baseline", options.baselines, "as kforge forge; repeatable [all]")->expected(1);
  app.add_option("--python", options.python, "Python that has the baselines' libraries");
  app.add_option("--threads", options.threads, "of kernel and baselines; 0: all allowed");
  app.add_option("--timeout", options.timeout, "seconds for one task, everything included")
      ->capture_default_str();
  app.add_option("--at-most", options.at_most, "seconds after which no further task is begun; 0: no limit");
  app.add_flag("--again", options.again, "measure tasks that have a row already");
  app.add_flag("--failed", options.failed, "measure those again that did not pass");
  app.add_flag("--only-table", options.only_table, "measure nothing");
  app.add_flag("--markdown", options.markdown, "tables for a document");
  app.add_flag("--json", options.json, "rows and means as JSON");
  app.footer("KFORGE_HOME, where set, keeps stores and caches; else out/<preset>/bench_home does.");
  CLI11_PARSE(app, argc, argv);
  if (std::getenv("KFORGE_HOME") == nullptr) use_bench_home();
  auto done = run(options);
  if (!done) fmt::print(stderr, "{}\n", done.error().text());
  return done ? *done : 2;
}
