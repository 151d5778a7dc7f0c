#include <fmt/core.h>

#include <algorithm>

#include "base/nearest.h"
#include "generate/generator.h"
#include "generate/prompt.h"
#include "generate/prompt_file.h"
#include "generate/quote.h"
#include "generate/reply.h"
#include "llm/continue_reply.h"

namespace kforge {
namespace {

constexpr int kMostContinuations = 2, kMostShrinking = 2, kMostRepeats = 1;
constexpr int kMostAgain = 2;  // a reply without a usable program is asked for once more, and again
constexpr std::size_t kQuotedReplyBytes = 128 << 10;

// What a model can put right when it is told; the advice and the profile it was asked with still stand.
bool can_be_asked_again(ReplyStatus status) {
  return status == ReplyStatus::kNoCode || status == ReplyStatus::kElided ||
         status == ReplyStatus::kEditMismatch || status == ReplyStatus::kUnchanged;
}

// The requests it takes to get one program.
class Conversation {
 public:
  Conversation(ModelClient& model, const Plan& plan, const AgentSetting& context, const ReplyWatch& watch)
      : model_(model), plan_(plan), context_(context), watch_(watch) {}

  Result<Generation> run() {
    int shrink = 0, repeats = 0, again = 0;
    for (;;) {
      KF_TRY(ModelRequest request, request_for(shrink));
      KF_TRY(ModelReply reply, ask(std::move(request)));
      switch (reply.end) {
        case ReplyEnd::kComplete:
        case ReplyEnd::kTruncated:
          take(reply.text, reply.end == ReplyEnd::kTruncated);
          if (!can_be_asked_again(generation_.status) || ++again > kMostAgain) return std::move(generation_);
          KF_TRY_VOID(answer_with_problem(reply.text));
          break;
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
  Result<ModelRequest> request_for(int shrink) const {
    KF_TRY(Prompt prompt, make_prompt(plan_, context_, shrink));
    ModelRequest request;
    request.system = std::move(prompt.system);
    request.messages.push_back({Message::From::kUser, std::move(prompt.turn), {}});
    request.messages.insert(request.messages.end(), exchanged_.begin(), exchanged_.end());
    request.role = "generator";
    request.attempt = plan_.attempt;
    return request;
  }

  Result<ModelReply> ask(ModelRequest request) {
    request.ordinal = static_cast<int>(generation_.calls.size());
    return ask_to_the_end(model_, request, watch_, kMostContinuations,
                          [this](const ModelRequest& asked, const ModelReply& reply) {
                            generation_.calls.push_back(call_of(asked, reply));
                          });
  }

  // The reply, and what is wrong with it, as the next turns of the conversation.
  Result<void> answer_with_problem(const std::string& reply) {
    PromptData data;
    data.texts["problem"] = reason_text(generation_.program.error());
    KF_TRY(std::string again, render_prompt("generate_again", data));
    exchanged_.push_back({Message::From::kAssistant, shorten(clean_text(reply), kQuotedReplyBytes), {}});
    exchanged_.push_back({Message::From::kUser, std::move(again), {}});
    return {};
  }

  void take(const std::string& text, bool truncated) {
    ReplyRules rules;
    rules.extensions = context_.platform->files;
    if (context_.platform->kind == PlatformKind::kNative) rules.entries = {"kernel", "kernel_prepared"};
    if (context_.platform->kind == PlatformKind::kDevice) rules.extensions.push_back(".json");
    if (const Attempt* base = base_of(plan_)) rules.base = base->program();
    for (const Attempt* attempt : plan_.history) add_known(*attempt, rules);
    if (plan_.last) add_known(*plan_.last, rules);
    rules.truncated = truncated;
    ParsedReply parsed = parse_reply(text, rules);
    generation_.status = parsed.status;
    generation_.change = parsed.change;
    generation_.remarks = parsed.remarks;
    if (plan_.advice) generation_.followed_advice = parsed.followed_advice;
    if (!parsed.program) {
      generation_.program = std::unexpected(Failure(parsed.program.error()));
    } else {
      parsed.program->comment = context_.platform->comment;
      parsed.program->origin = fmt::format("model {} attempt {}", model_.name(), plan_.attempt);
      generation_.program = std::move(*parsed.program);
    }
  }

  // As it was sent, and as it was judged with its tunables filled in.
  static void add_known(const Attempt& attempt, ReplyRules& rules) {
    if (attempt.program()) rules.known.push_back({attempt.program(), attempt.number});
    if (attempt.generation && attempt.generation->program)
      rules.known.push_back({&*attempt.generation->program, attempt.number});
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
  std::vector<Message> exchanged_;  // after the first turn: replies that were of no use, and why
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
