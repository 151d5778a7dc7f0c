// OpenAI's chat completions, as OpenAI and the many servers that copy it speak it. Those differ in what they
// leave out, so nothing is taken for granted when reading: choices may be empty, content null, usage missing.
#include "llm/dialect.h"
#include "llm/json.h"
#include "llm/text_safety.h"

namespace kforge {
namespace {

Json chat_content(const Message& message, bool without_images) {
  if (message.images.empty() || without_images) return valid_utf8(message.text);
  Json parts = Json::array();
  for (const Image& image : message.images)
    parts.push_back(
        {{"type", "image_url"},
         {"image_url", {{"url", "data:" + image.media_type + ";base64," + base64(image.bytes)}}}});
  if (!message.text.empty()) parts.push_back({{"type", "text"}, {"text", valid_utf8(message.text)}});
  return parts;
}

std::optional<ReplyEnd> end_of(const std::string& reason, std::string& detail) {
  if (reason.empty()) return std::nullopt;
  if (reason == "length") return ReplyEnd::kTruncated;
  if (reason == "content_filter") {
    detail = "the service's content filter stopped the reply";
    return ReplyEnd::kRefused;
  }
  if (reason == "error" || reason == "abort" || reason == "insufficient_system_resource") {
    detail = "the service stopped with '" + reason + "'";
    return ReplyEnd::kCut;
  }
  return ReplyEnd::kComplete;
}

void read_chat_usage(const Json& usage, Received& received) {
  if (!usage.is_object()) return;
  received.input = count_of(usage, "prompt_tokens");
  received.output = count_of(usage, "completion_tokens");
  const Json& details = member(usage, "prompt_tokens_details");
  received.cache_read = count_of(details, "cached_tokens");
  received.cache_write = count_of(details, "cache_write_tokens");
  if (const Json& cost = member(usage, "cost"); cost.is_number() && cost.get<double>() >= 0)
    received.dollars = cost.get<double>();
}

// Some services give the content as a list of parts, thinking among them.
void read_part(const Json& part, Received& received) {
  if (text_of(part, "type") == "thinking")
    received.thinking += dump_json(part).size();
  else
    received.text += text_of(part, "text");
}

// `body` is "delta" in a stream and "message" in a whole reply.
void read_choice(const Json& choice, const char* body, Received& received) {
  const Json& message = member(choice, body);
  const Json& content = member(message, "content");
  if (content.is_array()) {
    for (const Json& part : content) read_part(part, received);
  } else {
    received.text += text_of(message, "content");
  }
  for (const char* key : {"reasoning_content", "reasoning"})
    received.thinking += text_of(message, key).size();
  if (std::string refusal = text_of(message, "refusal"); !refusal.empty()) {
    received.end = ReplyEnd::kRefused;
    received.detail = safe_line(received.detail + refusal);
  }
  std::string detail;
  auto end = end_of(text_of(choice, "finish_reason"), detail);
  if (!end || received.end == ReplyEnd::kRefused) return;
  received.end = end;
  if (!detail.empty()) received.detail = detail;
}

bool is_error(const Json& json) {
  const Json& error = member(json, "error");
  return (!error.is_null() && !error.empty()) || text_of(json, "object") == "error";
}

void read_object(const Json& json, const char* body, Received& received) {
  ++received.events;
  if (std::string model = text_of(json, "model"); !model.empty()) received.model = safe_line(model, 100);
  // Several choices are never asked for: all but the first would be another reply.
  for (const Json& choice : member(json, "choices"))
    if (count_of(choice, "index").value_or(0) == 0) read_choice(choice, body, received);
  read_chat_usage(member(json, "usage"), received);
}

class OpenAiChat : public Dialect {
 public:
  // The base may be the whole address already, and may carry a query (Azure's api-version).
  std::string url(const Endpoint& endpoint) const override {
    auto [base, query] = parts_of(endpoint.url);
    return base + "/chat/completions" + query;
  }
  std::string models_url(const Endpoint& endpoint) const override {
    auto [base, query] = parts_of(endpoint.url);
    return base + "/models" + query;
  }

  std::vector<std::string> headers(const Endpoint& endpoint) const override {
    std::vector<std::string> list{"Content-Type: application/json",
                                  "Accept: text/event-stream, application/json"};
    if (!endpoint.key.empty()) list.push_back(key_header(endpoint, "Authorization"));
    return list;
  }

  std::string body(const Endpoint& endpoint, const ModelRequest& request,
                   const Adaptations& adaptations) const override {
    Json messages = Json::array();
    std::vector<Message> turns = merged(request.messages);
    bool apart = !adaptations.system_as_user || turns.empty();
    if (!request.system.empty() && apart)
      messages.push_back({{"role", "system"}, {"content", valid_utf8(request.system)}});
    if (!request.system.empty() && !apart) turns.front().text = request.system + "\n\n" + turns.front().text;
    for (const Message& message : turns)
      messages.push_back({{"role", message.from == Message::From::kUser ? "user" : "assistant"},
                          {"content", chat_content(message, adaptations.without_images)}});
    Json body = {{"model", endpoint.model},
                 {"messages", std::move(messages)},
                 {"stream", true},
                 {"stream_options", {{"include_usage", true}}}};
    int most = request.max_output_tokens;
    if (adaptations.most_output_tokens > 0) most = std::min(most, adaptations.most_output_tokens);
    bool other = adaptations.other_token_field;
    body[(endpoint.token_field == "max_tokens") != other ? "max_tokens" : "max_completion_tokens"] = most;
    if (request.temperature) body["temperature"] = *request.temperature;
    if (!endpoint.effort.empty()) body["reasoning_effort"] = endpoint.effort;
    for (const std::string& field : adaptations.dropped) body.erase(field);
    return dump_json(body);
  }

  void read_event(std::string_view, std::string_view data, Received& received) const override {
    if (data.starts_with("[DONE]") || data.starts_with(" [DONE]")) {
      received.over = true;
      ++received.events;
      // The mark of the end is one, also from a service that gives no reason for it.
      if (!received.end && !received.text.empty()) received.end = ReplyEnd::kComplete;
      return;
    }
    Json json = parse_json(valid_utf8(data));
    if (!json.is_object()) {
      ++received.nonsense;
      return;
    }
    if (is_error(json)) {
      received.error = read_stream_error(dump_json(json));
      return;
    }
    read_object(json, "delta", received);
    // The usage comes after the reason for the end: that chunk, [DONE] or the close ends the stream.
    if (received.end && member(json, "choices").empty() && received.input) received.over = true;
  }

  void read_whole(std::string_view text, Received& received) const override {
    Json json = parse_json(valid_utf8(text));
    if (json.is_object() && is_error(json)) {
      received.error = read_stream_error(dump_json(json));
      return;
    }
    if (!member(json, "choices").is_array() || member(json, "choices").empty()) {
      ++received.nonsense;
      return;
    }
    read_object(json, "message", received);
    if (!received.end) received.end = ReplyEnd::kComplete;  // some leave the reason out
    received.over = true;
  }

 private:
  static std::pair<std::string, std::string> parts_of(const std::string& url) {
    std::size_t mark = std::min(url.find('?'), url.size());
    std::string base = url.substr(0, mark);
    while (base.ends_with('/')) base.pop_back();
    if (base.ends_with("/chat/completions")) base.resize(base.size() - 17);
    return {base, url.substr(mark)};
  }
};

}  // namespace

const Dialect& openai_chat() {
  static const OpenAiChat dialect;
  return dialect;
}

}  // namespace kforge
