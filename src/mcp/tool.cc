#include "mcp/tool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kforge::mcp {
namespace {

bool has_type(const Json& value, const std::string& type) {
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "integer") return value.is_number_integer();
  if (type == "number") return value.is_number();
  if (type == "array") return value.is_array();
  return value.is_object();
}

std::vector<std::string> strings_of(const Json& list) {
  std::vector<std::string> words;
  for (const Json& word : list) words.push_back(word.get<std::string>());
  return words;
}

std::string wrong_value(const std::string& name, const Json& schema, const Json& value) {
  const std::string type = schema.value("type", "object");
  if (!has_type(value, type)) return fmt::format("'{}' must be of type {}", name, type);
  if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
    return fmt::format("'{}' must be one of {}", name, fmt::join(strings_of(schema["enum"]), ", "));
  if (value.is_number()) {
    if (schema.contains("minimum") && value.get<double>() < schema["minimum"].get<double>())
      return fmt::format("'{}' must be at least {}", name, schema["minimum"].dump());
    if (schema.contains("maximum") && value.get<double>() > schema["maximum"].get<double>())
      return fmt::format("'{}' must be at most {}", name, schema["maximum"].dump());
  }
  if (value.is_string() && schema.contains("maxLength") &&
      value.get_ref<const std::string&>().size() > schema["maxLength"].get<std::size_t>())
    return fmt::format("'{}' is longer than {} characters", name, schema["maxLength"].dump());
  if (value.is_array() && schema.contains("items"))
    for (const Json& item : value)
      if (auto wrong = wrong_value(name, schema["items"], item); !wrong.empty()) return wrong;
  return "";
}

}  // namespace

std::string wrong_arguments(const Json& schema, const Json& arguments) {
  static const Json kNone = Json::object();
  const Json& properties = schema.contains("properties") ? schema["properties"] : kNone;
  for (const auto& [name, value] : arguments.items()) {
    if (auto property = properties.find(name); property != properties.end()) {
      if (auto wrong = wrong_value(name, *property, value); !wrong.empty()) return wrong;
      continue;
    }
    std::vector<std::string> names;
    for (const auto& [known, ignored] : properties.items()) names.push_back(known);
    return fmt::format("there is no argument '{}'; there are: {}", name,
                       names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
  if (schema.contains("required"))
    for (const std::string& name : strings_of(schema["required"]))
      if (!arguments.contains(name)) return fmt::format("the argument '{}' is missing", name);
  return "";
}

}  // namespace kforge::mcp
