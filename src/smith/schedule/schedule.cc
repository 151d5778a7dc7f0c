#include "smith/schedule/schedule.h"

#include <nlohmann/json.hpp>

namespace kforge::smith {

using Json = nlohmann::ordered_json;

std::string to_json(const Schedule& schedule) {
  Json steps = Json::array();
  for (const Step& step : schedule.steps) {
    Json one{{"do", step.name}, {"on", step.loops}};
    if (step.number != 0) one["by"] = step.number;
    steps.push_back(std::move(one));
  }
  Json document{{"smith", 1}, {"steps", std::move(steps)}};
  if (!schedule.contractions.empty()) {
    Json parts = Json::object();
    for (const auto& [tensor, text] : schedule.contractions)
      parts[tensor] = Json::parse(text, nullptr, false);
    document["contractions"] = std::move(parts);
  }
  return document.dump();
}

Result<Schedule> schedule_from_json(std::string_view text) {
  const Json document = Json::parse(text, nullptr, false);
  if (!document.is_object() || !document.contains("smith") || document["smith"] != 1)
    return fail("this is not a schedule of the smith");
  Schedule schedule;
  if (document.contains("steps")) {
    if (!document["steps"].is_array() || document["steps"].size() > 2000)
      return fail("the steps of the schedule are no list, or too many");
    for (const Json& one : document["steps"]) {
      if (!one.is_object() || !one.contains("do") || !one["do"].is_string())
        return fail("a step of the schedule has no name");
      Step step{one["do"], {}, 0};
      if (one.contains("on")) {
        if (!one["on"].is_array()) return fail("step {}: \"on\" is no list", step.name);
        for (const Json& name : one["on"]) {
          if (!name.is_string()) return fail("step {}: \"on\" holds something that is no name", step.name);
          step.loops.push_back(name);
        }
      }
      if (one.contains("by")) {
        if (!one["by"].is_number_integer()) return fail("step {}: \"by\" is no whole number", step.name);
        step.number = one["by"];
      }
      schedule.steps.push_back(std::move(step));
    }
  }
  if (document.contains("contractions")) {
    if (!document["contractions"].is_object()) return fail("the contractions of the schedule are no object");
    for (const auto& [tensor, part] : document["contractions"].items())
      schedule.contractions[tensor] = part.dump();
  }
  return schedule;
}

}  // namespace kforge::smith
