// report.json and `kforge forge --json`: docs/cli.md lists the fields.
#include "report/run_report.h"
#include "store/json_parts.h"

namespace kforge {
namespace {

using Json = JsonReader::Json;

Json cost_json(const CostReport& cost) {
  return {{"calls", cost.calls},
          {"lost_calls", cost.lost_calls},
          {"input_tokens", cost.input_tokens},
          {"cache_read_tokens", cost.cache_read_tokens},
          {"output_tokens", cost.output_tokens},
          {"dollars", or_null(cost.dollars)},
          {"estimated", cost.estimated},
          {"model_seconds", cost.model_seconds}};
}

Json attempt_json(const Attempt& a, const CostReport& cost) {
  static const Generation kNotWritten;
  static const AttemptJudgement kNotJudged;
  const Generation& made = a.generation ? *a.generation : kNotWritten;
  const AttemptJudgement& found = a.judgement ? *a.judgement : kNotJudged;
  const Candidate* program = a.program();
  return {{"number", a.number},
          {"parent", a.proposal.parent < 0 ? Json(nullptr) : Json(a.proposal.parent)},
          {"lane", a.proposal.lane},
          {"pass", name_of(a.proposal.pass)},
          {"generator", made.generator},
          {"change", made.change},
          {"outcome", a.judgement ? name_of(found.outcome) : "pending"},
          {"gate", json_of(found.gate)},
          {"reason", null_when_empty(found.reason)},
          {"time_ns", or_null(found.time_ns)},
          {"baseline_ns", or_null(found.baseline_ns)},
          {"modelled_ns", or_null(found.modelled_ns)},
          {"speedup", optional_json(found.speedup, speedup_json)},
          {"over_rival", optional_json(found.over_rival, speedup_json)},
          {"over_best", optional_json(found.over_best, speedup_json)},
          {"better", a.better()},
          {"accepted", a.accepted()},
          {"advice", json_of(a.advice)},
          {"followed_advice", or_null(made.followed_advice)},
          {"remarks", made.remarks},
          {"kernel_hash", program ? Json(program->content_hash()) : Json(nullptr)},
          {"result", null_when_empty(found.result)},
          {"tuning", null_when_empty(found.tuning)},
          {"rationale", null_when_empty(made.rationale)},
          {"cost", cost_json(cost)},
          {"seconds", made.seconds + found.seconds}};
}

}  // namespace

std::string to_json(const RunReport& r) {
  Json attempts = Json::array();
  for (const Attempt& attempt : r.attempts) {
    auto cost = r.cost_of_attempt.find(attempt.number);
    attempts.push_back(attempt_json(attempt, cost == r.cost_of_attempt.end() ? CostReport{} : cost->second));
  }
  Json best = nullptr;
  if (r.best) {
    best = Json::parse(to_json(*r.best));
    best["attempt"] = or_null(r.best_attempt);
    best["kernel"]["path"] = r.kernel_path;
  }
  return dump(Json{{"schema", RunReport::kSchema},
                   {"run", r.id},
                   {"created_at", r.created_at},
                   {"task", r.task},
                   {"platform", r.platform},
                   {"shape_set", r.shape_set},
                   {"precision", r.precision},
                   {"strategy", r.strategy},
                   {"generators", r.generators},
                   {"analyst", r.analyst},
                   {"budget", r.budget},
                   {"state", name_of(r.state)},
                   {"ended", r.ended ? Json(name_of(*r.ended)) : Json(nullptr)},
                   {"headline", headline_of(r)},
                   {"best", best},
                   {"attempts", attempts},
                   {"cost", cost_json(r.cost)},
                   {"seconds", r.seconds},
                   {"kernel_path", null_when_empty(r.kernel_path)},
                   {"folder", null_when_empty(r.folder)},
                   {"notes", r.notes}},
              2);
}

}  // namespace kforge
