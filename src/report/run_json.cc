// report.json and `kforge forge --json`: docs/cli.md lists the fields.
#include <nlohmann/json.hpp>

#include "report/run_report.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json speedup_json(const std::optional<Speedup>& s) {
  if (!s) return nullptr;
  return {{"value", s->value}, {"lo", s->lo}, {"hi", s->hi}, {"against", s->against}};
}

Json advice_json(const std::optional<Advice>& a) {
  if (!a) return nullptr;
  return {{"bottleneck", a->bottleneck},
          {"evidence", a->evidence},
          {"change", a->change},
          {"expected_gain", a->expected_gain},
          {"confidence", a->confidence},
          {"tag", a->tag},
          {"by", a->by}};
}

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
          {"gate", text_or_null(a.gate)},
          {"reason", text_or_null(a.reason)},
          {"time_ns", or_null(a.time_ns)},
          {"speedup", speedup_json(a.speedup)},
          {"over_rival", speedup_json(a.over_rival)},
          {"accepted", a.accepted},
          {"advice", advice_json(a.advice)},
          {"kernel_hash", text_or_null(a.kernel_hash)},
          {"result", text_or_null(a.result_id)},
          {"tuning", text_or_null(a.tuning)},
          {"story", text_or_null(a.story)},
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
  return Json{{"schema", RunReport::kSchema},
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
              {"ended", text_or_null(r.ended)},
              {"best", best},
              {"attempts", attempts},
              {"cost", cost_json(r.cost)},
              {"seconds", r.seconds},
              {"kernel_path", text_or_null(r.kernel_path)},
              {"folder", text_or_null(r.folder)},
              {"notes", r.notes}}
      .dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kforge
