// Reports as the command line gives them, cut to what a reader with a small window needs.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "base/readable.h"
#include "mcp/tools.h"

namespace kforge::mcp {
namespace {

constexpr std::size_t kLongestText = 6000;
constexpr std::size_t kLongestList = 200;

// Fields that are long, or of no use for the next step; the handle leads to all of them.
constexpr std::string_view kLeftOut[] = {
    "arithmetic", "asked",         "build",  "cases",   "clock", "evidence", "gates",    "libraries_allowed",
    "machine",    "platform_hash", "rounds", "sandbox", "seeds", "setup",    "task_hash"};
// What the command line advises, in the words of the tools.
constexpr std::pair<std::string_view, std::string_view> kInWordsOfTools[] = {
    {"run the same command again", "evaluate it again"},
    {"`--explain` shows every gate with its evidence",
     "the result by its id shows every gate with its evidence"},
    {"run without --check", "evaluate without check_only"},
    {"`kforge recheck last` measures it once more",
     "evaluate it again to measure it once more, or compare two results"},
    {"--precision ", "precision "},
    {"give --kernel a C++ file that defines", "give a source that defines"},
};

constexpr std::string_view kLeftOutOfResults[] = {
    "bytes",  "cache",    "check_only",     "created_at",        "device",  "flops",      "general",
    "kernel", "released", "kforge_version", "peak_memory_bytes", "seconds", "thread_use", "threads"};

bool is_among(std::span<const std::string_view> names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

std::string cut_text(const std::string& text) {
  if (text.size() <= kLongestText) return text;
  return text.substr(0, kLongestText * 2 / 3) + "\n[...]\n" + text.substr(text.size() - kLongestText / 3);
}

double four_digits(double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  const double scale = std::pow(10.0, 3 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

std::string in_words_of_tools(std::string text) {
  for (const auto& [from, to] : kInWordsOfTools)
    if (const std::size_t at = text.find(from); at != text.npos) text.replace(at, from.size(), to);
  return text;
}

bool is_result(const Json& report) { return string_at(report, "schema") == "kforge.eval/1"; }

double number_at(const Json& object, const char* name) {
  return object.is_object() && object.contains(name) && object[name].is_number() ? object[name].get<double>()
                                                                                 : 0;
}

// "1.09x [0.79, 1.54] against onnxruntime: no difference was shown".
std::string speedup_text(const Json& speedup) {
  const std::string shown = string_at(speedup, "shown");
  return fmt::format("{:.2f}x [{:.2f}, {:.2f}] against {}: {}", number_at(speedup, "value"),
                     number_at(speedup, "lo"), number_at(speedup, "hi"), string_at(speedup, "against"),
                     shown == "no_difference" ? "no difference was shown" : shown);
}

std::string result_summary(const Json& report) {
  const std::string outcome = string_at(report, "outcome");
  if (outcome != "passed") {
    const std::string gate = string_at(report, "gate");
    return fmt::format("{}{}: {}", outcome, gate.empty() ? "" : " (gate " + gate + ")",
                       cut_text(string_at(report, "reason")));
  }
  std::string text = "passed";
  if (const Json gates = report.value("gates", Json()); gates.is_array() && !gates.empty()) {
    const auto passed =
        std::ranges::count_if(gates, [](const Json& gate) { return string_at(gate, "state") == "passed"; });
    text += fmt::format(" {} gates", passed);
  }
  if (report.contains("general"))
    text += report.value("general", false) ? ", on other shapes too (general)" : ", for these shapes only";
  if (const double ns = number_at(report.value("time_ns", Json()), "median"); ns > 0)
    text += "; " + readable_time(ns);
  if (const Json speedup = report.value("speedup", Json()); speedup.is_object())
    text +=
        "; " + speedup_text(speedup) + " (ratio of calls made in turns: medians beside it can say otherwise)";
  // Null where nothing was timed.
  if (const Json load = report.value("load", Json()); load.is_object() && load.value("busy", false))
    text += "; the machine was busy, so measure again before you trust it";
  return text;
}

}  // namespace

std::string summary_of(const Json& report) {
  if (is_result(report)) return result_summary(report);
  if (std::string headline = string_at(report, "headline"); !headline.empty()) return headline;
  return "";
}

Json short_report(const Json& report) {
  if (report.is_string()) return cut_text(report.get_ref<const std::string&>());
  if (report.is_number_float()) return four_digits(report.get<double>());
  if (report.is_array()) {
    Json list = Json::array();
    for (std::size_t i = 0; i < std::min(report.size(), kLongestList); ++i)
      list.push_back(short_report(report[i]));
    return list;
  }
  if (!report.is_object()) return report;
  const bool result = is_result(report);
  Json kept = Json::object();
  for (const auto& [name, value] : report.items())
    if (!value.is_null() && !is_among(kLeftOut, name) && !(result && is_among(kLeftOutOfResults, name)))
      kept[name] = short_report(value);
  if (result && kept.contains("advice"))
    for (Json& step : kept["advice"])
      if (step.is_string()) step = in_words_of_tools(step.get<std::string>());
  for (const auto& [name, value] : report.items())
    if (value.is_array() && value.size() > kLongestList)
      kept[name + "_left_out"] = value.size() - kLongestList;
  return kept;
}

}  // namespace kforge::mcp
