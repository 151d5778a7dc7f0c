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
#include "generate/tried.h"
#include "llm/continue_reply.h"
#include "profile/profile_candidate.h"

namespace kforge {
namespace {

constexpr std::size_t kMostPictures = 4, kProfileBytes = 12'000, kHotLoopBytes = 4'000;
constexpr int kMostContinuations = 2;  // as the generator

PromptData system_data(const AnalysisInput& input) {
  PromptData data;
  auto& t = data.texts;
  t["tags"] = fmt::format("`{}`", fmt::join(kAdviceTags, "`, `"));
  const AgentSetting* setting = input.setting;
  if (!setting) return data;
  auto with = [&](const char* block) { return !setting->without.contains(block); };
  if (setting->platform && setting->platform->kind == PlatformKind::kDevice) t["device"] = "yes";
  if (setting->platform && with("notes"))
    t["platform"] = setting->platform->name,
    t["notes"] = notes_for(setting->platform->notes, setting->machine);
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

// "1.12x [1.05, 1.2]: less than promised", or why there is no figure.
std::string measured_text(const Attempt& attempt) {
  if (!attempt.generation || !attempt.generation->followed_advice) return "not known whether it was followed";
  if (!attempt.followed_advice()) return "not followed";
  if (const Speedup* gain = attempt.gain()) {
    double promised = attempt.advice->expected_gain;
    return fmt::format("{:.3g}x [{:.3g}, {:.3g}]: {}", gain->value, gain->lo, gain->hi,
                       gain->hi < 1          ? "slower"
                       : gain->lo <= 1       ? "no gain shown"
                       : gain->hi < promised ? "less than promised"
                                             : "as promised");
  }
  return attempt.failed() ? std::string(name_of(attempt.judgement->outcome)) : "not measured";
}

std::string promised_text(const Advice& advice) {
  std::string text = fmt::format("{:.3g}x, confidence {:.2g}", advice.expected_gain, advice.confidence);
  if (advice.above_roofline()) text += fmt::format(" (the roofline left {:.3g}x)", *advice.roofline_limit);
  return text;
}

// What was promised against what was measured.
std::string advice_record(const std::vector<const Attempt*>& history) {
  std::string rows;
  for (const Attempt* attempt : history)
    if (attempt && attempt->advice)
      rows += fmt::format("| {} | {} | {} | {} | {} |\n", attempt->number, attempt->advice->tag,
                          cell(attempt->advice->change, 160), promised_text(*attempt->advice),
                          measured_text(*attempt));
  return rows.empty() ? ""
                      : "| attempt | tag | change | promised | measured |\n|---|---|---|---|---|\n" + rows;
}

// How much faster the program can become before it meets the roofline.
std::string limit_text(const AnalysisInput& input) {
  auto limit = roofline_limit(input.setting, *input.program);
  if (!limit) return "";
  return fmt::format(
      "It runs at {:.0f} % of the roofline ({} bound): a change that does the same work can bring at most "
      "{:.3g}x.",
      100 / *limit, input.setting->roofline_bound, *limit);
}

bool shows(const AnalysisInput& input, const char* block) {
  return !(input.setting && input.setting->without.contains(block));
}

PromptData turn_data(const AnalysisInput& input, bool images) {
  PromptData data;
  auto& t = data.texts;
  t["advice_record"] = advice_record(input.history);
  if (input.program) {
    t["number"] = std::to_string(input.program->number);
    t["result"] = result_text(*input.program, input.best);
    t["limit"] = limit_text(input);
    t["program"] = input.program->program() ? program_text(*input.program->program()) : "";
  }
  if (shows(input, "tuning"))
    t["tunables"] = input.tunables.empty() ? "" : fenced(shorten(input.tunables, 3'000));
  if (input.siblings > 1)
    t["rank"] = fmt::format(
        "This program is developed in {} ways at once. Give the change you would rank number {} of them: it "
        "must be another one than those you rank before it.",
        input.siblings, input.sibling + 1);
  if (!input.profile) return data;
  if (shows(input, "assembly")) t["assembly"] = hot_loop_of(*input.profile, kHotLoopBytes);
  if (!shows(input, "profile")) return data;
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

}  // namespace

Result<Analysis> ModelAnalyst::analyse(const AnalysisInput& input, const ReplyWatch& watch) {
  bool with_pictures = input.profile && model_->accepts_images() && shows(input, "profile");
  ModelRequest request;
  request.role = "analyst";
  request.attempt = input.attempt;
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
    request.ordinal = static_cast<int>(analysis.calls.size());
    KF_TRY(ModelReply reply, ask_to_the_end(*model_, request, watch, kMostContinuations,
                                            [&](const ModelRequest& asked, const ModelReply& answer) {
                                              analysis.calls.push_back(call_of(asked, answer));
                                            }));
    // A reply that was cut may still hold the whole object.
    auto advice = advice_from_reply(reply.text);
    if (advice) {
      analysis.advice = std::move(*advice);
      analysis.advice.by = model_->name();
      return analysis;
    }
    problem = reply.end == ReplyEnd::kTruncated ? "it reached its length limit before the recommendation"
              : reply.end == ReplyEnd::kComplete || reply.detail.empty() ? advice.error()
                                                                         : reply.detail;
    // Thinking that filled a limit of four times the usual would fill it again.
    bool endless = reply.end == ReplyEnd::kTruncated && reply.text.empty();
    if (endless || reply.end == ReplyEnd::kRefused || reply.end == ReplyEnd::kCancelled ||
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
  analysis.advice = ranked_advice(input);
  analysis.advice.fallback =
      fmt::format("{} gave no usable recommendation: {}", model_->name(), single_line(problem, 200));
  return analysis;
}

}  // namespace kforge
