// The record between the child that rewrites and its parent.
#include <nlohmann/json.hpp>

#include "emulate/rewrite.h"

namespace kforge::emulate {
namespace {

using Json = nlohmann::json;

Json notes_json(const std::vector<SourceNote>& notes) {
  Json list = Json::array();
  for (const SourceNote& note : notes)
    if (list.size() < 100) list.push_back({{"what", note.what}, {"file", note.file}, {"line", note.line}});
  return list;
}

bool is_text(const Json& json, const char* key) { return json.contains(key) && json[key].is_string(); }
bool is_number(const Json& json, const char* key) {
  return json.contains(key) && json[key].is_number_integer() && json[key] >= -1'000'000'000 &&
         json[key] <= 1'000'000'000;
}

bool read_notes(const Json& json, const char* key, std::vector<SourceNote>& notes) {
  if (!json.contains(key) || !json[key].is_array()) return false;
  for (const Json& row : json[key]) {
    if (!row.is_object() || !is_text(row, "what") || !is_text(row, "file") || !is_number(row, "line"))
      return false;
    notes.push_back({row["what"], row["file"], row["line"]});
  }
  return true;
}

}  // namespace

std::string to_json(const Rewritten& rewritten) {
  Json kernels = Json::array();
  for (const KernelSignature& kernel : rewritten.kernels) {
    Json parameters = Json::array();
    for (const KernelParameter& parameter : kernel.parameters)
      parameters.push_back({{"attribute", parameter.attribute}, {"index", parameter.index}});
    kernels.push_back({{"name", kernel.name},
                       {"line", kernel.line},
                       {"callee", kernel.callee},
                       {"parameters", parameters}});
  }
  return Json{{"text", rewritten.text},
              {"kernels", kernels},
              {"constants", rewritten.constants},
              {"unsupported", notes_json(rewritten.unsupported)},
              {"refused", notes_json(rewritten.refused)},
              {"errors", notes_json(rewritten.errors)}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool from_json(std::string_view text, Rewritten& out) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !is_text(json, "text") || !json.contains("kernels") || !json["kernels"].is_array())
    return false;
  out.text = json["text"];
  for (const Json& row : json["kernels"]) {
    if (!row.is_object() || !is_text(row, "name") || !is_number(row, "line") || !is_text(row, "callee") ||
        !row.contains("parameters") || !row["parameters"].is_array())
      return false;
    KernelSignature kernel{row["name"], row["line"], {}, row["callee"]};
    for (const Json& parameter : row["parameters"]) {
      if (!parameter.is_object() || !is_text(parameter, "attribute") || !is_number(parameter, "index"))
        return false;
      kernel.parameters.push_back({parameter["attribute"], parameter["index"]});
    }
    out.kernels.push_back(std::move(kernel));
  }
  if (!json.contains("constants") || !json["constants"].is_array()) return false;
  for (const Json& name : json["constants"]) {
    if (!name.is_string()) return false;
    out.constants.push_back(name);
  }
  return read_notes(json, "unsupported", out.unsupported) && read_notes(json, "refused", out.refused) &&
         read_notes(json, "errors", out.errors);
}

}  // namespace kforge::emulate
