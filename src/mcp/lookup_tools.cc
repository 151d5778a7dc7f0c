// Tools that only look.
#include "mcp/tools.h"

#include "mcp/schema.h"
#include "mcp/tool_words.h"

namespace kforge::mcp {

Tool list_tasks(const OwnProgram& program) {
  return {.name = "list_tasks",
          .title = "Tasks",
          .description =
              "The tasks that come with KForge (reference programs a kernel can be written for), with sizes "
              "and cost. Any ONNX graph or KernelBench file is a task too, by its path.",
          .input_schema = object_of({{"suite", one_of({"core", "fusion", "llm"}, "only this suite")}}),
          .output_schema =
              answer_of({{"tasks", field_of("array", "name, description, flops, bytes of each")}}, {"tasks"}),
          .call = [&program](const ToolCall& call) {
            return run(program, Words(program, call.arguments, {"tasks"}).positional("suite"), call, kQuick);
          }};
}

Tool show_task(const OwnProgram& program) {
  return {.name = "show_task",
          .title = "One task",
          .description =
              "What a task computes: its graph, arguments, sizes, floating-point operations and bytes, and "
              "the header task.h that kernels include.",
          .input_schema = object_of({{"task", task_argument()}, {"shapes", shapes_argument()}}, {"task"}),
          .output_schema = answer_of({{"name", field_of("string", "what other tools call it")},
                                      {"graph", field_of("string", "the reference program, as ONNX text")},
                                      {"task_h", field_of("string", "the header that kernels include")},
                                      {"arguments", field_of("array", "name, role, dtype, shape of each")},
                                      {"flops", field_of("number", "floating-point operations of a call")},
                                      {"bytes", field_of("number", "least traffic of a call")}},
                                     {"name"}),
          .call = [&program](const ToolCall& call) {
            return run(program,
                       Words(program, call.arguments, {"tasks", "show"}).task().option("shapes", "--shapes"),
                       call, kLong);
          }};
}

Tool list_platforms(const OwnProgram& program) {
  return {
      .name = "list_platforms",
      .title = "Platforms",
      .description =
          "What kernels can be written for here, which of them are ready, and why the others are not.",
      .input_schema = object_of(Json::object()),
      .output_schema = answer_of(
          {{"platforms", field_of("array", "name, state, reason, remedy, language of each")}}, {"platforms"}),
      .call = [&program](const ToolCall& call) {
        return run(program, Words(program, call.arguments, {"platforms"}), call, kQuick);
      }};
}

Tool kernel_contract(const OwnProgram& program) {
  return {.name = "kernel_contract",
          .title = "What a kernel must look like",
          .description =
              "Read this before writing a kernel: the contract for this task and platform (signature, "
              "allowed includes, how it is built, checked and timed), a worked example, notes on the "
              "platform, and the task's source. Then write it and call evaluate_kernel.",
          .input_schema = object_of(
              {{"task", task_argument()}, {"platform", platform_argument()}, {"shapes", shapes_argument()}},
              {"task"}),
          .output_schema = answer_of(
              {{"kernel_file", field_of("string", "what the program's file is called")}}, {"kernel_file"}),
          .call = [&program](const ToolCall& call) {
            Words words(program, call.arguments, {"contract"});
            words.task().named("platform", "--on").option("shapes", "--shapes");
            auto argv = words.finish();
            if (!argv) return tool_failure(argv.error().text());
            auto answer = program.run(std::move(*argv), call.stop, kLong);
            if (!answer) return tool_failure(answer.error().text());
            if (!answer->document.contains("contract")) return shown(*answer);
            // Whole: it is what the caller must follow.
            ToolResult result{.structured = answer->document};
            result.text =
                "What KForge tells its own agents follows. Hand the program over with evaluate_kernel, not "
                "as a reply.\n\n" +
                string_at(answer->document, "contract");
            result.structured.erase("contract");
            return result;
          }};
}

Tool list_results(const OwnProgram& program) {
  return {
      .name = "list_results",
      .title = "Stored results",
      .description = "The latest results of evaluations, newest first.",
      .input_schema = object_of({{"task", text_of("only of this task")},
                                 {"limit", {{"type", "integer"}, {"minimum", 1}, {"maximum", 40}}}}),
      .output_schema =
          answer_of({{"results", field_of("array", "id, task, platform, outcome, time_ns, speedup of each")}},
                    {"results"}),
      .call = [&program](const ToolCall& call) {
        return run(
            program,
            Words(program, call.arguments, {"results"}).option("task", "--task").option("limit", "--limit"),
            call, kQuick);
      }};
}

Tool list_runs(const OwnProgram& program) {
  return {.name = "list_runs",
          .title = "Stored runs",
          .description =
              "The latest runs and suites, newest first: of start_forge, start_session and start_suite, of "
              "this server and of others. show_result has the whole of one.",
          .input_schema = object_of({{"task", text_of("only of this task")},
                                     {"limit", {{"type", "integer"}, {"minimum", 1}, {"maximum", 40}}}}),
          .output_schema =
              answer_of({{"runs", field_of("array", "id, task, activity, generator, speedup of each")},
                         {"suites", field_of("array", "id, name, state, finished of each")}},
                        {"runs"}),
          .call = [&program](const ToolCall& call) {
            return run(
                program,
                Words(program, call.arguments, {"runs"}).option("task", "--task").option("limit", "--limit"),
                call, kQuick);
          }};
}

Tool show_result(const OwnProgram& program) {
  return {.name = "show_result",
          .title = "A stored result or run",
          .description = "A stored result, run or suite by its id: its report, or with source the program.",
          .input_schema = object_of(
              {{"id", text_of("id, a prefix of it, or last")}, {"source", flag_of("the program instead")}},
              {"id"}),
          .output_schema = answer_of({{"summary", field_of("string", "the finding in a sentence")},
                                      {"outcome", field_of("string", "of a result: passed, or what failed")},
                                      {"attempts", field_of("array", "of a run")},
                                      {"parts", field_of("array", "of a suite: fast_p and the table")},
                                      {"source", field_of("string", "the program, where it was asked for")}}),
          .call = [&program](const ToolCall& call) {
            if (!call.arguments.value("source", false))
              return run(program, Words(program, call.arguments, {"show"}).positional("id"), call, kQuick);
            auto id = plain_word("id", text(call.arguments, "id"));
            if (!id) return tool_failure(id.error().text());
            auto answer = program.run({"show", *id, "--source"}, call.stop, kQuick);
            if (!answer) return tool_failure(answer.error().text());
            if (answer->exit_code != 0) return tool_failure(answer->out);
            return ToolResult{.structured = {{"id", *id}, {"source", answer->out}}, .text = answer->out};
          }};
}

Tool compare(const OwnProgram& program) {
  return {
      .name = "compare",
      .title = "Two results side by side",
      .description =
          "Two results or runs: verdicts, times measured in turns in one run (about a minute), and the "
          "difference of their sources.",
      .input_schema = object_of({{"a", text_of("id of a result, run or suite; RUN:NUMBER; a kernel's hash")},
                                 {"b", text_of("id of the other one")},
                                 {"no_time", flag_of("time nothing")}},
                                {"a", "b"}),
      .output_schema =
          answer_of({{"ratio", field_of("object", "how many times faster a is than b: value, lo, hi")},
                     {"shown", field_of("string", "faster, slower or no_difference")},
                     {"not_timed", field_of("string", "why there is no ratio")},
                     {"diff", field_of("string", "of the sources, unified")},
                     {"same_program", field_of("boolean", "the sources are the same")}}),
      .call = [&program](const ToolCall& call) {
        return run(program,
                   Words(program, call.arguments, {"compare"})
                       .positional("a")
                       .positional("b")
                       .option("no_time", "--no-time"),
                   call, kLong);
      }};
}

Tool analyse_profile(const OwnProgram& program) {
  return {.name = "analyse_profile",
          .title = "Advice on a profile",
          .description =
              "Reads a profile (ncu, nsys or rocprof CSV, perf stat, callgrind.out, a PNG of a profiler's "
              "window with a model as analyst) and recommends the next change.",
          .input_schema = object_of({{"profile", text_of("its file, under the server's root")},
                                     {"task", task_argument()},
                                     {"platform", platform_argument()},
                                     {"analyst", text_of("builtin, or a model: provider:name")}},
                                    {"profile"}),
          .output_schema = answer_of(
              {{"advice", field_of("object", "bottleneck, evidence, change, expected_gain, tag, by")},
               {"facts", field_of("array", "what was read from the profile")}},
              {"advice"}),
          .call = [&program](const ToolCall& call) {
            Words words(program, call.arguments, {"analyse", "--profile"});
            words.path(text(call.arguments, "profile"));
            words.named("task", "--task").named("platform", "--on").option("analyst", "--analyst");
            return run(program, std::move(words), call, kLong);
          }};
}

}  // namespace kforge::mcp
