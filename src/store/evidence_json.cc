#include "store/evidence_json.h"

#include <cmath>
#include <limits>

#include "base/overloaded.h"

namespace kforge {
namespace {

using Json = JsonReader::Json;

Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

double number_in(const Json& object, const char* key) {
  auto found = object.find(key);
  if (found == object.end()) return 0;
  if (found->is_number()) return found->get<double>();
  if (*found == "inf") return std::numeric_limits<double>::infinity();
  if (*found == "-inf") return -std::numeric_limits<double>::infinity();
  return std::numeric_limits<double>::quiet_NaN();
}

std::int64_t integer_in(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

std::string text_in(const Json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::int64_t> index_in(const Json& object, const char* key) {
  std::vector<std::int64_t> index;
  if (auto found = object.find(key); found != object.end() && found->is_array())
    for (const Json& part : *found)
      if (part.is_number_integer()) index.push_back(part.get<std::int64_t>());
  return index;
}

// Keys in the order of the alphabet, as in every document before this one.
Json compared_json(const ComparedOutput& compared) {
  Json worst = Json::array(), regions = Json::array();
  for (const ComparedElement& element : compared.worst)
    worst.push_back({{"bound", number(element.bound)},
                     {"error", number(element.error)},
                     {"got", number(element.got)},
                     {"index", element.index},
                     {"want", number(element.want)}});
  for (double region : compared.error_by_region) regions.push_back(number(region));
  Json json = {{"elements", compared.elements}};
  if (!compared.first_wrong.empty()) {
    json["error_by_region"] = regions;
    json["first_wrong"] = compared.first_wrong;
  }
  json["inputs"] = compared.inputs;
  json["max_abs"] = number(compared.max_abs);
  json["output"] = compared.output;
  if (!compared.pattern.empty()) json["pattern"] = compared.pattern;
  json["rel_norm"] = number(compared.rel_norm);
  json["worst"] = worst;
  json["wrong"] = compared.wrong;
  json["wrong_nonfinite"] = compared.wrong_nonfinite;
  json["yardstick_worst_abs"] = number(compared.yardstick_worst_abs);
  return json;
}

ComparedOutput compared_from(const Json& json) {
  ComparedOutput compared{.output = text_in(json, "output"),
                          .inputs = text_in(json, "inputs"),
                          .elements = integer_in(json, "elements"),
                          .wrong = integer_in(json, "wrong"),
                          .wrong_nonfinite = integer_in(json, "wrong_nonfinite"),
                          .worst = {},
                          .first_wrong = index_in(json, "first_wrong"),
                          .pattern = text_in(json, "pattern"),
                          .max_abs = number_in(json, "max_abs"),
                          .rel_norm = number_in(json, "rel_norm"),
                          .yardstick_worst_abs = number_in(json, "yardstick_worst_abs")};
  for (const Json& element : json["worst"])
    if (element.is_object())
      compared.worst.push_back({index_in(element, "index"), number_in(element, "got"),
                                number_in(element, "want"), number_in(element, "error"),
                                number_in(element, "bound")});
  if (auto regions = json.find("error_by_region"); regions != json.end() && regions->is_array())
    for (const Json& region : *regions)
      compared.error_by_region.push_back(region.is_number() ? region.get<double>()
                                                            : std::numeric_limits<double>::quiet_NaN());
  return compared;
}

Json figures_json(const Figures& figures) {
  Json json = Json::object();
  for (const auto& [name, figure] : figures.named)
    std::visit(Overloaded{[&](double value) { json[name] = number(value); },
                          [&](const auto& value) { json[name] = value; }},
               figure);
  return json;
}

Figures figures_from(const Json& json) {
  Figures figures;
  for (const auto& [name, value] : json.items()) {
    if (value.is_number_integer()) figures.named.emplace_back(name, value.get<std::int64_t>());
    if (value.is_number_float()) figures.named.emplace_back(name, value.get<double>());
    if (value.is_string()) figures.named.emplace_back(name, value.get<std::string>());
    if (!value.is_array()) continue;
    std::vector<std::string> texts;
    for (const Json& element : value)
      texts.push_back(element.is_string() ? element.get<std::string>() : element.dump());
    figures.named.emplace_back(name, std::move(texts));
  }
  return figures;
}

}  // namespace

Json to_json(const Evidence& evidence) {
  return std::visit(Overloaded{[](std::monostate) { return Json(nullptr); },
                               [](const ComparedOutput& compared) { return compared_json(compared); },
                               [](const Figures& figures) { return figures_json(figures); }},
                    evidence);
}

Evidence evidence_from_json(const Json& json) {
  if (!json.is_object()) return {};
  if (auto worst = json.find("worst"); worst != json.end() && worst->is_array()) return compared_from(json);
  return figures_from(json);
}

std::string evidence_text(const Evidence& evidence) {
  if (is_empty(evidence)) return "";
  return to_json(evidence).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Evidence evidence_from_text(std::string_view text) {
  return evidence_from_json(Json::parse(text, nullptr, false));
}

}  // namespace kforge
