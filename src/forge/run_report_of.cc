// From the records of a run to its report.
#include "forge/forge.h"
#include "forge/run_documents.h"

namespace kforge {
namespace {

void add(CostReport& cost, const StoredCall& call) {
  bool lost = call.state != "received";
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

Result<AttemptReport> attempt_of(const StoredAttempt& stored) {
  AttemptReport a;
  KF_TRY(Proposal proposal, proposal_from(stored.plan));
  a.number = stored.number;
  a.parent = proposal.parent;
  a.lane = proposal.lane;
  a.pass = name_of(proposal.pass);
  a.kernel_hash = stored.candidate;
  a.result_id = stored.result;
  a.outcome = "pending";
  if (stored.generation) {
    KF_TRY(GenerationRecord generation, generation_from(*stored.generation));
    a.generator = generation.generator;
    a.change = generation.change;
    a.story = generation.story;
    a.seconds += generation.seconds;
  }
  if (stored.advice) {
    KF_TRY(a.advice, advice_from(*stored.advice));
  }
  if (stored.verdict) {
    KF_TRY(VerdictRecord verdict, verdict_from(*stored.verdict));
    a.outcome = verdict.outcome;
    a.gate = verdict.gate;
    a.reason = verdict.reason;
    a.time_ns = verdict.time_ns;
    a.modelled_ns = verdict.modelled_ns;
    a.speedup = verdict.speedup;
    a.over_rival = verdict.over_rival;
    a.accepted = verdict.accepted;
    a.tuning = verdict.tuning;
    a.seconds += verdict.seconds;
    if (!verdict.tuned_candidate.empty()) a.kernel_hash = verdict.tuned_candidate;
  }
  return a;
}

// One line per agent whose service failed, with what it said last.
std::vector<std::string> failed_services(const std::vector<StoredCall>& calls) {
  std::map<std::string, std::pair<int, std::string>> failed;  // who -> how often, why
  for (const StoredCall& call : calls) {
    if (call.state != "failed") continue;
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
  KF_TRY(auto attempts, records.attempts(run.id));
  for (const StoredAttempt& stored : attempts) {
    KF_TRY(AttemptReport attempt, attempt_of(stored));
    if (attempt.generator == "smith" && attempt.kernel_hash.empty()) continue;  // it had nothing more to try
    report.seconds["search"] = std::max(report.seconds["search"], stored.clock);
    report.attempts.push_back(std::move(attempt));
  }
  KF_TRY(auto calls, records.calls(run.id));
  for (const StoredCall& call : calls) {
    add(report.cost, call);
    for (AttemptReport& attempt : report.attempts)
      if (attempt.number == call.key.attempt) add(attempt.cost, call);
  }
  for (const std::string& note : failed_services(calls)) report.notes.push_back(note);
  if (!run.result.empty()) {
    KF_TRY(Store store, Store::open());
    KF_TRY(StoredResult result, store.result(run.result));
    KF_TRY(report.best, eval_report_from_json(result.document));
    if (!report.folder.empty()) report.kernel_path = report.best->kernel_path;
  }
  KF_TRY(auto setting, records.profile(run.id, -1));
  if (setting) {
    KF_TRY(SettingRecord record, setting_from(*setting));
    report.notes.insert(report.notes.end(), record.notes.begin(), record.notes.end());
  }
  return report;
}

}  // namespace kforge
