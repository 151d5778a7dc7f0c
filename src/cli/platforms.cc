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
  auto platforms = list_platforms();
  if (!platforms) return report_error(platforms.error(), json);
  Json list = Json::array();
  std::vector<std::vector<std::string>> lines{{"platform", "state", "kind", "language", "objective", "what"}};
  std::string remedies;
  for (const ListedPlatform& listed : *platforms) {
    if (!listed.platform) {
      const Error& error = listed.platform.error();
      list.push_back({{"name", listed.name},
                      {"folder", listed.folder.string()},
                      {"state", "broken"},
                      {"reason", error.message},
                      {"remedy", error.remedy}});
      lines.push_back({listed.name, "broken", "", "", "", ""});
      remedies +=
          fmt::format("{} is broken: {}\n  {}\n", listed.name, printable(error.message), error.remedy);
      continue;
    }
    const Platform& platform = *listed.platform;
    Readiness readiness = probe_platform(platform);
    list.push_back({{"name", platform.name},
                    {"folder", listed.folder.string()},
                    {"state", name_of(readiness.state)},
                    {"reason", readiness.reason},
                    {"remedy", readiness.remedy},
                    {"kind", name_of(platform.kind)},
                    {"language", platform.language},
                    {"objective", name_of(platform.objective)},
                    {"description", platform.description},
                    {"hash", platform.content_hash}});
    lines.push_back({platform.name, std::string(name_of(readiness.state)),
                     std::string(name_of(platform.kind)), platform.language,
                     std::string(name_of(platform.objective)), platform.description});
    if (!readiness.usable())
      remedies += fmt::format("{} is missing something: {}\n  {}\n", platform.name,
                              printable(readiness.reason), readiness.remedy);
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
