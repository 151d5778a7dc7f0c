// Small pieces that several JSON documents are made of, written and read in one place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generate/plan.h"
#include "store/eval_report.h"
#include "store/json_reader.h"

namespace kforge {

inline JsonReader::Json null_when_empty(const std::string& text) {
  return text.empty() ? JsonReader::Json(nullptr) : JsonReader::Json(text);
}
template <class T>
JsonReader::Json or_null(const std::optional<T>& value) {
  return value ? JsonReader::Json(*value) : JsonReader::Json(nullptr);
}
template <class T, class F>
JsonReader::Json optional_json(const std::optional<T>& value, F&& convert) {
  return value ? convert(*value) : JsonReader::Json(nullptr);
}
template <class T, class F>
JsonReader::Json array_json(const std::vector<T>& values, F&& convert) {
  JsonReader::Json array = JsonReader::Json::array();
  for (const T& value : values) array.push_back(convert(value));
  return array;
}

inline JsonReader::Json speedup_json(const Speedup& s) {
  return {{"value", s.value}, {"lo", s.lo}, {"hi", s.hi}, {"against", s.against}};
}
inline Speedup read_speedup(const JsonReader& r) {
  return {{r.get<double>("value"), r.get<double>("lo"), r.get<double>("hi")}, r.get<std::string>("against")};
}

inline JsonReader::Json roofline_json(const Roofline& r) {
  return {{"bound", r.bound}, {"fraction", r.fraction}};
}
inline Roofline read_roofline(const JsonReader& r) {
  return {r.get<std::string>("bound"), r.get<double>("fraction")};
}

inline JsonReader::Json advice_json(const Advice& a) {
  return {{"bottleneck", a.bottleneck},
          {"evidence", a.evidence},
          {"change", a.change},
          {"expected_gain", a.expected_gain},
          {"confidence", a.confidence},
          {"tag", a.tag},
          {"by", a.by}};
}
inline Advice read_advice(const JsonReader& r) {
  return {r.get<std::string>("bottleneck"), r.get<std::string>("evidence"), r.get<std::string>("change"),
          r.get<double>("expected_gain"),   r.get<double>("confidence"),    r.get<std::string>("tag"),
          r.get<std::string>("by")};
}

// Bytes that are no UTF-8 are replaced, never an exception.
inline std::string dump(const JsonReader::Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, JsonReader::Json::error_handler_t::replace);
}

}  // namespace kforge
