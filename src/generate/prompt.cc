#include "generate/prompt.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "generate/feedback.h"
#include "generate/prompt_facts.h"
#include "generate/prompt_file.h"
#include "generate/quote.h"
#include "generate/tried.h"

namespace kforge {
namespace {

constexpr long kEditLines = 400;  // programs longer than this may be changed by edits
constexpr std::size_t kHistoryRows = 40;
constexpr std::size_t kReferenceBytes = 32 << 10;
constexpr std::size_t kTuningBytes = 3'000;
constexpr std::size_t kRunnerUpBytes = 24 << 10;  // half a program teaches nothing: whole or not at all

// Which blocks a prompt has, after --without and after shrinking.
class Blocks {
 public:
  Blocks(const std::set<std::string>& without, int shrink) : without_(&without), shrink_(shrink) {}
  bool operator()(std::string_view name) const {
    static const std::set<std::string_view> first = {"reference", "assembly", "profile", "operators",
                                                     "runner_up"};
    static const std::set<std::string_view> second = {"example", "notes", "best"};
    if (shrink_ >= 1 && first.contains(name)) return false;
    if (shrink_ >= 2 && second.contains(name)) return false;
    return !without_->contains(std::string(name));
  }
  std::string operator()(std::string_view name, std::string text) const {
    return (*this)(name) ? text : std::string();
  }

 private:
  const std::set<std::string>* without_;
  int shrink_;
};

bool has_program(const Attempt* attempt) { return attempt && attempt->program(); }

std::size_t bytes_of(const Candidate& program) {
  std::size_t sum = 0;
  for (const SourceFile& file : program.files) sum += file.content.size();
  return sum;
}

long longest_file(const Attempt* attempt) {
  long most = 0;
  if (has_program(attempt))
    for (const SourceFile& file : attempt->program()->files)
      most = std::max<long>(most, std::ranges::count(file.content, '\n'));
  return most;
}

std::string default_instruction(const Plan& plan, bool advised) {
  if (plan.pass == Pass::kOptimization)
    return advised ? "Make the program faster by the one change recommended above. If the program does that "
                     "already, or the "
                     "figures speak against it, say so in a sentence and make the change you expect most of "
                     "instead. "
                     "Keep what works."
                   : "Make the program faster by one change: the one you expect most of. Keep what works.";
  if (!plan.last || plan.last->verified()) return "Write the fastest version you are sure of.";
  return "Repair the last program. Find the cause of what is reported above before you change anything else.";
}

std::string advice_text(const Advice& advice) {
  std::string text =
      fmt::format("- bottleneck: {}\n- evidence: {}\n- change: {}\n- expected: {:.3g} times faster",
                  single_line(advice.bottleneck, 300), single_line(advice.evidence, 800),
                  single_line(advice.change, 1'200), advice.expected_gain);
  if (advice.above_roofline())
    text += fmt::format(
        " (more than the {:.3g} times that the roofline leaves to the same work: believe it only if less is "
        "computed)",
        *advice.roofline_limit);
  return text + "\n";
}

// "`-O2 -D*`"; patterns with "!" are exceptions.
std::string flags_text(const std::vector<std::string>& patterns) {
  std::vector<std::string_view> allowed, not_allowed;
  for (std::string_view pattern : patterns)
    pattern.starts_with('!') ? not_allowed.push_back(pattern.substr(1)) : allowed.push_back(pattern);
  if (allowed.empty()) return "";
  std::string text = fmt::format("`{}`", fmt::join(allowed, " "));
  return not_allowed.empty() ? text : fmt::format("{}, but not `{}`", text, fmt::join(not_allowed, " "));
}

// "" where there is nothing to choose.
std::string compilers_text(const std::vector<Compiler>& compilers) {
  std::string text;
  if (compilers.size() > 1)
    for (const Compiler& compiler : compilers)
      text += fmt::format("{}`{}`", text.empty() ? "" : " ", compiler.name);
  return text;
}

PromptData system_data(const AgentSetting& context, const Blocks& block) {
  const BoundTask& task = *context.task;
  const Platform& platform = *context.platform;
  std::string main_file = "kernel" + platform.files.front();
  PromptData data;
  auto& t = data.texts;
  t["platform"] = platform.name;
  t["platform_description"] = platform.description;
  t["language"] = platform.language;
  t["comment"] = platform.comment;
  t["main_file"] = main_file;
  t["tag"] = platform.kind == PlatformKind::kNative ? "cpp" : platform.files.front().substr(1);
  for (const char* kind : {"native", "device", "command"})
    t[kind] = name_of(platform.kind) == kind ? "yes" : "";
  t["modelled"] = platform.emulated() && platform.model ? "yes" : "";
  t["timed"] = t["modelled"].empty() ? "yes" : "";
  if (platform.run.driver)
    t["dimensions_are"] =
        *platform.run.driver == DeviceDriver::kOpenCl || *platform.run.driver == DeviceDriver::kVulkan
            ? "macros in the source"
            : "constants of namespace `task` in `task.h`, which the tool makes and the source includes";
  t["endings"] = fmt::format("{}", fmt::join(platform.files, " "));
  t["allowed_flags"] = flags_text(platform.build.allowed_flags);
  t["compilers"] = compilers_text(platform.build.compilers);
  t["libraries"] = context.allow_libraries ? "yes" : "";
  t["notes"] = block("notes", notes_for(platform.notes, context.machine));
  t["example"] = block("example", example_text(platform));
  t["machine"] = block("machine", machine_text(context));
  t["compiled"] = t["machine"].find("- compiled with") == std::string::npos ? "" : "yes";
  t["task_name"] = task.task->name;
  t["task_description"] = single_line(task.task->description, 400);
  t["task_source"] = fenced(shorten(task.task->source_text, 24 << 10));
  if (task.task->module) t["module_source"] = fenced(shorten(task.task->module->text, 24 << 10), "python");
  t["defaults"] = defaults_text(task.graph);
  t["graph"] = fenced(shorten(print_graph(task.graph), 16 << 10));
  t["task_header"] = platform.kind == PlatformKind::kNative ? fenced(make_task_header(task), "cpp") : "";
  t["tensors"] = tensor_table(task);
  t["work"] = work_text(task);
  t["policy"] = policy_text(context);
  t["target"] = block("target", target_text(context));
  t["operators"] = block("operators", operator_text(context));
  std::string notes;
  for (const std::string& note : task.task->notes) notes += fmt::format("- {}\n", single_line(note, 300));
  t["task_notes"] = notes;
  return data;
}

PromptData turn_data(const Plan& plan, const AgentSetting& context, const Blocks& block, int shrink) {
  PromptData data;
  auto& t = data.texts;
  const Attempt* last = plan.last;
  bool same = has_program(plan.best) && has_program(last) && plan.best->number == last->number;
  t["attempt"] = std::to_string(plan.attempt);
  t["history"] = block("history", history_table(plan, shrink > 0 ? 8 : kHistoryRows));
  if (has_program(plan.best) && !same && block("best")) {
    t["best"] = program_text(*plan.best->program());
    t["best_number"] = std::to_string(plan.best->number);
    t["best_result"] = result_text(*plan.best, plan.best);
  }
  const Attempt* other = plan.inspiration;
  if (has_program(other) && other != last && !(other == plan.best && !t["best"].empty())) {
    t["inspiration"] = program_text(*other->program());
    t["inspiration_number"] = std::to_string(other->number);
    t["inspiration_result"] = result_text(*other, plan.best);
  }
  const Attempt* near = plan.pass == Pass::kOptimization && block("runner_up") ? runner_up(plan) : nullptr;
  if (near && bytes_of(*near->program()) <= kRunnerUpBytes) {
    t["runner_up"] = program_text(*near->program());
    t["runner_up_number"] = std::to_string(near->number);
    t["runner_up_result"] = result_text(*near, plan.best);
    t["runner_up_change"] = single_line(near->change(), 300);
  }
  if (last) {
    t["last_number"] = std::to_string(last->number);
    t["last"] = has_program(last) ? program_text(*last->program()) : "";
    t["last_title"] =
        fmt::format("{}: attempt {}{}", last->failed() ? "The last program" : "The program to go on from",
                    last->number, same ? ", the best so far" : "");
    t["last_result"] = block("feedback") ? result_text(*last, plan.best)
                       : last->judgement ? std::string(name_of(last->judgement->outcome))
                                         : "";
    if (last->judgement && !last->judgement->tuning.empty())
      t["comment"] = context.platform->comment,
      t["tuning"] = block("tuning", fenced(shorten(last->judgement->tuning, kTuningBytes)));
    t["feedback"] = block("feedback", failure_feedback(*last, shrink > 0 ? context.feedback_bytes / 2
                                                                         : context.feedback_bytes));
  }
  if (plan.advice) t["advice"] = block("advice", advice_text(*plan.advice));
  t["profile"] = block("profile", plan.profile);
  t["assembly"] = block("assembly", plan.hot_loop);
  if (plan.reference && block("reference")) {
    t["reference"] = program_text(*plan.reference, kReferenceBytes);
    t["reference_platform"] = single_line(plan.reference_platform, 60);
  }
  t["instruction"] =
      plan.instruction.empty() ? default_instruction(plan, !t["advice"].empty()) : plan.instruction;
  t["apart"] = plan.apart;
  t["edits"] = longest_file(base_of(plan)) > kEditLines ? "yes" : "";
  const Attempt* base = base_of(plan);
  t["base_file"] = base ? base->program()->files.front().name : "";
  t["main_file"] = "kernel" + context.platform->files.front();
  t["tag"] =
      context.platform->kind == PlatformKind::kNative ? "cpp" : context.platform->files.front().substr(1);
  return data;
}

}  // namespace

const Attempt* base_of(const Plan& plan) {
  if (has_program(plan.last)) return plan.last;
  return has_program(plan.best) ? plan.best : nullptr;
}

Result<Prompt> make_prompt(const Plan& plan, const AgentSetting& context, int shrink) {
  KF_CHECK(context.task && context.platform && !context.platform->files.empty(),
           "a prompt needs a task and a platform");
  Blocks block(context.without, shrink);
  Prompt prompt;
  KF_TRY(prompt.system, render_prompt("generate_system", system_data(context, block)));
  KF_TRY(prompt.turn, render_prompt("generate_turn", turn_data(plan, context, block, shrink)));
  return prompt;
}

}  // namespace kforge
