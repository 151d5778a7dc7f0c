// Tools that judge a kernel, or make a task.
#include "mcp/tools.h"

#include "base/files.h"
#include "generate/candidate.h"
#include "mcp/schema.h"
#include "mcp/tool_words.h"

namespace kforge::mcp {

namespace {

// The name that inline source gets on a platform; an Error's text is for the assistant.
Result<std::string> kernel_file(const OwnProgram& program, const std::string& platform,
                                const ToolCall& call) {
  KF_TRY(auto answer,
         program.run({"contract", "--kernel-file", "--on=" + platform, "--json"}, call.stop, kQuick));
  std::string name = string_at(answer.document, "kernel_file");
  if (name.empty()) return fail("{}", shown(answer).text);
  return name;
}

Result<std::string> platform_of(const OwnProgram& program, const Json& arguments) {
  return program.name_or_path("platform", text(arguments, "platform", "cpu"));
}

// A kernel that stands for itself: one result.
ToolResult evaluate_once(const OwnProgram& program, const ToolCall& call) {
  Words words(program, call.arguments, {"eval", "-v"});
  words.task().named("platform", "--on").option("shapes", "--shapes").option("precision", "--precision");
  words.named("baselines", "--baseline").option("check_only", "--check").word("--kernel");
  auto folder = TempDir::create();
  if (!folder) return tool_failure(folder.error().text());
  if (call.arguments.contains("path"))
    return run(program, std::move(words.path(text(call.arguments, "path"))), call, kLong);
  auto platform = platform_of(program, call.arguments);
  if (!platform) return tool_failure(platform.error().text());
  auto name = kernel_file(program, *platform, call);
  if (!name) return tool_failure(name.error().text());
  const fs::path file = folder->path() / *name;
  if (auto written = write_file_atomic(file, text(call.arguments, "source")); !written)
    return tool_failure(written.error().text());
  if (call.arguments.contains("plan"))
    if (auto written = write_file_atomic(folder->path() / kPlanFile, text(call.arguments, "plan")); !written)
      return tool_failure(written.error().text());
  return run(program, std::move(words.word(file.string())), call, kLong);
}

// The program of a call as files.
Result<std::vector<SourceFile>> files_of(const OwnProgram& program, const std::string& platform,
                                         const ToolCall& call) {
  if (call.arguments.contains("source")) {
    KF_TRY(std::string name, kernel_file(program, platform, call));
    std::vector<SourceFile> files = {{name, text(call.arguments, "source")}};
    if (call.arguments.contains("plan")) files.push_back({kPlanFile, text(call.arguments, "plan")});
    return files;
  }
  KF_TRY(fs::path path, program.inside(text(call.arguments, "path")));
  KF_TRY(Platform target, load_platform(platform));
  KF_TRY(auto read, read_candidate(path, target));
  if (!read) return fail("{}", reason_text(read.error()));
  return read->files;
}

// A kernel as the next attempt of a session's run.
ToolResult evaluate_in_session(const OwnProgram& program, WritingSessions& sessions, const ToolCall& call) {
  for (const char* settled : {"task", "platform", "shapes", "baselines", "precision", "check_only"})
    if (call.arguments.contains(settled))
      return tool_failure(fmt::format("leave '{}' out: the session has settled it", settled));
  const std::string session = text(call.arguments, "session");
  auto platform = sessions.platform(session);
  if (!platform) return tool_failure(platform.error().text());
  auto files = files_of(program, *platform, call);
  if (!files) return tool_failure(files.error().text());
  WritingSessions::Handed handed{std::move(*files), text(call.arguments, "change"), std::nullopt};
  if (call.arguments.contains("followed_advice"))
    handed.followed_advice = call.arguments["followed_advice"].get<bool>();
  return sessions.evaluate(session, handed, call);
}

}  // namespace

Tool evaluate_kernel(const OwnProgram& program, WritingSessions& sessions) {
  return {
      .name = "evaluate_kernel",
      .title = "Judge a kernel",
      .description =
          "Builds a kernel in a sandbox, checks its results against the task on many inputs and shapes, "
          "and times it in turns with the libraries installed. With check_only seconds (under an emulator or "
          "with "
          "large tensors up to two minutes); with timing one to three minutes, less with fewer baselines. "
          "The answer says passed, or which gate failed and "
          "why: mend that and call again. Stores the result. Give the task for a single result, or the "
          "session of start_session, and the kernel becomes the next attempt of that run. "
          "`// kforge: tune` lines are searched in sessions and by start_forge; for a single result the "
          "kernel's own values are taken.",
      .input_schema = object_of(
          {{"task", task_argument()},
           {"session", text_of("id from start_session, in place of task and all that it settled")},
           {"source", source_of("the kernel's source text; or give path")},
           {"plan",
            source_of("beside source, for device platforms (cuda, metal, opencl, vulkan): its plan.json")},
           {"path", text_of("the kernel's file, or folder, under the server's root")},
           {"change", text_of("in a session: what is new in this kernel, in one line")},
           {"followed_advice", flag_of("in a session: whether the advice given was followed")},
           {"platform", platform_argument()},
           {"shapes", shapes_argument()},
           {"baselines", baselines_argument()},
           {"precision", precision_argument()},
           {"check_only", flag_of("no timing")}}),
      .output_schema = answer_of(
          {{"outcome", field_of("string", "passed, or what is wrong: wrong_value, compile_error, ...")},
           {"gate", field_of("string", "that refused it")},
           {"reason", field_of("string", "what to mend")},
           {"summary", field_of("string", "the finding in a sentence")},
           {"id", field_of("string", "of the stored result, for show_result and compare")},
           {"time_ns", field_of("object", "time of a call with its interval")},
           {"speedup", field_of("object", "value, lo, hi, against, shown")},
           {"attempt", field_of("object", "in a session: number, parent, pass, accepted, over_best")},
           {"next", field_of("object", "in a session: the pass and the advice that follow")},
           {"session_ended", field_of("string", "why, where it has")}},
          {"outcome"}),
      .read_only = false,
      .idempotent = false,
      .call = [&program, &sessions](const ToolCall& call) {
        auto given = [&](const char* name) { return call.arguments.contains(name); };
        if (given("source") == given("path"))
          return tool_failure("give the kernel either as 'source' or as 'path'");
        if (given("plan") && !given("source"))
          return tool_failure("give 'plan' with 'source'; a path has its plan.json beside it");
        if (!given("task") && !given("session"))
          return tool_failure("give 'task', or the 'session' of start_session");
        return given("session") ? evaluate_in_session(program, sessions, call) : evaluate_once(program, call);
      }};
}

Tool start_session(const OwnProgram& program, WritingSessions& sessions) {
  return {.name = "start_session",
          .title = "Write kernels as one run",
          .description =
              "Opens a run in which you write the kernels: each evaluate_kernel with its session becomes an "
              "attempt, raced against the best so far, profiled, with advice for the next one. Read "
              "kernel_contract first. It prepares for up to a minute while you write. End it with stop_job: "
              "the best attempt is then confirmed in a fresh process, and that is the figure to report; the "
              "run has a report like every other.",
          .input_schema = object_of({{"task", task_argument()},
                                     {"platform", platform_argument()},
                                     {"shapes", shapes_argument()},
                                     {"baselines", baselines_argument()},
                                     {"precision", precision_argument()},
                                     {"analyst", text_of("who advises: builtin, or a model: provider:name")}},
                                    {"task"}),
          .output_schema = answer_of(
              {{"session", field_of("string", "for evaluate_kernel, job_status and stop_job")}}, {"session"}),
          .read_only = false,
          .idempotent = false,
          .call = [&program, &sessions](const ToolCall& call) {
            Words words(program, call.arguments, {"forge", "-vv", "--out", Jobs::kFolder});
            words.task()
                .named("platform", "--on")
                .option("shapes", "--shapes")
                .option("precision", "--precision");
            words.named("baselines", "--baseline").option("analyst", "--analyst");
            auto argv = words.finish();
            auto platform = platform_of(program, call.arguments);
            if (!argv || !platform) return tool_failure((argv ? platform.error() : argv.error()).text());
            auto session = sessions.start(std::move(*argv), *platform);
            if (!session) return tool_failure(session.error().text());
            if (auto refused = sessions.refused_at_once(*session, call)) return std::move(*refused);
            return ToolResult{.structured = {{"session", *session},
                                             {"next", "evaluate_kernel with this session"},
                                             {"end_with", "stop_job with this id, then job_status"}}};
          }};
}

Tool import_module(const OwnProgram& program) {
  return {
      .name = "import_module",
      .title = "A PyTorch module or ONNX graph as a task",
      .description =
          "Turns a .py file in KernelBench's form (Model, get_inputs, get_init_inputs), or an .onnx file, "
          "into a task folder, and says how well its graph agrees with the module. Writes the folder.",
      .input_schema =
          object_of({{"path", text_of("the .py or .onnx file, under the server's root")},
                     {"out", text_of("the folder to write, under the server's root")},
                     {"fit", text_of("smaller sizes, so that the module takes about this long: 50ms")}},
                    {"path", "out"}),
      .output_schema = answer_of(
          {{"task",
            field_of("object", "state, name, folder, difference_fp32, notes; why not, where it failed")}},
          {"task"}),
      .read_only = false,
      .call = [&program](const ToolCall& call) {
        Words words(program, call.arguments, {"import"});
        words.path(text(call.arguments, "path")).option("fit", "--fit").word("-o");
        words.path(text(call.arguments, "out"));
        return run(program, std::move(words), call, kLong);
      }};
}

}  // namespace kforge::mcp
