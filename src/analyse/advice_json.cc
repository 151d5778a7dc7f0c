#include "analyse/advice_json.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "analyse/analyst.h"
#include "base/nearest.h"
#include "generate/quote.h"
#include "generate/reply_blocks.h"

namespace kforge {
namespace {

using nlohmann::json;

constexpr std::size_t kMostReplyBytes = 1 << 20, kMostText = 2'000;

// The first balanced {...} of a text; braces inside strings do not count.
std::string_view first_object(std::string_view text) {
  std::size_t start = text.find('{');
  if (start == std::string_view::npos) return {};
  int depth = 0;
  bool in_string = false;
  for (std::size_t at = start; at < text.size(); ++at) {
    char c = text[at];
    if (in_string) {
      if (c == '\\') ++at;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}' && --depth == 0) {
      return text.substr(start, at - start + 1);
    }
  }
  return {};
}

std::string_view after_thinking(std::string_view text) {
  std::size_t end = text.find("</think>");
  return end == std::string_view::npos ? text : text.substr(end + 8);
}

std::expected<json, std::string> object_of(std::string_view text) {
  std::string_view searched = text;
  std::vector<std::string_view> objects;
  ReplyScan scan = scan_blocks(text);
  for (const ReplyBlock& block : scan.blocks)
    if (block.info.starts_with("json") || block.info.empty())
      if (auto object = first_object(block.content); !object.empty()) objects.push_back(object);
  if (objects.size() > 1)
    return std::unexpected("there are several JSON objects, and exactly one recommendation is wanted");
  std::string_view object = objects.empty() ? first_object(searched) : objects.front();
  if (object.empty()) return std::unexpected("there is no JSON object in it");
  // Depth is bounded: the parser recurses.
  int depth = 0, deepest = 0;
  for (char c : object)
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0, deepest = std::max(deepest, depth);
  if (deepest > 20) return std::unexpected("the JSON is nested too deeply");
  json parsed = json::parse(object, nullptr, false);
  if (parsed.is_discarded()) return std::unexpected("the JSON cannot be parsed");
  return parsed;
}

// 1.3, or "1.3x" as models like to write it.
std::expected<double, std::string> number(const json& object, const char* key, double low, double high) {
  if (!object.contains(key)) return std::unexpected(fmt::format("'{}' is missing", key));
  const json& value = object[key];
  double found = 0;
  if (value.is_number()) {
    found = value.get<double>();
  } else if (value.is_string()) {
    const std::string text = value.get<std::string>();
    char* end = nullptr;
    found = std::strtod(text.c_str(), &end);
    std::string_view rest = end;
    if (end == text.c_str() || (rest != "" && rest != "x" && rest != " x"))
      return std::unexpected(fmt::format("'{}' is not a number", key));
  } else {
    return std::unexpected(fmt::format("'{}' is not a number", key));
  }
  if (!std::isfinite(found) || found < low || found > high)
    return std::unexpected(fmt::format("'{}' must be between {:g} and {:g}", key, low, high));
  return found;
}

std::expected<std::string, std::string> words(const json& object, const char* key) {
  if (!object.contains(key) || !object[key].is_string())
    return std::unexpected(fmt::format("'{}' is missing or no text", key));
  std::string text = single_line(object[key].get<std::string>(), kMostText);
  if (text.empty()) return std::unexpected(fmt::format("'{}' is empty", key));
  return text;
}

std::string plain_tag(std::string tag) {
  for (char& c : tag)
    c = c == '-' || c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (tag == "vectorise" || tag == "vectorization" || tag == "simd") return "vectorize";
  if (tag == "parallelise" || tag == "parallelization") return "parallelize";
  if (tag == "tiling" || tag == "blocking") return "tile";
  return tag;
}

}  // namespace

std::expected<Advice, std::string> advice_from_reply(std::string_view reply) {
  if (reply.size() > kMostReplyBytes) return std::unexpected("it is longer than a recommendation can be");
  std::string text = clean_text(reply);
  auto object = object_of(after_thinking(text));
  if (!object) return std::unexpected(object.error());
  Advice advice;
  for (auto [key, field] : {std::pair{"bottleneck", &Advice::bottleneck},
                            {"evidence", &Advice::evidence},
                            {"change", &Advice::change},
                            {"tag", &Advice::tag}}) {
    auto value = words(*object, key);
    if (!value) return std::unexpected(value.error());
    advice.*field = std::move(*value);
  }
  auto gain = number(*object, "expected_gain", 1, 1000);
  if (!gain) return std::unexpected(gain.error());
  auto confidence = number(*object, "confidence", 0, 1);
  if (!confidence) return std::unexpected(confidence.error());
  advice.expected_gain = *gain;
  advice.confidence = *confidence;
  advice.tag = plain_tag(advice.tag);
  if (!is_advice_tag(advice.tag)) {
    std::vector<std::string> known(std::begin(kAdviceTags), std::end(kAdviceTags));
    return std::unexpected(fmt::format("'tag' is '{}', which is not in the list{}",
                                       single_line(advice.tag, 40), did_you_mean(advice.tag, known)));
  }
  return advice;
}

}  // namespace kforge
