// kforge platforms: every platform, ready or not, and why not.
#include "platform/platform.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/readable.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/platforms_check.h"
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
  std::vector<std::vector<std::string>> devices{{"platform", "device"}};
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
    if (readiness.device) list.back()["device"] = Json::parse(to_json(*readiness.device));
    if (readiness.device) devices.push_back({platform.name, printable(readiness.reason)});
    lines.push_back({platform.name, std::string(name_of(readiness.state)),
                     std::string(name_of(platform.kind)), platform.language,
                     std::string(name_of(platform.objective)), platform.description});
    if (!readiness.usable())
      remedies += fmt::format("{} is missing something: {}\n  {}\n", platform.name,
                              printable(readiness.reason), readiness.remedy);
  }
  const std::size_t width = terminal_style().table_width;
  if (json)
    fmt::print("{}\n", Json{{"schema", "kforge.platforms/1"}, {"platforms", list}}.dump(
                           2, ' ', false, Json::error_handler_t::replace));
  else
    fmt::print("{}{}{}{}", fitted_table(lines, "", width),
               devices.size() > 1 ? "\n" + fitted_table(devices, "", width) : "",
               remedies.empty() ? "" : "\n", remedies);
  return kExitPassed;
}

}  // namespace

void declare_platforms(CLI::App& command, int& exit_code) {
  struct Arguments {
    std::string name, report;
    bool json = false;
  };
  auto a = std::make_shared<Arguments>();
  command.require_subcommand(0, 1);
  command.add_flag("--json", a->json, "as JSON");

  CLI::App* check =
      command.add_subcommand("check", "try a platform: its example, programs that must fail, its clock");
  check->add_option("PLATFORM", a->name, "platform by name or folder")->required();
  check->add_option("--report", a->report, "where the report goes [in KForge's home]")->type_name("FILE");
  check->add_flag("--json", a->json, "as JSON");

  command.callback([a, &command, &exit_code] {
    if (!command.got_subcommand("check")) {
      exit_code = run(a->json);
      return;
    }
    clean_up_on_interrupt();
    exit_code = check_one_platform(a->name, a->report, a->json);
  });
}

}  // namespace kforge
