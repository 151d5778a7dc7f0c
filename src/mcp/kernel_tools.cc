// Tools that judge a kernel, or make a task.
#include "mcp/tools.h"

#include "base/files.h"
#include "mcp/schema.h"
#include "mcp/tool_words.h"

namespace kforge::mcp {

Tool evaluate_kernel(const OwnProgram& program) {
  return {.name = "evaluate_kernel",
          .title = "Judge a kernel",
          .description =
              "Builds a kernel in a sandbox, checks its results against the task on many inputs and shapes, "
              "and times it "
              "in turns with the libraries installed. With check_only seconds; with timing one to three "
              "minutes, less "
              "with fewer baselines. The answer says passed, or which gate failed and why: mend that and "
              "call again. "
              "Stores the result. `// kforge: tune` lines are searched by start_forge only; here defaults "
              "are taken.",
          .input_schema = object_of(
              {{"task", task_argument()},
               {"source", source_of("the kernel's source text; or give path")},
               {"path", text_of("the kernel's file, or folder, under the server's root")},
               {"platform", platform_argument()},
               {"shapes", shapes_argument()},
               {"baselines", words_of("libraries to time against: onednn, onnxruntime, torch, ..., or none; "
                                      "all that are installed unless given")},
               {"precision",
                one_of({"fp32", "high", "bf16", "fp16"}, "how near the values must be; fp32 unless given")},
               {"check_only", flag_of("no timing")}},
              {"task"}),
          .read_only = false,
          .idempotent = false,
          .call = [&program](const ToolCall& call) {
            const bool inline_source = call.arguments.contains("source");
            if (inline_source == call.arguments.contains("path"))
              return tool_failure("give the kernel either as 'source' or as 'path'");
            Words words(program, call.arguments, {"eval"});
            words.task()
                .named("platform", "--on")
                .option("shapes", "--shapes")
                .option("precision", "--precision");
            words.named("baselines", "--baseline").option("check_only", "--check").word("--kernel");
            auto folder = TempDir::create();
            if (!folder) return tool_failure(folder.error().text());
            if (inline_source) {
              auto asked = Words(program, call.arguments, {"contract", "--kernel-file"})
                               .named("platform", "--on")
                               .finish();
              if (!asked) return tool_failure(asked.error().text());
              auto name = program.run(std::move(*asked), call.stop, kQuick);
              if (!name || !name->document.contains("kernel_file"))
                return name ? shown(*name) : tool_failure(name.error().text());
              const fs::path file = folder->path() / string_at(name->document, "kernel_file");
              if (auto written = write_file_atomic(file, text(call.arguments, "source")); !written)
                return tool_failure(written.error().text());
              words.word(file.string());
            } else {
              words.path(text(call.arguments, "path"));
            }
            return run(program, std::move(words), call, kLong);
          }};
}

Tool import_module(const OwnProgram& program) {
  return {.name = "import_module",
          .title = "A PyTorch module as a task",
          .description =
              "Turns a .py file in KernelBench's form (Model, get_inputs, get_init_inputs) into a task "
              "folder, and says how well its graph agrees with the module. Writes the folder.",
          .input_schema =
              object_of({{"path", text_of("the .py file, under the server's root")},
                         {"out", text_of("the folder to write, under the server's root")},
                         {"fit", text_of("smaller sizes, so that the module takes about this long: 50ms")}},
                        {"path", "out"}),
          .read_only = false,
          .call = [&program](const ToolCall& call) {
            Words words(program, call.arguments, {"import"});
            words.path(text(call.arguments, "path")).option("fit", "--fit").word("-o");
            words.path(text(call.arguments, "out"));
            return run(program, std::move(words), call, kLong);
          }};
}

}  // namespace kforge::mcp
