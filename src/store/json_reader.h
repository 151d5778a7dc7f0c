// Reads fields of a JSON object that others wrote: the first missing or wrong field is remembered by its
// name, and everything after it reads as empty, so that the code using it has no branches.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace kforge {

class JsonReader {
 public:
  using Json = nlohmann::ordered_json;

  JsonReader(const Json& object, std::string where, std::string* problem)
      : object_(object.is_object() ? object : empty()), where_(std::move(where)), problem_(problem) {
    if (!object.is_object()) complain("", "an object");
  }

  template <class T>
  T get(const char* key) const {
    T value{};
    if (auto found = object_.find(key); found == object_.end() || !take(*found, value))
      complain(key, kind_of<T>());
    return value;
  }
  // Absent and null read as "not there"; anything else must have the type.
  template <class T>
  T get_or(const char* key, T fallback) const {
    auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return fallback;
    T value{};
    if (!take(*found, value)) complain(key, kind_of<T>());
    return value;
  }
  template <class F>
  auto optional(const char* key, F&& read) const
      -> std::optional<decltype(read(std::declval<const JsonReader&>()))> {
    auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return std::nullopt;
    return read(JsonReader(*found, path(key), problem_));
  }
  // Calls `each` for every object of an array; an absent array is empty.
  template <class F>
  void each(const char* key, F&& each) const {
    auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return;
    if (!found->is_array()) return complain(key, "an array");
    for (const Json& element : *found) each(JsonReader(element, path(key), problem_));
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all;
    auto found = object_.find(key);
    if (found == object_.end() || found->is_null()) return all;
    if (!found->is_array()) complain(key, "an array");
    for (const Json& element : *found)
      if (element.is_string()) all.push_back(element.get<std::string>());
    return all;
  }
  // A word that `from_name` knows.
  template <class T>
  T named(const char* key, std::optional<T> (*from_name)(std::string_view)) const {
    if (auto known = from_name(get<std::string>(key))) return *known;
    complain(key, "a word this KForge knows");
    return T{};
  }
  // There and not null.
  bool has(const char* key) const {
    auto found = object_.find(key);
    return found != object_.end() && !found->is_null();
  }
  const Json& object() const { return object_; }
  // The first complaint is the one that is told.
  void complain(const char* key, const char* expected) const {
    if (problem_->empty()) *problem_ = path(key) + " is missing or not " + expected;
  }

 private:
  static const Json& empty() {
    static const Json kEmpty = Json::object();
    return kEmpty;
  }
  static bool take(const Json& json, std::string& value) {
    if (json.is_string()) value = json.get<std::string>();
    return json.is_string();
  }
  static bool take(const Json& json, bool& value) {
    if (json.is_boolean()) value = json.get<bool>();
    return json.is_boolean();
  }
  static bool take(const Json& json, double& value) {
    if (json.is_number()) value = json.get<double>();
    return json.is_number();
  }
  template <std::integral T>
  requires(!std::same_as<T, bool>) static bool take(const Json& json, T& value) {
    if (json.is_number_integer()) value = json.get<T>();
    return json.is_number_integer();
  }
  template <class T>
  static constexpr const char* kind_of() {
    if constexpr (std::same_as<T, std::string>) return "text";
    if constexpr (std::same_as<T, bool>) return "true or false";
    return "a number";
  }
  std::string path(const char* key) const { return where_.empty() ? key : where_ + "." + key; }

  const Json& object_;
  std::string where_;
  std::string* problem_;
};

}  // namespace kforge
