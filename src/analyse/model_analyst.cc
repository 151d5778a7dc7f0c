// The analyst behind a model: setting in the system text, program and profile in the turn, pictures beside
// it.
#include <fmt/ranges.h>

#include <algorithm>

#include "analyse/advice_json.h"
#include "analyse/analyst.h"
#include "generate/prompt.h"
#include "generate/prompt_facts.h"
#include "generate/prompt_file.h"
#include "generate/quote.h"
#include "profile/profile_candidate.h"

namespace kforge {
namespace {

constexpr std::size_t kMostPictures = 4, kProfileBytes = 12'000;
constexpr int kMostOutputTokens = 4'000;

PromptData system_data(const AnalysisInput& input) {
  PromptData data;
  auto& t = data.texts;
  t["tags"] = fmt::format("`{}`", fmt::join(kAdviceTags, "`, `"));
  const AgentSetting* setting = input.setting;
  if (!setting) return data;
  auto with = [&](const char* block) { return !setting->without.contains(block); };
  if (setting->platform && with("notes"))
    t["platform"] = setting->platform->name, t["notes"] = setting->platform->notes;
  if (with("machine") && (setting->machine || setting->peaks)) t["machine"] = machine_text(*setting);
  if (with("target")) t["target"] = target_text(*setting);
  if (const BoundTask* task = setting->task) {
    t["task_name"] = task->task->name;
    t["task_description"] = single_line(task->task->description, 400);
    t["graph"] = fenced(shorten(print_graph(task->graph), 16 << 10));
    t["work"] = work_text(*task);
    t["policy"] = policy_text(*setting);
  }
  return data;
}

std::string cell(std::string_view text, std::size_t limit) {
  std::string line = single_line(text, limit);
  std::ranges::replace(line, '|', '/');
  return line;
}

// What was promised against what was measured.
std::string advice_record(const std::vector<const Attempt*>& history) {
  std::string rows;
  for (const Attempt* attempt : history) {
    if (!attempt || !attempt->advice) continue;
    std::string measured = !attempt->followed_advice() ? "not followed"
                           : attempt->gain()           ? fmt::format("{:.3g}x", attempt->gain()->value)
                           : attempt->failed()         ? std::string(name_of(attempt->judgement->outcome))
                                                       : "not measured";
    rows += fmt::format("| {} | {} | {} | {:.3g}x | {} |\n", attempt->number, attempt->advice->tag,
                        cell(attempt->advice->change, 160), attempt->advice->expected_gain, measured);
  }
  return rows.empty() ? ""
                      : "| attempt | tag | change | promised | measured |\n|---|---|---|---|---|\n" + rows;
}

std::string result_text(const Attempt& program) {
  if (!program.judgement) return "not judged";
  const AttemptJudgement& judged = *program.judgement;
  std::string text(name_of(judged.outcome));
  if (judged.time_ns) text += ", " + time_text(*judged.time_ns);
  if (judged.modelled_ns) text += ", modelled " + time_text(*judged.modelled_ns);
  if (judged.speedup) text += fmt::format(", {:.3g}x the fastest baseline", judged.speedup->value);
  return text;
}

PromptData turn_data(const AnalysisInput& input, bool images) {
  PromptData data;
  auto& t = data.texts;
  t["advice_record"] = advice_record(input.history);
  if (input.program) {
    t["number"] = std::to_string(input.program->number);
    t["result"] = result_text(*input.program);
    t["program"] = input.program->program() ? program_text(*input.program->program()) : "";
  }
  t["tunables"] = input.tunables.empty() ? "" : fenced(shorten(input.tunables, 3'000));
  bool shown = input.profile && !(input.setting && input.setting->without.contains("profile"));
  if (!shown) return data;
  t["profile"] = profile_summary(*input.profile, kProfileBytes);
  std::string pictures;
  for (std::size_t i = 0; images && i < std::min(input.profile->pictures.size(), kMostPictures); ++i)
    pictures += fmt::format("- picture {}: {} ({})\n", i + 1, single_line(input.profile->pictures[i].title),
                            input.profile->pictures[i].source);
  t["pictures"] = pictures;
  std::string absent;
  for (const std::string& line : input.profile->absent)
    absent += (absent.empty() ? "" : "; ") + single_line(line, 120);
  t["absent"] = absent;
  return data;
}

ModelCall record(const ModelRequest& request, const ModelReply& reply) {
  return {request.role, request.attempt, request.ordinal, reply.end,
          reply.detail, reply.usage,     reply.seconds,   reply.model};
}

}  // namespace

Result<Analysis> ModelAnalyst::analyse(const AnalysisInput& input, const ReplyWatch& watch) {
  bool with_pictures = input.profile && model_->accepts_images() &&
                       !(input.setting && input.setting->without.contains("profile"));
  ModelRequest request;
  request.role = "analyst";
  request.attempt = input.attempt;
  request.max_output_tokens = kMostOutputTokens;
  KF_TRY(request.system, render_prompt("analyse_system", system_data(input)));
  Message turn;
  KF_TRY(turn.text, render_prompt("analyse_turn", turn_data(input, with_pictures)));
  if (with_pictures)
    for (std::size_t i = 0; i < std::min(input.profile->pictures.size(), kMostPictures); ++i)
      turn.images.push_back({"image/png", input.profile->pictures[i].png});
  request.messages.push_back(std::move(turn));

  Analysis analysis;
  std::string problem;
  for (int round = 0; round < 2; ++round) {
    request.ordinal = round;
    KF_TRY(ModelReply reply, model_->ask(request, watch));
    analysis.calls.push_back(record(request, reply));
    // A reply that was cut may still hold the whole object.
    auto advice = advice_from_reply(reply.text);
    if (advice) {
      analysis.advice = std::move(*advice);
      analysis.advice.by = model_->name();
      return analysis;
    }
    problem = reply.end == ReplyEnd::kComplete || reply.end == ReplyEnd::kTruncated ? advice.error()
              : reply.detail.empty()                                                ? advice.error()
                                                                                    : reply.detail;
    if (reply.end == ReplyEnd::kRefused || reply.end == ReplyEnd::kCancelled ||
        reply.end == ReplyEnd::kContextOverflow)
      break;
    PromptData again;
    again.texts["problem"] = problem;
    KF_TRY(std::string text, render_prompt("analyse_again", again));
    // An empty message of the assistant is refused by services: then the question alone is asked again.
    if (!reply.text.empty()) {
      request.messages.push_back({Message::From::kAssistant, shorten(clean_text(reply.text), 8'000), {}});
      request.messages.push_back({Message::From::kUser, text, {}});
    }
  }
  analysis.advice = rule_advice(input).front();
  analysis.fallback = fmt::format("the model gave no usable recommendation: {}", problem);
  return analysis;
}

}  // namespace kforge
