// Small pieces that several JSON documents are made of, written and read in one place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/eval_report.h"
#include "store/json_fields.h"

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
  JsonReader::Json json = json_of(s);
  json["shown"] = name_of(shown_by(s));
  return json;
}
inline Speedup read_speedup(const JsonReader& r) {
  Speedup s;
  fields(FieldReader(r), s);
  return s;
}

inline JsonReader::Json roofline_json(const Roofline& r) {
  return {{"bound", r.bound}, {"fraction", r.fraction}};
}
inline Roofline read_roofline(const JsonReader& r) {
  return {r.get<std::string>("bound"), r.get<double>("fraction")};
}

}  // namespace kforge
