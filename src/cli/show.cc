// kforge show: a stored report again, or the program it is about.
#include <CLI/CLI.hpp>

#include "cli/commands.h"
#include "report/eval_report.h"
#include "report/readable.h"
#include "store/store.h"

namespace kforge {
namespace {

struct ShowArguments {
  std::string result;
  bool json = false, explain = false, source = false;
};

Result<void> show(const ShowArguments& arguments) {
  KF_TRY(Store store, Store::open());
  KF_TRY(StoredResult record, store.result(arguments.result));
  if (arguments.source) {
    if (record.candidate.empty())
      return fail("result {} has no program: its outcome was {}", record.id, record.outcome);
    KF_TRY(StoredCandidate candidate, store.candidate(record.candidate));
    for (const SourceFile& file : candidate.files) {
      if (candidate.files.size() > 1) fmt::print("// ---- {}\n", file.name);
      fmt::print("{}", printable(file.content));
    }
    return {};
  }
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
  command.add_option("RESULT", arguments->result, "id, a prefix that fits only one, or \"last\"")->required();
  command.add_flag("--explain", arguments->explain, "every gate with its evidence");
  command.add_flag("--source", arguments->source, "the program instead of the report");
  command.add_flag("--json", arguments->json, "the report as JSON, as it was stored");
  command.callback([arguments, &exit_code] {
    auto shown = show(*arguments);
    exit_code = shown ? kExitPassed : report_error(shown.error(), arguments->json);
  });
}

}  // namespace kforge
