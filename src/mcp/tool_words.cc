#include "mcp/tool_words.h"

#include "mcp/schema.h"
#include "mcp/tools.h"

namespace kforge::mcp {

ToolResult shown(const OwnProgram::Answer& answer) {
  if (!answer.document.is_object()) return tool_failure(answer.out);
  if (string_at(answer.document, "schema").starts_with("kforge.error/")) {
    const std::string remedy = string_at(answer.document, "remedy");
    return tool_failure(string_at(answer.document, "error") + (remedy.empty() ? "" : "\nRemedy: " + remedy));
  }
  ToolResult result{.structured = short_report(answer.document)};
  if (const std::string summary = summary_of(answer.document); !summary.empty()) tell(result, summary);
  if (auto id = answer.document.find("id"); id != answer.document.end() && id->is_string())
    result.links.push_back(
        {"kforge://result/" + id->get<std::string>(), "the whole report", "application/json"});
  return result;
}

void tell(ToolResult& result, const std::string& summary) {
  result.structured["summary"] = summary;
  result.text = summary + "\n\n" + result.structured.dump(1, ' ', false, Json::error_handler_t::replace);
}

ToolResult run(const OwnProgram& program, Words words, const ToolCall& call, double limit) {
  auto argv = words.finish();
  if (!argv) return tool_failure(argv.error().text());
  auto answer = program.run_for(call, std::move(*argv), limit);
  return answer ? shown(*answer) : tool_failure(answer.error().text());
}

Json task_argument() {
  return text_of(
      "a task by name (core/relu), or a path under the server's root: a task folder, an .onnx file, or a "
      ".py file in KernelBench's form");
}
Json platform_argument() { return text_of("platform: cpu unless given; list_platforms names them"); }
Json precision_argument() {
  return one_of({"fp32", "high", "bf16", "fp16"}, "how near the values must be; fp32 unless given");
}
Json shapes_argument() { return one_of({"bench", "small", "odd"}, "shape set; bench unless given"); }
Json baselines_argument() {
  return words_of(
      "libraries to time against (onednn, onnxruntime, torch, ...), or none; all that are installed unless "
      "given");
}
Json attempts_argument() {
  return {{"type", "integer"}, {"minimum", 1}, {"maximum", 10000}, {"description", "at most so many"}};
}

}  // namespace kforge::mcp
