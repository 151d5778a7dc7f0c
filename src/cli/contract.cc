// kforge contract: what a kernel for a task must look like, as the generation agent is told.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/import_task.h"
#include "cli/options.h"
#include "generate/prompt.h"
#include "machine/machine.h"
#include "verify/policy.h"

namespace kforge {
namespace {

struct ContractArguments {
  std::string task, platform = "cpu", shape_set = "bench";
  bool kernel_file = false, json = false;
};

// How a model hands its program over is of no use to who writes a file.
std::string without_section(const std::string& text, const std::string& title) {
  const std::size_t begin = text.find("\n# " + title);
  const std::size_t end = begin == std::string::npos ? begin : text.find("\n# ", begin + 1);
  return end == std::string::npos ? text : text.substr(0, begin) + text.substr(end);
}

Result<std::string> contract_of(const ContractArguments& arguments, const Platform& platform) {
  std::string spec = arguments.task;
  KF_TRY_VOID(import_in_place(spec, {}, std::nullopt, arguments.json));
  KF_TRY(Task task, load_task(spec));
  KF_TRY(BoundTask bound, bind_task(task, arguments.shape_set));
  KF_TRY(Machine machine, describe_machine());
  AgentSetting setting;
  setting.task = &bound;
  setting.platform = &platform;
  setting.machine = &machine;
  setting.threads = machine.threads();
  if (const auto policy = policy_from_name(setting.precision)) {
    setting.tolerance = policy->tolerance;
    setting.precision_words = policy->what;
  }
  KF_TRY(Prompt prompt, make_prompt(Plan{}, setting));
  return without_section(prompt.system, "Form of your reply");
}

int run(const ContractArguments& arguments) {
  auto print = [&](const nlohmann::ordered_json& document, const std::string& text) {
    fmt::print("{}\n", arguments.json ? document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
                                      : text);
    return kExitPassed;
  };
  auto platform = load_platform(arguments.platform);
  if (!platform) return report_error(platform.error(), arguments.json);
  const std::string file = "kernel" + platform->files.front();
  if (arguments.kernel_file) return print({{"schema", "kforge.contract/1"}, {"kernel_file", file}}, file);
  if (arguments.task.empty())
    return report_error(Error{"no task is named", "name one: kforge contract core/relu"}, arguments.json);
  auto contract = contract_of(arguments, *platform);
  if (!contract) return report_error(contract.error(), arguments.json);
  return print({{"schema", "kforge.contract/1"},
                {"task", arguments.task},
                {"platform", arguments.platform},
                {"kernel_file", file},
                {"contract", *contract}},
               *contract);
}

}  // namespace

void declare_contract(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<ContractArguments>();
  command.add_option("TASK", arguments->task, "task by name, folder, .onnx or .py file")->type_name("");
  add_value(command, "--on", arguments->platform, "NAME", "platform by name or folder");
  add_value(command, "--shapes", arguments->shape_set, "SET", "shape set that is timed");
  command.add_flag("--kernel-file", arguments->kernel_file, "only the name that the kernel's file must have");
  command.add_flag("--json", arguments->json, "as JSON");
  command.footer("Such as:  kforge contract core/softmax --on cpu > contract.md");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace kforge
