// Block sizes of an attention: the panels of a block of keys stay in the nearest cache, and every thread gets
// several pieces.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "smith/attention/attention.h"

namespace kforge::smith {
namespace {

constexpr long kMostKeys = 512, kMostRows = 1024;
// Panels of a block lie on the stack of a thread.
constexpr long kMostPanelFloats = 1 << 15;

bool fits(const AttentionSchedule& s, const Attention& a) {
  return s.keys >= 32 && s.keys <= kMostKeys && s.keys % 32 == 0 && s.rows >= 1 && s.rows <= kMostRows &&
         s.keys * a.depth <= kMostPanelFloats;
}

}  // namespace

AttentionSchedule first_schedule(const Attention& a, const Machine& machine, int threads) {
  (void)machine;
  AttentionSchedule s;
  s.keys = a.queries == 1 ? 32 : 128;  // one query: keys and values pass by once, in short turns
  while (s.keys > 32 && s.keys * a.depth > kMostPanelFloats / 2) s.keys /= 2;
  // Every piece packs the keys anew: many queries make that cheap. But threads must not go short.
  auto pieces = [&] { return a.batch * ((a.queries + s.rows - 1) / s.rows); };
  s.rows = 256;
  while (s.rows > 64 && pieces() < 4L * threads) s.rows /= 2;
  s.rows = std::min(s.rows, a.queries);
  return s;
}

std::vector<AttentionMove> neighbours(const AttentionSchedule& schedule, const Attention& attention) {
  std::vector<AttentionMove> found;
  auto offer = [&](AttentionSchedule next, const std::string& name, const std::string& why) {
    if (fits(next, attention)) found.push_back({name, why, next});
  };
  for (const long keys : {schedule.keys * 2, schedule.keys / 2})
    offer({keys, schedule.rows}, fmt::format("blocks of {} keys", keys),
          "fewer rescalings, or panels that fit the nearest cache");
  for (const long rows : {schedule.rows * 2, schedule.rows / 2})
    if (rows <= attention.queries)
      offer({schedule.keys, rows}, fmt::format("pieces of {} queries", rows),
            "keys are packed less often, or threads share more evenly");
  return found;
}

std::string to_json(const AttentionSchedule& schedule) {
  return nlohmann::json{{"keys", schedule.keys}, {"rows", schedule.rows}}.dump();
}

Result<AttentionSchedule> attention_schedule_from_json(std::string_view text, const Attention& attention) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("keys") || !json["keys"].is_number_integer() ||
      !json.contains("rows") || !json["rows"].is_number_integer())
    return fail("the schedule of an attention needs whole numbers \"keys\" and \"rows\"");
  const auto keys = json["keys"].get<std::int64_t>(), rows = json["rows"].get<std::int64_t>();
  const AttentionSchedule schedule{static_cast<long>(keys), static_cast<long>(rows)};
  if (!fits(schedule, attention))
    return fail(
        "attention with blocks of {} keys and pieces of {} queries: at most {} keys by 32 and {} queries, "
        "{} numbers in the panels of a block",
        keys, rows, kMostKeys, kMostRows, kMostPanelFloats);
  return schedule;
}

}  // namespace kforge::smith
