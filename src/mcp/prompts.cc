#include "mcp/prompts.h"

#include <fmt/format.h>

namespace kforge::mcp {
namespace {

struct Argument {
  const char *name, *description;
  bool required;
};
struct Prompt {
  const char *name, *title, *description;
  std::vector<Argument> arguments;
};

const std::vector<Prompt>& all_prompts() {
  static const std::vector<Prompt> kPrompts = {
      {"optimise",
       "Optimise this function",
       "Write a verified kernel that is faster than the libraries",
       {{"task", "a task's name, or a .py or .onnx file", true},
        {"platform", "platform, cpu unless given", false}}},
      {"port",
       "Port this kernel",
       "Write the kernel of one platform for another, verified",
       {{"result", "id of a stored result with the kernel to port", true},
        {"task", "the task it computes", true},
        {"platform", "the platform to port it to", true}}}};
  return kPrompts;
}

}  // namespace

Json prompt_list() {
  Json list = Json::array();
  for (const Prompt& prompt : all_prompts()) {
    Json arguments = Json::array();
    for (const Argument& argument : prompt.arguments)
      arguments.push_back(
          {{"name", argument.name}, {"description", argument.description}, {"required", argument.required}});
    list.push_back({{"name", prompt.name},
                    {"title", prompt.title},
                    {"description", prompt.description},
                    {"arguments", arguments}});
  }
  return list;
}

Result<std::string> prompt_text(const Json& name, const Json& arguments) {
  for (const Prompt& prompt : all_prompts()) {
    if (name != prompt.name) continue;
    if (!arguments.is_object()) return fail("\"arguments\" must be an object of strings");
    for (const Argument& argument : prompt.arguments)
      if (argument.required && !arguments.value(argument.name, Json()).is_string())
        return fail("the argument '{}' of the prompt {} is missing", argument.name, prompt.name);
    auto given = [&](const char* key, const char* otherwise = "") {
      const Json value = arguments.value(key, Json());
      return value.is_string() ? value.get<std::string>() : std::string(otherwise);
    };
    constexpr const char* kLoop =
        "Call start_session, then go on in a loop: write the kernel, call evaluate_kernel with the session, "
        "read which gate failed or how it compares with the best so far and the libraries, follow the advice "
        "or change one other thing, and again. When three changes in a row gained nothing, call stop_job, "
        "and report what job_status then says of the confirmed kernel: its speedup with the interval, what "
        "it was timed against, and the id of the run.";
    if (name == "optimise")
      return fmt::format(
          "Write a fast kernel for the task {} on the platform {}. First call kernel_contract and "
          "show_task for it. {}",
          given("task"), given("platform", "cpu"), kLoop);
    return fmt::format(
        "Port the kernel of result {} (show_result with source) to the platform {}, for the task {}. "
        "First call kernel_contract for that task and platform. {}",
        given("result"), given("platform"), given("task"), kLoop);
  }
  return fail("there is no prompt {}", name.dump());
}

}  // namespace kforge::mcp
