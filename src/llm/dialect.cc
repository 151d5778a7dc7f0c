#include "llm/dialect.h"

namespace kforge {

const Dialect& dialect_of(Protocol protocol) {
  return protocol == Protocol::kOpenAi ? openai_chat() : anthropic_messages();
}

std::vector<Message> merged(const std::vector<Message>& messages) {
  std::vector<Message> result;
  for (const Message& message : messages) {
    if (message.text.empty() && message.images.empty()) continue;
    if (result.empty() || result.back().from != message.from) {
      result.push_back(message);
      continue;
    }
    Message& last = result.back();
    last.text += (last.text.empty() || message.text.empty() ? "" : "\n\n") + message.text;
    last.images.insert(last.images.end(), message.images.begin(), message.images.end());
  }
  return result;
}

std::string key_header(const Endpoint& endpoint, const std::string& usual) {
  const std::string& name = endpoint.key_header.empty() ? usual : endpoint.key_header;
  return name + (name == "Authorization" ? ": Bearer " : ": ") + endpoint.key.reveal();
}

}  // namespace kforge
