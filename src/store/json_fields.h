// Records as JSON, their fields listed once: fields(field, record) names each, and the same list serves to
// write and to read. A record that does not read back (a damaged store) is an Error that says which field.
#pragma once

#include <concepts>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/interval.h"
#include "base/result.h"
#include "generate/attempt.h"
#include "store/evidence_json.h"
#include "store/json_reader.h"

namespace kforge {

template <class T, class Record>
concept Like = std::same_as<std::remove_const_t<T>, Record>;

void fields(auto&& field, Like<Speedup> auto& s) {
  field("value", s.value);
  field("lo", s.lo);
  field("hi", s.hi);
  field("against", s.against);
}

void fields(auto&& field, Like<Advice> auto& a) {
  field("bottleneck", a.bottleneck);
  field("evidence", a.evidence);
  field("change", a.change);
  field("expected_gain", a.expected_gain);
  field("confidence", a.confidence);
  field("tag", a.tag);
  field("by", a.by);
  field("roofline_limit", a.roofline_limit);
  field("fallback", a.fallback);
}

// Enums by their names.
inline std::optional<Pass> from_name(std::string_view name, std::type_identity<Pass>) {
  return pass_from_name(name);
}
inline std::optional<Outcome> from_name(std::string_view name, std::type_identity<Outcome>) {
  return outcome_from_name(name);
}
inline std::optional<Gate> from_name(std::string_view name, std::type_identity<Gate>) {
  return gate_from_name(name);
}
inline std::optional<ReplyStatus> from_name(std::string_view name, std::type_identity<ReplyStatus>) {
  return reply_status_from_name(name);
}

template <class T>
JsonReader::Json json_of(const T& value);

class FieldWriter {
 public:
  template <class T>
  void operator()(const char* key, const T& value) {
    json_[key] = json_of(value);
  }
  // A field that older records lack: they read as its default.
  template <class T>
  void added(const char* key, const T& value) {
    (*this)(key, value);
  }
  JsonReader::Json take() { return std::move(json_); }

 private:
  JsonReader::Json json_ = JsonReader::Json::object();
};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = !std::same_as<T, std::string>;

template <class T>
JsonReader::Json json_of(const T& value) {
  using Json = JsonReader::Json;
  if constexpr (is_optional<T>) {
    return value ? json_of(*value) : Json(nullptr);
  } else if constexpr (is_list<T>) {
    Json list = Json::array();
    for (const auto& element : value) list.push_back(json_of(element));
    return list;
  } else if constexpr (std::is_enum_v<T>) {
    return Json(name_of(value));
  } else if constexpr (std::same_as<T, Evidence>) {
    return Json(evidence_text(value));
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string> ||
                       std::same_as<T, std::vector<std::string>>) {
    return Json(value);
  } else {
    FieldWriter writer;
    fields(writer, value);
    return writer.take();
  }
}

class FieldReader {
 public:
  explicit FieldReader(const JsonReader& reader) : reader_(reader) {}

  template <class T>
  void operator()(const char* key, T& value) const {
    if constexpr (is_optional<T>) {
      value.reset();
      if (reader_.has(key)) (*this)(key, value.emplace());
    } else if constexpr (std::is_enum_v<T>) {
      auto known = from_name(reader_.get<std::string>(key), std::type_identity<T>());
      if (known)
        value = *known;
      else
        reader_.complain(key, "a known word");
    } else if constexpr (std::same_as<T, Evidence>) {
      value = evidence_from_text(reader_.get<std::string>(key));
    } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
      value = reader_.get<T>(key);
    } else if constexpr (std::same_as<T, std::vector<std::string>>) {
      value = reader_.texts(key);
    } else if constexpr (is_list<T>) {
      reader_.each(key, [&](const JsonReader& inner) { fields(FieldReader(inner), value.emplace_back()); });
    } else {
      auto found = reader_.optional(key, [&](const JsonReader& inner) {
        fields(FieldReader(inner), value);
        return true;
      });
      if (!found) reader_.complain(key, "an object");
    }
  }

  template <class T>
  void added(const char* key, T& value) const {
    if (reader_.has(key)) (*this)(key, value);
  }

 private:
  const JsonReader& reader_;
};

// Bytes that are no UTF-8 are replaced, never an exception.
inline std::string dump(const JsonReader::Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, JsonReader::Json::error_handler_t::replace);
}

template <class T>
std::string to_document(const T& record) {
  return dump(json_of(record));
}

// `what` names the record in the Error: "a judgement".
template <class T>
Result<T> from_document(std::string_view document, const char* what) {
  JsonReader::Json json = JsonReader::Json::parse(document, nullptr, false);
  std::string problem;
  T record{};
  JsonReader reader(json, "", &problem);
  fields(FieldReader(reader), record);
  if (!problem.empty()) return fail("the store's record of {} cannot be read: {}", what, problem);
  return record;
}

}  // namespace kforge
