// kforge platforms: every platform, ready or not, and why not.
#include "platform/platform.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "report/eval_terminal.h"
#include "store/eval_report.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

int run(bool json) {
  auto platforms = load_all_platforms();
  if (!platforms) return report_error(platforms.error(), json);
  Json list = Json::array();
  std::vector<std::vector<std::string>> lines{{"platform", "ready", "kind", "language", "objective", "what"}};
  std::string remedies;
  for (const Platform& platform : *platforms) {
    Readiness readiness = probe_platform(platform);
    list.push_back({{"name", platform.name},
                    {"ready", readiness.ready},
                    {"reason", readiness.reason},
                    {"remedy", readiness.remedy},
                    {"kind", platform.kind},
                    {"language", platform.language},
                    {"objective", platform.objective},
                    {"description", platform.description}});
    lines.push_back({platform.name, readiness.ready ? "yes" : "no", platform.kind, platform.language,
                     platform.objective, platform.description});
    if (!readiness.ready)
      remedies += fmt::format("{} is not ready: {}\n  {}\n", platform.name, printable(readiness.reason),
                              readiness.remedy);
  }
  if (json)
    fmt::print("{}\n", Json{{"schema", "kforge.platforms/1"}, {"platforms", list}}.dump(
                           2, ' ', false, Json::error_handler_t::replace));
  else
    fmt::print("{}{}{}", fitted_table(lines, "", terminal_style().table_width), remedies.empty() ? "" : "\n",
               remedies);
  return kExitPassed;
}

}  // namespace

void declare_platforms(CLI::App& command, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "as JSON");
  command.callback([json, &exit_code] { exit_code = run(*json); });
}

}  // namespace kforge
