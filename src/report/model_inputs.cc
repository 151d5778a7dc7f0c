#include "report/model_inputs.h"

#include <fmt/core.h>

#include <algorithm>

namespace kforge {
namespace {

constexpr std::string_view kShort[] = {
    "modelled", "registers", "occupancy", "sectors per request",       "bank passes",
    "active",   "barriers",  "limit",     "blocks that were looked at"};

bool is_short(const ModelInput& input) {
  return std::ranges::any_of(kShort, [&](std::string_view start) { return input.name.starts_with(start); });
}

std::string shown(const ModelInput& input) {
  if (input.of == "emulator") return input.name;
  return fmt::format("{} {:.3g}{}{}", input.name, input.value, input.unit.empty() ? "" : " ", input.unit);
}

}  // namespace

std::vector<std::string> model_input_lines(const EvalReport& report, bool all) {
  std::vector<std::string> lines;
  if (report.cases.empty()) return lines;
  const std::vector<ModelInput>& inputs = report.cases.front().modelled_from;
  for (std::size_t i = 0; i < inputs.size();) {
    std::string line;
    std::size_t end = i;
    // A kernel's figures begin with what it takes: the next ones may be of the same kernel with another grid.
    do {
      if (all || is_short(inputs[end])) line += (line.empty() ? "" : ", ") + shown(inputs[end]);
      ++end;
    } while (end < inputs.size() && inputs[end].of == inputs[i].of && inputs[end].name != "modelled");
    if (!line.empty()) lines.push_back(fmt::format("{}: {}", inputs[i].of, line));
    i = end;
  }
  return lines;
}

}  // namespace kforge
