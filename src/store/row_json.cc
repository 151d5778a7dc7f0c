#include "store/row_json.h"

#include <nlohmann/json.hpp>

namespace kforge {

nlohmann::ordered_json to_json(const ResultRow& row) {
  using Json = nlohmann::ordered_json;
  return {{"id", row.id},
          {"created_at", row.created_at},
          {"task", row.task},
          {"shape_set", row.shape_set},
          {"platform", row.platform},
          {"precision", row.precision},
          {"kernel", {{"path", row.kernel}, {"hash", row.candidate}}},
          {"outcome", row.outcome},
          {"gate", row.gate.empty() ? Json(nullptr) : Json(row.gate)},
          {"time_ns", row.time_ns ? Json(*row.time_ns) : Json(nullptr)},
          {"speedup", row.speedup ? Json(*row.speedup) : Json(nullptr)},
          {"speedup_lo", row.speedup_lo ? Json(*row.speedup_lo) : Json(nullptr)},
          {"speedup_hi", row.speedup_hi ? Json(*row.speedup_hi) : Json(nullptr)},
          {"against", row.against.empty() ? Json(nullptr) : Json(row.against)},
          {"machine", row.machine}};
}

}  // namespace kforge
