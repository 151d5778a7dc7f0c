#include "llm/json.h"

#include <cmath>

namespace kforge {

Json parse_json(std::string_view text) {
  constexpr int kDeepest = 24;
  auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth < kDeepest; };
  return Json::parse(text.begin(), text.end(), shallow, false);
}

const Json& member(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  auto it = object.find(key);
  return it == object.end() ? kNull : *it;
}

std::string text_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : "";
}

std::optional<std::int64_t> count_of(const Json& object, const char* key) {
  const Json& value = member(object, key);
  if (!value.is_number()) return std::nullopt;
  // A figure beyond any real count is as good as none.
  double number = value.get<double>();
  if (!std::isfinite(number) || number < 0 || number > 1e12) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::string dump_json(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace kforge
