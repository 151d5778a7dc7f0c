#include "suite/suite_record.h"

#include <algorithm>

#include "store/eval_report.h"
#include "store/json_fields.h"

namespace kforge {

std::string_view name_of(TaskState state) {
  switch (state) {
    case TaskState::kVerified:
      return "verified";
    case TaskState::kFailed:
      return "failed";
    case TaskState::kError:
      return "error";
  }
  return "";
}

std::optional<TaskState> task_state_from_name(std::string_view name) {
  for (TaskState state : {TaskState::kVerified, TaskState::kFailed, TaskState::kError})
    if (name == name_of(state)) return state;
  return std::nullopt;
}

inline std::optional<TaskState> from_name(std::string_view name, std::type_identity<TaskState>) {
  return task_state_from_name(name);
}

void fields(auto&& field, Like<BaselineRatio> auto& b) {
  field("name", b.name);
  field("ns", b.ns);
  field("speedup", b.speedup);
}

void fields(auto&& field, Like<SuiteRecord> auto& r) {
  field("task", r.task);
  field("level", r.level);
  field("family", r.family);
  field("platform", r.platform);
  field("variant", r.variant);
  field("state", r.state);
  field("outcome", r.outcome);
  field("gate", r.gate);
  field("reason", r.reason);
  field("remedy", r.remedy);
  field("run", r.run);
  field("result", r.result);
  field("kernel", r.kernel);
  field("time_ns", r.time_ns);
  field("modelled_ns", r.modelled_ns);
  field("speedup", r.speedup);
  field("baselines", r.baselines);
  field("flags", r.flags);
  field("busy", r.busy);
  field("threads", r.threads);
  field("attempts", r.attempts);
  field("attempts_verified", r.attempts_verified);
  field("tokens", r.tokens);
  field("dollars", r.dollars);
  field("seconds", r.seconds);
  field("prepare_seconds", r.prepare_seconds);
  field("search_seconds", r.search_seconds);
  field("confirm_seconds", r.confirm_seconds);
  field("finished_at", r.finished_at);
}

namespace {

using Json = JsonReader::Json;

void take_eval(const EvalReport& report, SuiteRecord& record) {
  record.state = report.passed() ? TaskState::kVerified : TaskState::kFailed;
  record.outcome = name_of(report.outcome);
  record.gate = report.gate_name();
  record.reason = report.reason;
  record.result = report.result_id;
  record.kernel = report.kernel_path;
  if (report.time_ns) record.time_ns = report.time_ns->value;
  if (report.modelled) record.modelled_ns = report.modelled->ns;
  record.speedup = report.speedup;
  for (const BaselineResult& baseline : report.baselines)
    record.baselines.push_back({baseline.name, baseline.time_ns.value, baseline.speedup});
  record.flags = report.flags;
  record.busy = report.load && report.load->busy();
  record.threads = report.threads;
}

// A run that verified nothing: what became of the last program it judged.
void take_failure(const JsonReader& run, SuiteRecord& record) {
  record.state = TaskState::kFailed;
  record.outcome = "no_program";
  record.reason = run.get_or<std::string>("headline", "");
  run.each("attempts", [&](const JsonReader& attempt) {
    const auto outcome = attempt.get_or<std::string>("outcome", "pending");
    if (outcome == "pending") return;
    record.outcome = outcome;
    record.gate = attempt.get_or<std::string>("gate", "");
    record.reason = attempt.get_or<std::string>("reason", "");
  });
}

Result<void> take_run(const JsonReader& run, SuiteRecord& record) {
  record.run = run.get<std::string>("run");
  if (run.has("best")) {
    KF_TRY(EvalReport best, eval_report_from_json(dump(run.object()["best"])));
    take_eval(best, record);
  } else {
    take_failure(run, record);
  }
  run.each("attempts", [&](const JsonReader&) { ++record.attempts; });
  run.optional("cost", [&](const JsonReader& cost) {
    record.tokens =
        cost.get_or<std::int64_t>("input_tokens", 0) + cost.get_or<std::int64_t>("output_tokens", 0);
    if (cost.has("dollars")) record.dollars = cost.get<double>("dollars");
    return true;
  });
  run.optional("seconds", [&](const JsonReader& seconds) {
    record.prepare_seconds = seconds.get_or("prepare", 0.0);
    record.search_seconds = seconds.get_or("search", 0.0);
    record.confirm_seconds = seconds.get_or("confirm", 0.0);
    return true;
  });
  return {};
}

}  // namespace

// What calibration and import know of a problem. A program with the flag "algebraic" is none of these: it is
// right, by less arithmetic than the graph says.
std::string SuiteRecord::flagged() const {
  for (const char* word : {"vacuous", "constant", "stochastic"})
    if (std::ranges::find(flags, word) != flags.end()) return word;
  return "";
}

bool SuiteRecord::better_than(const SuiteRecord& other) const {
  if (state != other.state) return verified() || (other.state == TaskState::kError);
  if (!verified()) return false;
  if (time_ns && other.time_ns) return *time_ns < *other.time_ns;
  if (modelled_ns && other.modelled_ns) return *modelled_ns < *other.modelled_ns;
  return time_ns.has_value() && !other.time_ns;
}

Scored SuiteRecord::scored(std::string_view baseline) const {
  Scored scored{.correct = verified()};
  if (!scored.correct) return scored;
  if (baseline.empty()) {
    if (speedup) scored.speedup = *speedup;
    return scored;
  }
  auto found = std::ranges::find(baselines, baseline, &BaselineRatio::name);
  if (found != baselines.end() && found->speedup) scored.speedup = *found->speedup;
  return scored;
}

std::string to_json(const SuiteRecord& record) { return dump(json_of(record), 1); }

Result<SuiteRecord> suite_record_from_json(std::string_view text) {
  return from_document<SuiteRecord>(text, "a task of a suite");
}

Result<SuiteRecord> record_of_report(std::string_view document) {
  const Json json = Json::parse(document, nullptr, false);
  std::string problem;
  JsonReader reader(json, "", &problem);
  const auto schema = reader.get<std::string>("schema");
  SuiteRecord record;
  if (schema == "kforge.forge/1") {
    KF_TRY_VOID(take_run(reader, record));
  } else if (schema == EvalReport::kSchema) {
    KF_TRY(EvalReport report, eval_report_from_json(document));
    take_eval(report, record);
    record.attempts = 1;
    record.attempts_verified = record.verified() ? 1 : 0;
  } else if (schema == "kforge.error/1") {
    record.reason = reader.get<std::string>("error");
    record.remedy = reader.get<std::string>("remedy");
  } else {
    return fail("what the task's process printed is no report");
  }
  if (!problem.empty()) return fail("the report of the task cannot be read: {}", problem);
  return record;
}

}  // namespace kforge
