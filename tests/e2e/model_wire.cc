#include "e2e/model_wire.h"

#include <openssl/evp.h>

#include <nlohmann/json.hpp>

namespace kforge {
namespace {

using Json = nlohmann::json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

bool decode_base64(const std::string& text, std::string& bytes) {
  if (text.empty() || text.size() % 4 != 0) return false;
  bytes.resize(text.size() / 4 * 3);
  int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return false;
  bytes.resize(static_cast<std::size_t>(size) - (text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0));
  return true;
}

bool read_openai_part(const Json& part, SeenCall::Turn& turn, std::string& why) {
  std::string type = part.value("type", "");
  if (type == "text") {
    turn.text += part.value("text", "");
    return true;
  }
  why = "Invalid content part";
  if (type != "image_url" || !part.contains("image_url") || !part["image_url"].is_object()) return false;
  std::string url = part["image_url"].value("url", ""), bytes;
  std::size_t comma = url.find(";base64,");
  if (!url.starts_with("data:") || comma == std::string::npos ||
      !decode_base64(url.substr(comma + 8), bytes)) {
    why = "Invalid image data";
    return false;
  }
  turn.images.push_back(bytes);
  turn.media_types.push_back(url.substr(5, comma - 5));
  return true;
}

bool read_anthropic_part(const Json& part, SeenCall::Turn& turn, std::string& why) {
  std::string type = part.value("type", "");
  if (type == "text") {
    turn.text += part.value("text", "");
    if (!turn.text.empty()) return true;
    why = "messages: text content blocks must be non-empty";
    return false;
  }
  std::string bytes;
  why = "messages: invalid image block";
  if (type != "image" || !part.contains("source") || part["source"].value("type", "") != "base64" ||
      !decode_base64(part["source"].value("data", ""), bytes))
    return false;
  turn.images.push_back(bytes);
  turn.media_types.push_back(part["source"].value("media_type", ""));
  return true;
}

bool read_turn(Protocol protocol, const Json& message, SeenCall::Turn& turn, std::string& why) {
  turn.role = message.value("role", "");
  if (!message.contains("content")) {
    why = "content is missing";
    return false;
  }
  const Json& content = message["content"];
  if (content.is_string()) {
    turn.text = content.get<std::string>();
    return true;
  }
  for (const Json& part : content)
    if (!(protocol == Protocol::kOpenAi ? read_openai_part(part, turn, why)
                                        : read_anthropic_part(part, turn, why)))
      return false;
  return true;
}

void read_anthropic_system(const Json& body, SeenCall& call) {
  if (!body.contains("system")) return;
  if (body["system"].is_string()) call.system = body["system"];
  if (!body["system"].is_array()) return;
  for (const Json& block : body["system"]) {
    call.system += block.value("text", "");
    call.system_cached = call.system_cached || block.contains("cache_control");
  }
}

// What each service insists on in the order of roles.
bool check_turns(Protocol protocol, const SeenCall& call, std::string& why) {
  if (call.turns.empty())
    why = "messages: at least one message is required";
  else if (protocol == Protocol::kAnthropic && call.turns[0].role != "user")
    why = "messages: first message must use the \"user\" role";
  for (std::size_t i = 0; i < call.turns.size() && why.empty(); ++i) {
    const std::string& role = call.turns[i].role;
    if (role != "user" && role != "assistant") why = "messages: unexpected role " + role;
    if (protocol == Protocol::kAnthropic && i > 0 && role == call.turns[i - 1].role)
      why = "messages: roles must alternate";
  }
  return why.empty();
}

Json openai_usage(const ModelStep& step) {
  return {{"prompt_tokens", step.input_tokens},
          {"completion_tokens", step.output_tokens},
          {"total_tokens", step.input_tokens + step.output_tokens},
          {"prompt_tokens_details", {{"cached_tokens", step.cached_tokens}}}};
}

// Anthropic counts what was not cached, what was read and what was written apart.
Json anthropic_usage(const ModelStep& step) {
  return {{"input_tokens", step.input_tokens - step.cached_tokens - step.cache_write_tokens},
          {"cache_creation_input_tokens", step.cache_write_tokens},
          {"cache_read_input_tokens", step.cached_tokens},
          {"output_tokens", 1}};
}

Json openai_chunk(const SeenCall& call, Json choices) {
  return {{"id", "chatcmpl-1"},
          {"object", "chat.completion.chunk"},
          {"created", 1790000000},
          {"model", call.model + "-2026"},
          {"choices", std::move(choices)},
          {"usage", nullptr}};
}

Json openai_delta(const SeenCall& call, Json delta, Json finish = nullptr) {
  return openai_chunk(
      call, Json::array({{{"index", 0}, {"delta", std::move(delta)}, {"finish_reason", std::move(finish)}}}));
}

std::string openai_event(const Json& data) { return "data: " + dump(data) + "\n\n"; }

std::string anthropic_event(const Json& data) {
  return "event: " + data["type"].get<std::string>() + "\ndata: " + dump(data) + "\n\n";
}

// Pieces of a few characters, cut anywhere but inside a UTF-8 sequence, as tokens are.
std::vector<std::string> pieces(const std::string& text) {
  std::vector<std::string> list;
  std::size_t step = std::max<std::size_t>(7, text.size() / 400);
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = std::min(text.size(), start + step);
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    list.push_back(text.substr(start, end - start));
    start = end;
  }
  return list;
}

const char* finish_name(Protocol protocol, ModelStep::Finish finish) {
  bool openai = protocol == Protocol::kOpenAi;
  if (finish == ModelStep::Finish::kLength) return openai ? "length" : "max_tokens";
  if (finish == ModelStep::Finish::kRefusal) return openai ? "stop" : "refusal";
  return openai ? "stop" : "end_turn";
}

std::vector<std::string> openai_stream(const SeenCall& call, const ModelStep& step) {
  std::vector<std::string> events{openai_event(openai_delta(call, {{"role", "assistant"}, {"content", ""}}))};
  const char* field = step.finish == ModelStep::Finish::kRefusal ? "refusal" : "content";
  for (const std::string& piece : pieces(step.thinking))
    events.push_back(openai_event(openai_delta(call, {{"reasoning_content", piece}, {"content", nullptr}})));
  for (const std::string& piece : pieces(step.text))
    events.push_back(openai_event(openai_delta(call, {{field, piece}})));
  events.push_back(
      openai_event(openai_delta(call, Json::object(), finish_name(Protocol::kOpenAi, step.finish))));
  if (step.usage) {
    Json last = openai_chunk(call, Json::array());
    last["usage"] = openai_usage(step);
    events.push_back(openai_event(last));
  }
  events.push_back("data: [DONE]\n\n");
  return events;
}

Json anthropic_message(const SeenCall& call, const ModelStep& step) {
  Json message = {{"id", "msg_1"},
                  {"type", "message"},
                  {"role", "assistant"},
                  {"model", call.model + "-2026"},
                  {"content", Json::array()},
                  {"stop_reason", nullptr},
                  {"stop_sequence", nullptr}};
  if (step.usage) message["usage"] = anthropic_usage(step);
  return message;
}

void anthropic_block(std::vector<std::string>& events, int index, const std::string& type,
                     const std::string& text) {
  Json block = {{"type", type}, {type, ""}};
  events.push_back(
      anthropic_event({{"type", "content_block_start"}, {"index", index}, {"content_block", block}}));
  events.push_back(anthropic_event({{"type", "ping"}}));
  for (const std::string& piece : pieces(text))
    events.push_back(anthropic_event({{"type", "content_block_delta"},
                                      {"index", index},
                                      {"delta", {{"type", type + "_delta"}, {type, piece}}}}));
  events.push_back(anthropic_event({{"type", "content_block_stop"}, {"index", index}}));
}

std::vector<std::string> anthropic_stream(const SeenCall& call, const ModelStep& step) {
  std::vector<std::string> events{
      anthropic_event({{"type", "message_start"}, {"message", anthropic_message(call, step)}})};
  int index = 0;
  if (!step.thinking.empty()) anthropic_block(events, index++, "thinking", step.thinking);
  if (!step.text.empty()) anthropic_block(events, index, "text", step.text);
  Json delta = {
      {"type", "message_delta"},
      {"delta",
       {{"stop_reason", finish_name(Protocol::kAnthropic, step.finish)}, {"stop_sequence", nullptr}}}};
  if (step.usage) delta["usage"] = {{"output_tokens", step.output_tokens}};
  if (step.finish == ModelStep::Finish::kRefusal)
    delta["delta"]["stop_details"] = {{"type", "refusal"}, {"category", "frontier_llm"}};
  events.push_back(anthropic_event(delta));
  events.push_back(anthropic_event({{"type", "message_stop"}}));
  return events;
}

}  // namespace

bool read_call(Protocol protocol, const std::string& text, SeenCall& call, std::string& why) {
  Json body = Json::parse(text, nullptr, false);
  if (!body.is_object() || !body.contains("model") || !body.contains("messages") ||
      !body["messages"].is_array()) {
    why = "We could not parse the JSON body of your request";
    return false;
  }
  call.model = body["model"];
  call.stream = body.value("stream", false);
  call.max_tokens = body.value("max_tokens", body.value("max_completion_tokens", 0L));
  if (protocol == Protocol::kAnthropic && !body.contains("max_tokens")) {
    why = "max_tokens: Field required";
    return false;
  }
  if (protocol == Protocol::kAnthropic) read_anthropic_system(body, call);
  for (const Json& message : body["messages"]) {
    SeenCall::Turn turn;
    if (!read_turn(protocol, message, turn, why)) return false;
    if (protocol == Protocol::kOpenAi && (turn.role == "system" || turn.role == "developer"))
      call.system += turn.text;
    else
      call.turns.push_back(std::move(turn));
  }
  why.clear();  // parts that were read well may have left a word
  return check_turns(protocol, call, why);
}

std::vector<std::string> stream_events(Protocol protocol, const SeenCall& call, const ModelStep& step) {
  return protocol == Protocol::kOpenAi ? openai_stream(call, step) : anthropic_stream(call, step);
}

std::vector<std::string> text_events(Protocol protocol, const SeenCall& call, const std::string& text) {
  ModelStep step;
  step.text = text;
  std::vector<std::string> events = stream_events(protocol, call, step);
  // OpenAI ends with finish, usage, [DONE]; Anthropic with block stop, message_delta, message_stop.
  events.resize(events.size() - 3);
  return events;
}

std::string plain_reply(Protocol protocol, const SeenCall& call, const ModelStep& step) {
  bool refusal = step.finish == ModelStep::Finish::kRefusal;
  if (protocol == Protocol::kAnthropic) {
    Json message = anthropic_message(call, step);
    if (!step.thinking.empty())
      message["content"].push_back({{"type", "thinking"}, {"thinking", step.thinking}});
    if (!step.text.empty()) message["content"].push_back({{"type", "text"}, {"text", step.text}});
    message["stop_reason"] = finish_name(protocol, step.finish);
    if (step.usage) message["usage"]["output_tokens"] = step.output_tokens;
    return dump(message);
  }
  Json message = {{"role", "assistant"},
                  {"content", refusal ? Json() : Json(step.text)},
                  {"refusal", refusal ? Json(step.text) : Json()}};
  if (!step.thinking.empty()) message["reasoning_content"] = step.thinking;
  Json reply = {
      {"id", "chatcmpl-1"},
      {"object", "chat.completion"},
      {"created", 1790000000},
      {"model", call.model + "-2026"},
      {"choices",
       Json::array(
           {{{"index", 0}, {"message", message}, {"finish_reason", finish_name(protocol, step.finish)}}})}};
  if (step.usage) reply["usage"] = openai_usage(step);
  return dump(reply);
}

std::string error_body(Protocol protocol, const std::string& type, const std::string& code,
                       const std::string& message) {
  if (protocol == Protocol::kAnthropic)
    return dump(
        {{"type", "error"}, {"error", {{"type", type}, {"message", message}}}, {"request_id", "req_1"}});
  return dump({{"error",
                {{"message", message},
                 {"type", type},
                 {"param", nullptr},
                 {"code", code.empty() ? Json() : Json(code)}}}});
}

}  // namespace kforge
