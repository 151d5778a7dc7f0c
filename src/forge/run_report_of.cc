// From the records of a run to its report.
#include "forge/forge.h"
#include "forge/option_fields.h"
#include "forge/run_folder.h"
#include "judge/command_line.h"

namespace kforge {
namespace {

void add(CostReport& cost, const StoredCall& call) {
  bool lost = call.state != CallState::kReceived;
  if (lost) {
    ++cost.lost_calls;
  } else {
    ++cost.calls;
  }
  cost.input_tokens += call.input_tokens;
  cost.cache_read_tokens += call.cache_read_tokens;
  cost.output_tokens += call.output_tokens;
  cost.estimated = cost.estimated || call.estimated;
  if (call.dollars) cost.dollars = cost.dollars.value_or(0) + *call.dollars;
  cost.model_seconds += call.seconds;
}

// One line per agent whose service failed, with what it said last.
std::vector<std::string> failed_services(const std::vector<StoredCall>& calls) {
  std::map<std::string, std::pair<int, std::string>> failed;  // who -> how often, why
  for (const StoredCall& call : calls) {
    if (call.state != CallState::kFailed) continue;
    auto& [count, why] = failed[fmt::format("{} {}", call.key.role, call.model)];
    ++count;
    why = call.detail;
  }
  std::vector<std::string> notes;
  for (const auto& [who, what] : failed)
    notes.push_back(fmt::format("{} failed{}: {}", who,
                                what.first > 1 ? fmt::format(" {} times, at last", what.first) : "",
                                what.second));
  return notes;
}

// Where somebody else advised than the analyst the user chose: which attempts, and why.
std::vector<std::string> replaced_advice(const std::vector<Attempt>& attempts) {
  std::map<std::pair<std::string, std::string>, std::string> numbers;  // by whom and why -> "3, 5"
  for (const Attempt& attempt : attempts) {
    if (!attempt.advice || !attempt.advice->fallback) continue;
    std::string& list = numbers[{attempt.advice->by, *attempt.advice->fallback}];
    list += fmt::format("{}{}", list.empty() ? "" : ", ", attempt.number);
  }
  std::vector<std::string> notes;
  for (const auto& [who, list] : numbers)
    notes.push_back(fmt::format("{} advised attempt{} {} instead of the analyst: {}", who.first,
                                list.find(',') == list.npos ? "" : "s", list, who.second));
  return notes;
}

}  // namespace

Result<RunReport> report_of(RunRecords& records, std::string_view id) {
  KF_TRY(StoredRun run, records.run(id));
  KF_TRY(ForgeOptions options, options_from(run.options));
  RunReport report;
  report.id = run.id;
  report.created_at = run.created_at;
  report.task = run.task;
  report.platform = run.platform;
  report.shape_set = run.shape_set;
  report.precision = run.precision;
  report.strategy = run.strategy;
  report.generators = options.generators;
  report.analyst = run.analyst;
  report.budget = to_text(options.budget);
  report.state = run.state;
  report.ended = run.ended;
  report.best_attempt = run.best;
  report.folder = run.folder;
  report.judge_arguments = judge_arguments(options.session);
  KF_TRY(auto attempts, records.attempts(run.id));
  for (Attempt& attempt : attempts) {
    if (attempt.generation && attempt.generation->status == ReplyStatus::kExhausted) continue;
    if (attempt.judgement)
      report.seconds["search"] = std::max(report.seconds["search"], attempt.judgement->clock);
    report.attempts.push_back(std::move(attempt));
  }
  for (const std::string& note : replaced_advice(report.attempts)) report.notes.push_back(note);
  KF_TRY(auto calls, records.calls(run.id));
  for (const StoredCall& call : calls) {
    add(report.cost, call);
    add(report.cost_of_attempt[call.key.attempt], call);
  }
  for (const std::string& note : failed_services(calls)) report.notes.push_back(note);
  if (!run.result.empty()) {
    KF_TRY(Store store, Store::open());
    KF_TRY(StoredResult result, store.result(run.result));
    KF_TRY(report.best, eval_report_from_json(result.document));
    for (const Attempt& attempt : report.attempts)
      if (run.best == attempt.number && attempt.program() && !report.folder.empty())
        report.kernel_path = (fs::path(report.folder) / kernel_file(*attempt.program())).string();
    std::error_code ignored;
    report.folder_missing = !report.folder.empty() && !fs::exists(report.kernel_path, ignored);
    report.has_check =
        !report.folder.empty() && fs::exists(fs::path(report.folder) / "check/check.py", ignored);
  }
  KF_TRY(auto setting, records.setting(run.id));
  if (setting) report.notes.insert(report.notes.end(), setting->notes.begin(), setting->notes.end());
  return report;
}

}  // namespace kforge
