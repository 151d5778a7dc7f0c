// kforge report: a run, a result or a suite as one HTML file to send.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "forge/forge.h"
#include "report/run_evidence.h"
#include "store/store.h"
#include "suite/suite_report.h"

namespace kforge {
namespace {

struct ReportArguments {
  std::string id, out;
  bool json = false;
};

struct WrittenPage {
  std::string kind, id, html;
};

Result<WrittenPage> page_of_result(Store& store, const StoredResult& record) {
  auto report = eval_report_from_json(record.document);
  if (!report)
    return fail_with_remedy(
        "`kforge show --json` prints it as it was stored",
        fmt::format("the stored result {} cannot be read: {}", record.id, report.error().message));
  std::optional<Candidate> program;
  if (!record.candidate.empty()) {
    KF_TRY(StoredCandidate stored, store.candidate(record.candidate));
    program = Candidate{stored.files, stored.origin};
  }
  KF_TRY(std::string html, to_html(*report, program ? &*program : nullptr));
  return WrittenPage{"result", record.id, std::move(html)};
}

// Ids are read as `kforge show` reads them.
Result<WrittenPage> page_of(const std::string& id) {
  KF_TRY(Store store, Store::open());
  KF_TRY(auto records, RunRecords::open());
  if (id != "last") {
    if (auto run = records->run(id)) {
      KF_TRY(RunReport report, report_of(*records, run->id));
      KF_TRY(RunEvidence evidence, evidence_of(*records, report));
      KF_TRY(std::string html, to_html(report, evidence));
      return WrittenPage{"run", run->id, std::move(html)};
    }
    if (auto suite = SuiteFolder::find(id)) {
      KF_TRY(std::string html, to_html(suite_report_of(*suite)));
      return WrittenPage{"suite", suite->plan().id, std::move(html)};
    }
  }
  KF_TRY(StoredResult record, store.result(id));
  return page_of_result(store, record);
}

Result<void> write_page(const ReportArguments& arguments) {
  KF_TRY(WrittenPage page, page_of(arguments.id));
  if (arguments.out == "-") {
    fmt::print("{}", page.html);
    return {};
  }
  const fs::path file = fs::absolute(arguments.out.empty() ? "kforge-" + page.id + ".html" : arguments.out);
  if (fs::is_directory(file))
    return fail_with_remedy(fmt::format("name a file: -o {}", (file / "report.html").string()),
                            fmt::format("{} is a folder", file.string()));
  KF_TRY_VOID(write_file_atomic(file, page.html));
  if (arguments.json)
    fmt::print("{}\n", nlohmann::ordered_json{{"schema", "kforge.page/1"},
                                              {"kind", page.kind},
                                              {"id", page.id},
                                              {"file", file.string()},
                                              {"bytes", page.html.size()}}
                           .dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  else
    fmt::print("{} {}: {} ({})\n", page.kind, page.id, file.string(),
               readable_bytes(static_cast<double>(page.html.size())));
  return {};
}

}  // namespace

void declare_report(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<ReportArguments>();
  command
      .add_option("ID", arguments->id,
                  "run, result or suite: id, a prefix that fits only one, or \"last\" (result)")
      ->required();
  add_value(command, "-o,--out", arguments->out, "FILE",
            "where to; -: standard output [kforge-ID.html here]");
  command.add_flag("--json", arguments->json, "what was written, as JSON");
  command.footer(
      "One file that needs no network and no scripts: send it, print it, read it on a phone.\n"
      "Such as:  kforge report last -o softmax.html");
  command.callback([arguments, &exit_code] {
    auto written = write_page(*arguments);
    exit_code = written ? kExitPassed : report_error(written.error(), arguments->json);
  });
}

}  // namespace kforge
