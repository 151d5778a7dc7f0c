#include <fmt/core.h>

#include <algorithm>

#include "base/nearest.h"
#include "generate/generator.h"
#include "generate/prompt.h"
#include "generate/prompt_file.h"
#include "generate/reply.h"
#include "llm/continue_reply.h"

namespace kforge {
namespace {

constexpr int kMostContinuations = 2, kMostShrinking = 2, kMostRepeats = 1;

// The requests it takes to get one complete reply.
class Conversation {
 public:
  Conversation(ModelClient& model, const Plan& plan, const AgentSetting& context, const ReplyWatch& watch)
      : model_(model), plan_(plan), context_(context), watch_(watch) {}

  Result<Generation> run() {
    int shrink = 0, repeats = 0;
    for (;;) {
      KF_TRY(Prompt prompt, make_prompt(plan_, context_, shrink));
      KF_TRY(ModelReply reply, ask(request_for(prompt)));
      switch (reply.end) {
        case ReplyEnd::kComplete:
          return finish(reply.text, false);
        case ReplyEnd::kTruncated:
          return continue_reply(prompt, std::move(reply));
        case ReplyEnd::kContextOverflow:
          if (++shrink > kMostShrinking)
            return none(ReplyStatus::kTooLong,
                        "The prompt is too long for this model, also without its optional parts.");
          break;
        case ReplyEnd::kRefused:
          return none(ReplyStatus::kRefused, fmt::format("The model declined to answer. {}", reply.detail));
        case ReplyEnd::kCancelled:
          return none(ReplyStatus::kCancelled, "The call was cancelled.");
        case ReplyEnd::kEmpty:
        case ReplyEnd::kCut:
        case ReplyEnd::kGarbage:
          if (++repeats > kMostRepeats)
            return none(ReplyStatus::kNoReply,
                        fmt::format("No usable reply came from the model. {}", reply.detail));
          break;
      }
    }
  }

 private:
  ModelRequest request_for(const Prompt& prompt) const {
    ModelRequest request;
    request.system = prompt.system;
    request.messages.push_back({Message::From::kUser, prompt.turn, {}});
    request.role = "generator";
    request.attempt = plan_.attempt;
    return request;
  }

  Result<ModelReply> ask(ModelRequest request) {
    request.ordinal = static_cast<int>(generation_.calls.size());
    KF_TRY(ModelReply reply, model_.ask(request, watch_));
    generation_.calls.push_back({request.role, request.attempt, request.ordinal, reply.end, reply.detail,
                                 reply.usage, reply.seconds, reply.model});
    return reply;
  }

  Result<Generation> continue_reply(const Prompt& prompt, ModelReply reply) {
    KF_TRY(std::string go_on, render_prompt("generate_continue", {}));
    std::string text = std::move(reply.text);
    int limit = request_for(prompt).max_output_tokens;
    for (int i = 0; i < kMostContinuations; ++i) {
      ModelRequest request = request_for(prompt);
      if (text.empty()) {
        request.max_output_tokens = limit *= 2;  // the whole limit went into thinking
      } else {
        request.messages.push_back({Message::From::kAssistant, text, {}});
        request.messages.push_back({Message::From::kUser, go_on, {}});
      }
      KF_TRY(ModelReply more, ask(std::move(request)));
      if (more.end != ReplyEnd::kComplete && more.end != ReplyEnd::kTruncated) break;
      text = text.empty() ? more.text : join_reply(text, more.text);
      if (more.end == ReplyEnd::kComplete) return finish(text, false);
    }
    return finish(text, true);
  }

  Result<Generation> finish(const std::string& text, bool truncated) {
    ReplyRules rules;
    rules.extensions = context_.platform->files;
    if (context_.platform->kind == "native") rules.entries = {"kernel", "kernel_prepared"};
    if (context_.platform->kind == "device") rules.extensions.push_back(".json");
    if (const Attempt* base = base_of(plan_)) rules.base = base->program();
    for (const Attempt* attempt : plan_.history)
      if (attempt->program()) rules.known.push_back(attempt->program());
    if (plan_.last && plan_.last->program()) rules.known.push_back(plan_.last->program());
    rules.truncated = truncated;
    ParsedReply parsed = parse_reply(text, rules);
    generation_.status = parsed.status;
    generation_.change = parsed.change;
    if (plan_.advice) generation_.followed_advice = parsed.followed_advice;
    if (!parsed.program) {
      generation_.program = std::unexpected(Failure(parsed.program.error()));
    } else {
      parsed.program->origin = fmt::format("model {} attempt {}", model_.name(), plan_.attempt);
      generation_.program = std::move(*parsed.program);
    }
    return std::move(generation_);
  }

  Result<Generation> none(ReplyStatus status, std::string reason) {
    generation_.status = status;
    generation_.program = std::unexpected(Failure(NoProgram{std::move(reason)}));
    return std::move(generation_);
  }

  ModelClient& model_;
  const Plan& plan_;
  const AgentSetting& context_;
  const ReplyWatch& watch_;
  Generation generation_;
};

}  // namespace

Result<Generation> ModelGenerator::generate(const Plan& plan, const AgentSetting& context,
                                            const ReplyWatch& watch) {
  return Conversation(*model_, plan, context, watch).run();
}

Result<void> check_blocks(const std::set<std::string>& without) {
  std::vector<std::string> known(std::begin(kPromptBlocks), std::end(kPromptBlocks));
  for (const std::string& word : without)
    if (std::ranges::find(known, word) == known.end()) {
      std::string all;
      for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
      return fail_with_remedy("the blocks are: " + all,
                              fmt::format("the prompt has no block '{}'{}", word, did_you_mean(word, known)));
    }
  return {};
}

}  // namespace kforge
