// kforge show: a stored report again, of a result, a run or a suite, or the program it is about.
#include <CLI/CLI.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "forge/forge.h"
#include "forge/run_folder.h"
#include "report/eval_terminal.h"
#include "store/eval_report.h"
#include "store/store.h"
#include "suite/suite_report.h"

namespace kforge {
namespace {

struct ShowArguments {
  std::string result, out;
  bool json = false, explain = false, source = false;
};

Result<void> print_source(Store& store, const StoredResult& record) {
  if (record.candidate.empty())
    return fail("result {} has no program: its outcome was {}", record.id, record.outcome);
  KF_TRY(StoredCandidate candidate, store.candidate(record.candidate));
  for (const SourceFile& file : candidate.files) {
    if (candidate.files.size() > 1) fmt::print("// ---- {}\n", file.name);
    fmt::print("{}", printable(file.content));
  }
  return {};
}

Result<void> show_run(const ShowArguments& arguments, RunRecords& records, Store& store,
                      const StoredRun& run) {
  if (arguments.source) {
    if (run.result.empty()) return fail("run {} has no verified program", run.id);
    KF_TRY(StoredResult record, store.result(run.result));
    return print_source(store, record);
  }
  RunReport report;
  if (arguments.out.empty()) {
    KF_TRY(report, report_of(records, run.id));
  } else {
    KF_TRY(report, write_run_again(run.id, arguments.out));
  }
  TerminalStyle style = terminal_style();
  style.explain = arguments.explain;
  fmt::print("{}", arguments.json ? to_json(report) + "\n" : to_terminal(report, style));
  return {};
}

Result<void> show_suite(const ShowArguments& arguments, const SuiteFolder& suite) {
  if (arguments.source || !arguments.out.empty())
    return fail_with_remedy(fmt::format("its programs lie in {}", (suite.path() / "runs").string()),
                            fmt::format("{} is a suite: it has no program of its own", suite.plan().id));
  const SuiteReport report = suite_report_of(suite);
  fmt::print("{}", arguments.json ? to_json(report) + "\n" : to_terminal(report, terminal_style()));
  return {};
}

Result<void> show(const ShowArguments& arguments) {
  KF_TRY(Store store, Store::open());
  KF_TRY(auto records, RunRecords::open());
  // "last" is a result, as it always was; `kforge runs` names the runs. Ids of both kinds never collide.
  if (arguments.result != "last") {
    if (auto run = records->run(arguments.result)) return show_run(arguments, *records, store, *run);
    if (auto suite = SuiteFolder::find(arguments.result)) return show_suite(arguments, *suite);
  }
  KF_TRY(StoredResult record, store.result(arguments.result));
  if (!arguments.out.empty())
    return fail_with_remedy(fmt::format("`kforge show {} --source > FILE` writes its program", record.id),
                            fmt::format("--out writes the folder of a run, and {} is a result", record.id));
  if (arguments.source) return print_source(store, record);
  if (arguments.json) {
    fmt::print("{}\n", record.document);
    return {};
  }
  auto report = eval_report_from_json(record.document);
  if (!report)
    return fail_with_remedy(
        "`kforge show --json` prints it as it was stored",
        fmt::format("the stored result {} cannot be read: {}", record.id, report.error().message));
  TerminalStyle style = terminal_style();
  style.explain = arguments.explain;
  fmt::print("{}", to_terminal(*report, style));
  return {};
}

}  // namespace

void declare_show(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<ShowArguments>();
  command
      .add_option("ID", arguments->result,
                  "result, run or suite: id, a prefix that fits only one, or \"last\" (result)")
      ->required();
  command.add_flag("--explain", arguments->explain, "every gate with its evidence; of a run every attempt");
  command.add_flag("--source", arguments->source, "the program instead of the report");
  add_value(command, "--out", arguments->out, "DIR", "write the folder of a run again, there");
  command.add_flag("--json", arguments->json, "the report as JSON, as it was stored");
  command.callback([arguments, &exit_code] {
    auto shown = show(*arguments);
    exit_code = shown ? kExitPassed : report_error(shown.error(), arguments->json);
  });
}

}  // namespace kforge
