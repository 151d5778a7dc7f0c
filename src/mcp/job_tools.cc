// Tools around work that takes longer than a call.
#include "mcp/tools.h"

#include "mcp/run_of_job.h"
#include "mcp/schema.h"
#include "mcp/tool_words.h"

namespace kforge::mcp {
namespace {

constexpr double kLongestWait = 25;  // of one call: hosts give up on longer ones

ToolResult started(Jobs& jobs, Words& words, double budget_seconds) {
  words.word(fmt::format("--budget={:.0f}s", budget_seconds)).word("--out").word(Jobs::kFolder);
  auto argv = words.finish();
  if (!argv) return tool_failure(argv.error().text());
  auto job = jobs.start(std::move(*argv));
  if (!job) return tool_failure(job.error().text());
  return {.structured = {{"job", *job}, {"state", "running"}, {"next", "job_status"}}};
}

// A job that this server did not start: what the store knows of its run.
ToolResult of_another_server(const OwnProgram& program, const Jobs& jobs, const std::string& id,
                             const ToolCall& call) {
  const bool is_id = id.size() == 8 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
  const Json row = is_id ? run_row(program, jobs.folder(id), call.stop) : Json();
  if (row.is_null())
    return tool_failure(fmt::format(
        "there is no job '{}': start_forge, start_suite and start_session start them; list_runs has earlier "
        "runs",
        id));
  auto report = program.run_for(call, {"show", string_at(row, "id"), "--json"}, kQuick);
  ToolResult result = report ? shown(*report) : tool_failure(report.error().text());
  if (result.failed) return result;
  const bool suite = row.contains("finished");
  result.structured["job_state"] = string_at(row, suite ? "state" : "activity");
  result.structured["server"] = "another one: this server cannot stop it";
  tell(result, string_at(result.structured, "summary"));
  return result;
}

ToolResult ended(const OwnProgram::Answer& answer) {
  constexpr int kInterrupted = 130;
  ToolResult result;
  if (answer.exit_code == kInterrupted && !answer.document.is_object())
    tell(result, "stopped while it prepared: nothing was tried");
  else
    result = shown(answer);
  if (!result.failed) result.structured["job_state"] = "ended";
  return result;
}

}  // namespace

Tool start_forge(const OwnProgram& program, Jobs& jobs) {
  return {
      .name = "start_forge",
      .title = "Search for a kernel",
      .description =
          "Starts KForge's own search for a fast, verified kernel and returns a job id at once; ask with "
          "job_status, end it early with stop_job. The built-in generator needs no model and no key.",
      .input_schema = object_of({{"task", task_argument()},
                                 {"platform", platform_argument()},
                                 {"shapes", shapes_argument()},
                                 {"budget_s", number_of(1, 86400, "seconds to search; 60 unless given")},
                                 {"attempts", attempts_argument()},
                                 {"baselines", baselines_argument()},
                                 {"generator", text_of("builtin, or a model: provider:name")}},
                                {"task"}),
      .output_schema =
          answer_of({{"job", field_of("string", "its id, for job_status and stop_job")}}, {"job"}),
      .read_only = false,
      .idempotent = false,
      .call = [&program, &jobs](const ToolCall& call) {
        Words words(program, call.arguments, {"forge"});
        words.task().named("platform", "--on").option("shapes", "--shapes").option("attempts", "--attempts");
        words.named("baselines", "--baseline").option("generator", "--generator").word("-vv");
        return started(jobs, words, call.arguments.value("budget_s", 60.0));
      }};
}

Tool start_suite(const OwnProgram& program, Jobs& jobs) {
  return {
      .name = "start_suite",
      .title = "Every task of a suite",
      .description =
          "Starts a search for every task of a suite (core, fusion, llm) or of a folder of tasks or "
          ".py files, and returns a job id; job_status gives fast_p and the table at its end.",
      .input_schema = object_of({{"suite", text_of("a suite's name, or a folder under the server's root")},
                                 {"platform", platform_argument()},
                                 {"only", text_of("tasks by pattern: 'level2/*gemm*'")},
                                 {"shapes", shapes_argument()},
                                 {"budget_s", number_of(1, 3600, "seconds for each task; 30 unless given")},
                                 {"attempts", attempts_argument()},
                                 {"baselines", baselines_argument()}},
                                {"suite"}),
      .output_schema =
          answer_of({{"job", field_of("string", "its id, for job_status and stop_job")}}, {"job"}),
      .read_only = false,
      .idempotent = false,
      .call = [&program, &jobs](const ToolCall& call) {
        Words words(program, call.arguments, {"suite"});
        words.name_or_path("suite");
        words.named("platform", "--on").option("only", "--only").option("shapes", "--shapes");
        words.option("attempts", "--attempts").named("baselines", "--baseline");
        return started(jobs, words, call.arguments.value("budget_s", 30.0));
      }};
}

Tool job_status(const OwnProgram& program, Jobs& jobs) {
  return {
      .name = "job_status",
      .title = "How far a job is",
      .description =
          "Waits up to wait_s for a job to end, then tells: running with what it has reached, or ended "
          "with its report (kernel_path is the verified kernel).",
      .input_schema = object_of({{"job", text_of("id from start_forge, start_suite or start_session")},
                                 {"wait_s", number_of(0, kLongestWait, "0 unless given: answers at once")}},
                                {"job"}),
      .output_schema =
          answer_of({{"job_state", field_of("string", "running, ended; of another server's job its run's")},
                     {"doing", field_of("string", "while it runs: what it said last")},
                     {"summary", field_of("string", "at its end: the finding in a sentence")},
                     {"attempts", field_of("array", "of a search, at its end")},
                     {"parts", field_of("array", "of a suite, at its end: fast_p and the table")},
                     {"kernel_path", field_of("string", "of a search that verified one")}},
                    {"job_state"}),
      .call = [&program, &jobs](const ToolCall& call) {
        const std::string id = text(call.arguments, "job");
        auto status = jobs.wait(id, call.arguments.value("wait_s", 0.0), call.stop);
        if (!status) return of_another_server(program, jobs, id, call);
        if (status->ended) {
          if (!*status->answer) return tool_failure(status->answer->error().text());
          return ended(**status->answer);
        }
        ToolResult result;
        result.structured = {{"job_state", "running"}, {"seconds", status->seconds}};
        if (!status->doing.empty()) result.structured["doing"] = status->doing;
        if (Json one = run_row(program, jobs.folder(id), call.stop); !one.is_null())
          result.structured["run"] = short_report(one);
        return result;
      }};
}

Tool stop_job(Jobs& jobs) {
  return {.name = "stop_job",
          .title = "End a job",
          .description =
              "Asks a job to end; the best kernel so far is confirmed and kept. Ask job_status for it then.",
          .input_schema = object_of({{"job", text_of("its id")}}, {"job"}),
          .output_schema =
              answer_of({{"job", field_of("string", "its id")}, {"state", field_of("string", "stopping")}},
                        {"job", "state"}),
          .read_only = false,
          .destructive = true,
          .call = [&jobs](const ToolCall& call) {
            auto stopped = jobs.stop(text(call.arguments, "job"));
            if (!stopped) return tool_failure(stopped.error().text());
            return ToolResult{.structured = {{"job", text(call.arguments, "job")}, {"state", "stopping"}}};
          }};
}

}  // namespace kforge::mcp
