#include "store/option_document.h"

#include "store/json_fields.h"

namespace kforge {
namespace {

using Json = JsonReader::Json;

}  // namespace

std::string to_document(const OptionMap& options) {
  Json json = Json::object();
  for (const auto& [name, option] : options)
    json[name] = std::visit(
        [](const auto& value) -> Json {
          if constexpr (std::same_as<std::decay_t<decltype(value)>, std::monostate>)
            return nullptr;
          else
            return value;
        },
        option);
  return dump(json);
}

Result<OptionMap> options_from_document(std::string_view document) {
  Json json = Json::parse(document, nullptr, false);
  if (!json.is_object()) return fail("the store's record of the options cannot be read");
  OptionMap options;
  for (const auto& [name, value] : json.items()) {
    OptionValue& option = options[name];
    if (value.is_boolean()) option = value.get<bool>();
    if (value.is_number_integer()) option = value.get<int>();
    if (value.is_number_float()) option = value.get<double>();
    if (value.is_string()) option = value.get<std::string>();
    if (value.is_array()) {
      auto& texts = option.emplace<std::vector<std::string>>();
      for (const Json& element : value)
        if (element.is_string()) texts.push_back(element.get<std::string>());
    }
  }
  return options;
}

}  // namespace kforge
