#include "llm/continue_reply.h"

#include <algorithm>

namespace kforge {
namespace {

constexpr const char* kGoOn =
    "Your reply was cut off by the output limit. Go on exactly where it stopped: the first character you "
    "write now "
    "follows the last one you wrote. Repeat nothing, explain nothing, open no new code fence.";
constexpr std::size_t kShortestOverlap = 16, kLongestOverlap = 4000;

// Is the text inside a code fence at its end?
bool inside_fence(std::string_view text) {
  bool inside = false;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line.starts_with("```")) inside = !inside;
  }
  return inside;
}

std::string_view without_opened_fence(std::string_view text) {
  std::string_view start = text;
  start.remove_prefix(std::min(start.find_first_not_of(" \r\n"), start.size()));
  std::size_t end = start.find('\n');
  // A bare fence closes the block; one with a language opens it again.
  bool opens = start.starts_with("```") && end != std::string_view::npos &&
               start.substr(0, end).find_first_not_of("` \r") != std::string_view::npos;
  return opens ? start.substr(end + 1) : text;
}

void add_usage(TokenUsage& sum, const TokenUsage& more) {
  sum.input += more.input;
  sum.cache_read += more.cache_read;
  sum.cache_write += more.cache_write;
  sum.output += more.output;
  sum.estimated = sum.estimated || more.estimated;
  if (sum.dollars && more.dollars)
    *sum.dollars += *more.dollars;
  else
    sum.dollars.reset();
}

}  // namespace

std::string join_reply(const std::string& first, const std::string& second) {
  std::string_view rest = inside_fence(first) ? without_opened_fence(second) : std::string_view(second);
  std::size_t longest = std::min({first.size(), rest.size(), kLongestOverlap});
  for (std::size_t length = longest; length >= kShortestOverlap; --length)
    if (first.compare(first.size() - length, length, rest, 0, length) == 0)
      return first + std::string(rest.substr(length));
  return first + std::string(rest);
}

Result<ModelReply> ask_to_the_end(ModelClient& model, const ModelRequest& request, const ReplyWatch& watch,
                                  int continuations, const CallListener& on_call) {
  ModelRequest next = request;
  auto ask = [&]() -> Result<ModelReply> {
    KF_TRY(ModelReply reply, model.ask(next, watch));
    if (on_call) on_call(next, reply);
    ++next.ordinal;
    return reply;
  };
  KF_TRY(ModelReply whole, ask());
  for (int i = 0; i < continuations && whole.end == ReplyEnd::kTruncated; ++i) {
    bool said = whole.text.find_first_not_of(" \t\r\n") != std::string::npos;
    next.messages = request.messages;
    if (said) {
      next.messages.emplace_back().from = Message::From::kAssistant;
      next.messages.back().text = whole.text;
      next.messages.emplace_back().text = kGoOn;
    } else {
      next.max_output_tokens = std::min(next.max_output_tokens, 1 << 20) * 2;
    }
    KF_TRY(ModelReply more, ask());
    add_usage(more.usage, whole.usage);
    more.seconds += whole.seconds;
    more.tries += whole.tries;
    more.drifted = more.drifted || whole.drifted;
    // No more came: what is there stays the truncated reply it was.
    bool went_on = more.end == ReplyEnd::kComplete || more.end == ReplyEnd::kTruncated;
    bool nothing = said && more.end != ReplyEnd::kCancelled && (!went_on || more.text.empty());
    if (nothing) {
      more.text = whole.text;
      more.end = ReplyEnd::kTruncated;
      return more;
    }
    more.text = said ? join_reply(whole.text, more.text) : more.text;
    whole = std::move(more);
  }
  return whole;
}

}  // namespace kforge
