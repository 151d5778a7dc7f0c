// The smith against the libraries, task by task: `kforge forge` as a user runs it, so that every figure is
// from a confirmation run (fresh process, fresh inputs, baselines and kernel interleaved). One process per
// task: a task that goes wrong is a row of the table and not the end of the sweep.
//   bench_smith [SUITE | GLOB]... [--budget 8s] [--precision fp32] [--results FILE] [--again] [--only-table]
//   bench_smith --sweep [GLOB]...      sizes that no suite has (sweep.h)
#include <fnmatch.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <fstream>

#include "base/files.h"
#include "base/subprocess.h"
#include "setting.h"
#include "smith_table.h"
#include "sweep.h"
#include "task/task.h"

namespace kforge::bench {
namespace {

struct Options {
  std::vector<std::string> wanted;
  std::string budget = "8s", precision = "fp32", shapes = "bench", results, python;
  std::vector<std::string> baselines;
  double timeout = 600, at_most = 0;
  int threads = 0;
  bool again = false, failed = false, only_table = false, json = false, markdown = false, sweep = false;
};

// Whole suites ("core", "sweep/norms"), names, or globs of either.
bool wants(const Options& options, const std::string& name) {
  if (options.wanted.empty()) return true;
  for (const std::string& wanted : options.wanted)
    if (name.starts_with(wanted + "/") || name.starts_with("sweep/" + wanted + "/") ||
        ::fnmatch(wanted.c_str(), name.substr(name.rfind('/') + 1).c_str(), 0) == 0 ||
        ::fnmatch(wanted.c_str(), name.c_str(), 0) == 0)
      return true;
  return false;
}

Result<std::vector<SweepPoint>> all_points(const Options& options) {
  if (options.sweep) {
    KF_TRY(const fs::path home, kforge_home());
    return sweep_points(home / "sweep");
  }
  KF_TRY(auto names, task_names());
  std::vector<SweepPoint> points;
  for (const std::string& name : names) points.push_back({name, name, {}});
  return points;
}

Result<std::vector<SweepPoint>> wanted_points(const Options& options) {
  KF_TRY(auto points, all_points(options));
  std::erase_if(points, [&](const SweepPoint& point) { return !wants(options, point.name); });
  if (points.empty())
    return fail_with_remedy(options.sweep
                                ? "families: elementwise, norms, reductions, pooling, scans, losses, "
                                  "llm, products, resnet50, mobilenetv2, unet"
                                : "`kforge tasks` lists them",
                            "no task has such a name");
  return points;
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

Result<SmithRow> measure(const SweepPoint& point, const Options& options) {
  const std::string& task = point.name;
  KF_TRY(const fs::path home, kforge_home());
  const fs::path folder = home / "smith" / options.precision / task;
  std::error_code ignored;
  fs::remove_all(folder, ignored);  // of an earlier bench: a run overwrites nothing that it did not write
  Command command;
  command.argv = {kProgram.string(), "forge",        point.task,    "--json",
                  "--budget",        options.budget, "--precision", options.precision,
                  "--shapes",        options.shapes, "--out",       folder.string()};
  auto add = [&](const char* name, const std::string& value) {
    command.argv.emplace_back(name);
    command.argv.push_back(value);
  };
  for (const auto& [dim, size] : point.dims) add("--set", fmt::format("{}={}", dim, size));
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
Result<void> measure_all(const std::vector<SweepPoint>& tasks, const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  auto known = read_rows(options.results, options.precision);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    auto before = known.find(tasks[i].name);
    if (before != known.end() && !options.again && (before->second.passed() || !options.failed)) continue;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (options.at_most > 0 && took.count() > options.at_most) {
      fmt::print(stderr, "stopped after {:.0f} s; the same command goes on\n", took.count());
      return {};
    }
    if (::isatty(2)) fmt::print(stderr, "[{}/{}] {} ...\r", i + 1, tasks.size(), tasks[i].name);
    KF_TRY(SmithRow row, measure(tasks[i], options));
    say(row, i + 1, tasks.size());
    std::ofstream file(options.results, std::ios::app);
    file << to_line(row);
    if (!file.flush()) return fail("cannot write {}", options.results);
  }
  return {};
}

// What misses the bars: a task that does not pass, or is slower than the fastest baseline by more than 5 %
// (10 % at a point of the sweep).
int print_all(const std::vector<SweepPoint>& tasks, const Options& options) {
  const auto known = read_rows(options.results, options.precision);
  std::vector<SmithRow> rows;
  for (const SweepPoint& point : tasks)
    if (auto row = known.find(point.name); row != known.end()) rows.push_back(row->second);
  if (options.json) {
    fmt::print("{}\n", to_json(rows));
  } else {
    const TableForm form = options.markdown ? TableForm::kMarkdown : TableForm::kTerminal;
    fmt::print("{}\n{}", print_rows(rows, form), print_means(rows, form));
    if (options.sweep) fmt::print("\n{}", print_lowest(rows, form));
    fmt::print("\n{} of {} tasks measured, policy {}, {}\n", rows.size(), tasks.size(), options.precision,
               rows.empty() ? "" : rows.back().machine);
  }
  int missed = 0;
  for (const SmithRow& row : rows) {
    const bool slower = row.compared() && row.ratio < (options.sweep ? 0.9 : 0.95);
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
  KF_TRY(auto tasks, wanted_points(options));
  KF_TRY(const fs::path home, kforge_home());
  if (options.results.empty())
    options.results =
        (home / fmt::format("smith-{}.jsonl", options.sweep ? "sweep" : options.shapes)).string();
  if (!options.only_table) {
    KF_TRY_VOID(measure_all(tasks, options));
  }
  return print_all(tasks, options) > 0 ? 1 : 0;
}

}  // namespace
}  // namespace kforge::bench

int main(int argc, char** argv) {
  using namespace kforge::bench;
  Options options;
  CLI::App app("The smith against the libraries, task by task.");
  app.add_option("TASKS", options.wanted,
                 "suites (core, fusion, llm), families of the sweep, or globs of names; none: all of them");
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
  app.add_flag("--sweep", options.sweep,
               "sizes that no suite has: by family (norms, products, resnet50) or glob");
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
