#include "mcp/resources.h"

#include <algorithm>

#include "base/text.h"
#include "platform/platform.h"

namespace kforge::mcp {
namespace {

constexpr std::string_view kScheme = "kforge://";
constexpr double kLimit = 60;  // seconds

bool is_name(const std::string& word) {
  return !word.empty() && word.size() <= 64 && word[0] != '-' &&
         std::ranges::all_of(word, [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-'; });
}

Json list_at(const Json& object, const char* name) {
  return object.is_object() && object.contains(name) ? object[name] : Json::array();
}

Json contents(const std::string& uri, const std::string& mime_type, std::string text) {
  return Json::array({{{"uri", uri}, {"mimeType", mime_type}, {"text", std::move(text)}}});
}

}  // namespace

Json Resources::list() const {
  Json resources = Json::array();
  auto add = [&](const std::string& uri, const std::string& name, const std::string& mime_type) {
    resources.push_back({{"uri", std::string(kScheme) + uri}, {"name", name}, {"mimeType", mime_type}});
  };
  if (auto platforms = program_->run({"platforms", "--json"}, {}, kLimit); platforms)
    for (const Json& one : list_at(platforms->document, "platforms"))
      add("platform/" + string_at(one, "name") + "/notes", "Notes on " + string_at(one, "name"),
          "text/markdown");
  if (auto results = program_->run({"results", "--limit=20", "--json"}, {}, kLimit); results)
    for (const Json& one : list_at(results->document, "results"))
      add("result/" + string_at(one, "id"), "Result on " + string_at(one, "task"), "application/json");
  return resources;
}

Json Resources::templates() {
  auto row = [](const char* uri, const char* name, const char* mime_type) {
    return Json{{"uriTemplate", uri}, {"name", name}, {"mimeType", mime_type}};
  };
  return Json::array({row("kforge://result/{id}", "report of a result, run or suite", "application/json"),
                      row("kforge://result/{id}/source", "its program", "text/plain"),
                      row("kforge://platform/{name}/notes", "notes on a platform", "text/markdown")});
}

Result<Json> Resources::read(const std::string& uri) const {
  const auto unknown = [&] { return fail("there is no resource {}", uri); };
  if (!uri.starts_with(kScheme)) return unknown();
  const std::vector<std::string> parts = parts_of(uri.substr(kScheme.size()), '/');
  if (parts.size() < 2 || parts.size() > 3 || !is_name(parts[1])) return unknown();
  const std::string last = parts.size() == 3 ? parts[2] : "";
  if (parts[0] == "platform" && last == "notes") {
    KF_TRY(Platform platform, load_platform(parts[1]));
    return contents(uri, "text/markdown", platform.notes);
  }
  if (parts[0] != "result" || (!last.empty() && last != "source")) return unknown();
  KF_TRY(auto answer, program_->run({"show", parts[1], last.empty() ? "--json" : "--source"}, {}, kLimit));
  if (answer.exit_code == 2)
    return fail("{}", answer.document.is_object() ? string_at(answer.document, "error") : answer.out);
  return contents(uri, last.empty() ? "application/json" : "text/plain", std::move(answer.out));
}

}  // namespace kforge::mcp
