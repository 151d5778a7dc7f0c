// Parsers for what needs no understanding: pictures, text, and facts in a form anybody can write.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "generate/quote.h"
#include "profile/parsers.h"

namespace kforge {
namespace {

constexpr std::size_t kMostText = 8'000, kMostFacts = 200;

const std::string& what_it_gave(const Said& said) { return said.product.empty() ? said.out : said.product; }

void add_fact(const Said& said, Findings& findings, std::string_view name, double value,
              std::string_view unit) {
  if (std::isfinite(value) && !name.empty() && findings.profile.facts.size() < kMostFacts)
    findings.fact(single_line(name, 60), value, single_line(unit, 20), said.profiler);
}

}  // namespace

bool parse_png(const Said& said, Findings& findings) {
  const std::string& png = what_it_gave(said);
  if (!png.starts_with("\x89PNG\r\n\x1a\n")) {
    findings.profile.absent.push_back(fmt::format("{}: no picture came{}", said.profiler,
                                                  said.err.empty() ? "" : ": " + single_line(said.err, 160)));
    return false;
  }
  findings.profile.pictures.push_back({said.profiler, said.profiler, png});
  return true;
}

bool parse_text(const Said& said, Findings& findings) {
  std::string text = shorten(clean_text(what_it_gave(said).substr(0, 1 << 20)), kMostText);
  if (text.empty())
    return findings.profile.absent.push_back(fmt::format("{}: said nothing", said.profiler)), false;
  findings.profile.texts.push_back({said.profiler, std::move(text), said.profiler});
  return true;
}

bool parse_facts(const Said& said, Findings& findings) {
  const std::string& text = what_it_gave(said);
  std::size_t before = findings.profile.facts.size();
  auto parsed = nlohmann::json::parse(text, nullptr, false);
  if (parsed.is_object()) {
    for (const auto& [name, value] : parsed.items())
      if (value.is_number()) add_fact(said, findings, name, value.get<double>(), "");
  } else {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string name, unit;
      double value = 0;
      if (!(words >> name >> value)) continue;
      words >> unit;
      add_fact(said, findings, name, value, unit);
    }
  }
  if (findings.profile.facts.size() > before) return true;
  findings.profile.absent.push_back(fmt::format("{}: gave no figures", said.profiler));
  return false;
}

}  // namespace kforge
