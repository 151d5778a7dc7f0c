// kforge version
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "store/eval_report.h"

namespace kforge {

void declare_version(CLI::App& command, int& exit_code) {
  auto json = std::make_shared<bool>(false);
  command.add_flag("--json", *json, "as JSON");
  command.callback([json, &exit_code] {
    if (*json)
      fmt::print("{}\n", nlohmann::ordered_json{{"schema", "kforge.version/1"},
                                                {"version", KFORGE_VERSION},
                                                {"eval_schema", EvalReport::kSchema}}
                             .dump(2));
    else
      fmt::print("kforge {}\n", KFORGE_VERSION);
    exit_code = kExitPassed;
  });
}

}  // namespace kforge
