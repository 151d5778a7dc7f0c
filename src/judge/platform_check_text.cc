// A check of a platform as people elsewhere read it, and as programs do.
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "judge/platform_check.h"

namespace kforge {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Text of programs and tools inside a table of Markdown.
std::string cell(std::string_view text) {
  std::string safe;
  for (char c : printable(text)) {
    if (c == '|') safe += '\\';
    safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

std::string verdict_of(const PlatformCheck& check) {
  if (!check.readiness.usable()) return "missing";
  return check.passed() ? "passed" : "failed";
}

}  // namespace

std::string to_markdown(const PlatformCheck& check) {
  std::string text = fmt::format("# Check of platform {}: {}\n\n", check.platform.name, verdict_of(check));
  auto line = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("- {}: {}\n", name, cell(value));
  };
  line("what", check.platform.description);
  line("state", fmt::format("{} ({})", name_of(check.readiness.state), check.readiness.reason));
  if (!check.readiness.usable()) line("remedy", check.readiness.remedy);
  line("device", check.device.name);
  line("driver", check.device.driver);
  line("machine", check.machine_text);
  line("sandbox", check.sandbox);
  line("hash of the folder", check.platform.content_hash);
  line("when", check.created_at);
  line("KForge", check.kforge_version);
  if (check.rows.empty()) return text;
  text += "\n| part | name | asked | state | found |\n|---|---|---|---|---|\n";
  for (const CheckRow& row : check.rows)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", row.part, cell(row.name), cell(row.what),
                        name_of(row.state), cell(row.found));
  text += "\nGates of the example:\n\n| gate | state | summary |\n|---|---|---|\n";
  for (const GateResult& gate : check.gates)
    text += fmt::format("| {} | {} | {} |\n", name_of(gate.gate), name_of(gate.state), cell(gate.summary));
  return text;
}

std::string to_json(const PlatformCheck& check) {
  OrderedJson rows = OrderedJson::array(), gates = OrderedJson::array();
  for (const CheckRow& row : check.rows)
    rows.push_back({{"part", row.part},
                    {"name", row.name},
                    {"what", row.what},
                    {"state", name_of(row.state)},
                    {"found", row.found}});
  for (const GateResult& gate : check.gates)
    gates.push_back(
        {{"gate", name_of(gate.gate)}, {"state", name_of(gate.state)}, {"summary", gate.summary}});
  OrderedJson document{
      {"schema", "kforge.platform_check/1"},
      {"platform", check.platform.name},
      {"folder", check.platform.folder.string()},
      {"hash", check.platform.content_hash},
      {"verdict", verdict_of(check)},
      {"state", name_of(check.readiness.state)},
      {"reason", check.readiness.reason},
      {"remedy", check.readiness.remedy},
      {"device",
       {{"name", check.device.name}, {"driver", check.device.driver}, {"emulated", check.device.emulated}}},
      {"machine", check.machine_text},
      {"sandbox", check.sandbox},
      {"created_at", check.created_at},
      {"kforge_version", check.kforge_version},
      {"rows", rows},
      {"gates", gates}};
  return document.dump(2, ' ', false, OrderedJson::error_handler_t::replace);
}

}  // namespace kforge
