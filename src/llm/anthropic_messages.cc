// Anthropic's messages. The system text, and the last message of a longer conversation, are marked for the
// prompt cache: both come again with the next call.
#include "llm/dialect.h"
#include "llm/json.h"
#include "llm/text_safety.h"

namespace kforge {
namespace {

Json text_block(const std::string& text) { return {{"type", "text"}, {"text", valid_utf8(text)}}; }

void mark_for_cache(Json& block) { block["cache_control"] = {{"type", "ephemeral"}}; }

Json content_of(const Message& message, bool without_images) {
  Json blocks = Json::array();
  for (const Image& image : message.images) {
    if (without_images) continue;
    blocks.push_back(
        {{"type", "image"},
         {"source", {{"type", "base64"}, {"media_type", image.media_type}, {"data", base64(image.bytes)}}}});
  }
  if (!message.text.empty()) blocks.push_back(text_block(message.text));
  if (blocks.empty()) blocks.push_back(text_block("(picture left out)"));
  return blocks;
}

Json messages_of(const ModelRequest& request, bool without_images) {
  Json list = Json::array();
  for (const Message& message : merged(request.messages)) {
    bool user = message.from == Message::From::kUser;
    if (list.empty() && !user) list.push_back({{"role", "user"}, {"content", "(the conversation so far)"}});
    list.push_back({{"role", user ? "user" : "assistant"}, {"content", content_of(message, without_images)}});
  }
  // One message alone is new text that no later call shares.
  if (list.size() > 1) mark_for_cache(list.back()["content"].back());
  return list;
}

void read_usage(const Json& usage, Received& received) {
  if (!usage.is_object()) return;
  auto fresh = count_of(usage, "input_tokens");
  auto written = count_of(usage, "cache_creation_input_tokens");
  auto read = count_of(usage, "cache_read_input_tokens");
  // Later events repeat counts, each the whole so far; input_tokens is only what no cache was involved in.
  if (written) received.cache_write = written;
  if (read) received.cache_read = read;
  if (fresh) received.input = *fresh + received.cache_write.value_or(0) + received.cache_read.value_or(0);
  if (auto output = count_of(usage, "output_tokens")) received.output = output;
}

void read_end(const Json& where, Received& received) {
  std::string reason = text_of(where, "stop_reason");
  if (reason.empty()) return;
  received.end = ReplyEnd::kComplete;
  // A paused turn goes on when its text is sent back, as a truncated one does.
  if (reason == "max_tokens" || reason == "pause_turn") received.end = ReplyEnd::kTruncated;
  if (reason == "pause_turn") received.detail = "the service paused the turn";
  if (reason == "model_context_window_exceeded") {
    received.end = ReplyEnd::kTruncated;
    received.detail = "the context window is full";
  }
  if (reason == "refusal") {
    received.end = ReplyEnd::kRefused;
    std::string category = text_of(member(where, "stop_details"), "category");
    received.detail = category.empty() ? "the model declined" : safe_line("the model declined: " + category);
  }
}

void read_block(const Json& block, Received& received) {
  received.text += text_of(block, "text");
  received.thinking += text_of(block, "thinking").size();
}

void read_start(const Json& message, Received& received) {
  received.model = safe_line(text_of(message, "model"), 100);
  read_usage(member(message, "usage"), received);
}

class AnthropicMessages : public Dialect {
 public:
  // The base is without /v1 by custom; with it is understood too.
  std::string url(const Endpoint& endpoint) const override { return base(endpoint) + "/v1/messages"; }
  std::string models_url(const Endpoint& endpoint) const override { return base(endpoint) + "/v1/models"; }

  std::vector<std::string> headers(const Endpoint& endpoint) const override {
    std::vector<std::string> list{"Content-Type: application/json",
                                  "Accept: text/event-stream, application/json",
                                  "anthropic-version: 2023-06-01"};
    if (!endpoint.key.empty()) list.push_back(key_header(endpoint, "x-api-key"));
    return list;
  }

  std::string body(const Endpoint& endpoint, const ModelRequest& request,
                   const Adaptations& adaptations) const override {
    int most = request.max_output_tokens;
    if (adaptations.most_output_tokens > 0) most = std::min(most, adaptations.most_output_tokens);
    Json body = {{"model", endpoint.model},
                 {"max_tokens", most},
                 {"stream", true},
                 {"messages", messages_of(request, adaptations.without_images)}};
    if (!request.system.empty()) {
      Json block = text_block(request.system);
      mark_for_cache(block);
      body["system"] = Json::array({block});
    }
    if (request.temperature) body["temperature"] = std::min(*request.temperature, 1.0);
    if (!endpoint.effort.empty()) body["output_config"] = {{"effort", endpoint.effort}};
    for (const std::string& field : adaptations.dropped) body.erase(field);
    return dump_json(body);
  }

  void read_event(std::string_view, std::string_view data, Received& received) const override {
    Json json = parse_json(valid_utf8(data));
    std::string type = text_of(json, "type");
    if (type.empty()) {
      ++received.nonsense;
      return;
    }
    ++received.events;
    if (type == "error") received.error = read_stream_error(dump_json(json));
    if (type == "message_start") read_start(member(json, "message"), received);
    if (type == "content_block_start") read_block(member(json, "content_block"), received);
    if (type == "content_block_delta") read_block(member(json, "delta"), received);
    if (type == "message_delta") {
      read_end(member(json, "delta"), received);
      read_usage(member(json, "usage"), received);
    }
    if (type == "message_stop") received.over = true;
  }

  void read_whole(std::string_view text, Received& received) const override {
    Json json = parse_json(valid_utf8(text));
    if (text_of(json, "type") == "error") {
      received.error = read_stream_error(dump_json(json));
      return;
    }
    if (text_of(json, "type") != "message") {
      ++received.nonsense;
      return;
    }
    ++received.events;
    read_start(json, received);
    for (const Json& block : member(json, "content")) read_block(block, received);
    read_end(json, received);
    received.over = true;
  }

 private:
  static std::string base(const Endpoint& endpoint) {
    std::string url = endpoint.url;
    if (url.ends_with("/v1/messages")) url.resize(url.size() - 12);
    if (url.ends_with("/v1")) url.resize(url.size() - 3);
    return url;
  }
};

}  // namespace

const Dialect& anthropic_messages() {
  static const AnthropicMessages dialect;
  return dialect;
}

}  // namespace kforge
