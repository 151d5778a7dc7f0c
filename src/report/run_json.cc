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

Json attempt_json(const AttemptReport& a) {
  return {{"number", a.number},
          {"parent", a.parent < 0 ? Json(nullptr) : Json(a.parent)},
          {"lane", a.lane},
          {"pass", a.pass},
          {"generator", a.generator},
          {"change", a.change},
          {"outcome", a.outcome},
          {"gate", null_when_empty(a.gate)},
          {"reason", null_when_empty(a.reason)},
          {"time_ns", or_null(a.time_ns)},
          {"modelled_ns", or_null(a.modelled_ns)},
          {"speedup", optional_json(a.speedup, speedup_json)},
          {"over_rival", optional_json(a.over_rival, speedup_json)},
          {"accepted", a.accepted},
          {"advice", optional_json(a.advice, advice_json)},
          {"kernel_hash", null_when_empty(a.kernel_hash)},
          {"result", null_when_empty(a.result_id)},
          {"tuning", null_when_empty(a.tuning)},
          {"story", null_when_empty(a.story)},
          {"cost", cost_json(a.cost)},
          {"seconds", a.seconds}};
}

}  // namespace

std::string to_json(const RunReport& r) {
  Json attempts = Json::array();
  for (const AttemptReport& attempt : r.attempts) attempts.push_back(attempt_json(attempt));
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
                   {"state", r.state},
                   {"ended", null_when_empty(r.ended)},
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
