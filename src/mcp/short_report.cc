// Reports as the command line gives them, cut to what a reader with a small window needs.
#include <algorithm>
#include <iterator>

#include "mcp/tools.h"

namespace kforge::mcp {
namespace {

constexpr std::size_t kLongestText = 6000;
constexpr std::size_t kLongestList = 200;

// Fields that are long, or of no use for the next step; the handle leads to all of them.
constexpr std::string_view kLeftOut[] = {
    "arithmetic", "asked",   "build",         "cases",  "clock",   "evidence", "gates", "libraries_allowed",
    "load",       "machine", "platform_hash", "rounds", "sandbox", "seeds",    "setup", "task_hash"};

std::string cut_text(const std::string& text) {
  if (text.size() <= kLongestText) return text;
  return text.substr(0, kLongestText * 2 / 3) + "\n[...]\n" + text.substr(text.size() - kLongestText / 3);
}

}  // namespace

Json short_report(const Json& report) {
  if (report.is_string()) return cut_text(report.get_ref<const std::string&>());
  if (report.is_array()) {
    Json list = Json::array();
    for (std::size_t i = 0; i < std::min(report.size(), kLongestList); ++i)
      list.push_back(short_report(report[i]));
    return list;
  }
  if (!report.is_object()) return report;
  Json kept = Json::object();
  for (const auto& [name, value] : report.items())
    if (!value.is_null() && std::ranges::find(kLeftOut, name) == std::end(kLeftOut))
      kept[name] = short_report(value);
  for (const auto& [name, value] : report.items())
    if (value.is_array() && value.size() > kLongestList)
      kept[name + "_left_out"] = value.size() - kLongestList;
  return kept;
}

}  // namespace kforge::mcp
