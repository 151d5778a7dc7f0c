// perf stat, in its readable form or with -x (values separated by ; or ,). Counters that the machine does not
// have are no facts; without any, that is said.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <sstream>

#include "profile/parsers.h"

namespace kforge {
namespace {

std::optional<double> number(std::string text) {
  std::erase_if(text, [](char c) { return c == ',' || c == '\'' || c == ' '; });
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// Event names without what perf puts behind them: "cycles:u", "cpu_core/cycles/".
std::string event_name(std::string name) {
  if (std::size_t slash = name.find('/'); slash != std::string::npos) {
    name = name.substr(slash + 1);
    name = name.substr(0, name.find('/'));
  }
  return name.substr(0, name.find(':'));
}

struct Row {
  std::string event;
  std::optional<double> value;  // nothing: not supported or not counted
};

std::optional<Row> row_of(const std::string& line) {
  // With -x: value;unit;event;...
  for (char separator : {';', ','}) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string part; std::getline(parts, part, separator) && fields.size() < 4;) fields.push_back(part);
    bool readable_form = line.starts_with(' ');  // its commas group digits
    if (readable_form || fields.size() < 3 || fields[2].empty() || fields[2].find(' ') != std::string::npos)
      continue;
    if (fields[0].starts_with("<not")) return Row{event_name(fields[2]), std::nullopt};
    if (auto value = number(fields[0])) return Row{event_name(fields[2]), value};
  }
  // "  1,234,567      cycles:u      #    3.0 GHz"
  std::istringstream words(line);
  std::string first, second, third;
  words >> first >> second >> third;
  if (first == "<not")
    return third.empty() ? std::nullopt : std::optional(Row{event_name(third), std::nullopt});
  auto value = number(first);
  if (!value || second.empty()) return std::nullopt;
  if (second == "msec" && !third.empty()) second = third;
  return Row{event_name(second), value};
}

}  // namespace

bool parse_perf_stat(const Said& said, Findings& findings) {
  std::map<std::string, double> events;
  bool unsupported = false;
  for (const std::string* text : {&said.out, &said.err, &said.product}) {
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
      if (line.size() > 1'000) continue;
      auto row = row_of(line);
      if (!row || events.size() > 500) continue;
      if (row->value)
        events[row->event] += *row->value;
      else
        unsupported = true;
    }
  }
  auto get = [&](std::initializer_list<const char*> names) -> std::optional<double> {
    for (const char* name : names)
      if (auto found = events.find(name); found != events.end()) return found->second;
    return std::nullopt;
  };
  auto fact = [&](std::string_view name, double value, std::string_view unit) {
    findings.fact(name, value, unit, said.profiler);
  };
  auto rate = [&](std::string_view name, std::optional<double> part, std::optional<double> whole) {
    if (part && whole && *whole > 0) fact(name, 100 * *part / *whole, "%");
  };
  auto cycles = get({"cycles", "cpu-cycles"}), instructions = get({"instructions"});
  if (cycles) fact("cycles", *cycles, "");
  if (instructions) fact("instructions", *instructions, "");
  if (cycles && instructions && *cycles > 0) fact("ipc", *instructions / *cycles, "");
  rate("cache_miss_rate", get({"cache-misses"}), get({"cache-references"}));
  rate("l1_miss_rate", get({"L1-dcache-load-misses", "L1-dcache-misses"}), get({"L1-dcache-loads"}));
  rate("llc_miss_rate", get({"LLC-load-misses", "LLC-misses"}), get({"LLC-loads", "LLC-references"}));
  rate("branch_miss_rate", get({"branch-misses"}), get({"branches", "branch-instructions"}));
  rate("tlb_miss_rate", get({"dTLB-load-misses"}), get({"dTLB-loads"}));
  if (auto faults = get({"page-faults", "faults"})) fact("page_faults", *faults, "");
  if (auto switches = get({"context-switches"})) fact("context_switches", *switches, "");
  if (cycles || instructions || get({"cache-references"})) return true;
  findings.profile.absent.push_back(
      fmt::format("{}: {}", said.profiler,
                  unsupported ? "no hardware counters on this machine" : "no counters were given"));
  return false;
}

}  // namespace kforge
