// How one protocol writes a request and reads a reply. Two implementations: openai_chat.cc,
// anthropic_messages.cc.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "llm/endpoint.h"
#include "llm/llm.h"
#include "llm/service_error.h"

namespace kforge {

// What an endpoint turned out not to take; learnt from its errors, kept for the client's life.
struct Adaptations {
  bool other_token_field = false;  // max_tokens <-> max_completion_tokens
  std::set<std::string> dropped;   // fields left out: "temperature", "stream_options", ...
  bool without_images = false;
  bool system_as_user = false;  // the model's template knows no system text: it goes into the first message
  int most_output_tokens = 0;   // 0: as asked
};

// What has been read of a reply so far.
struct Received {
  std::string text;
  std::optional<ReplyEnd> end;  // set when the service said why it stopped
  bool over = false;            // the mark that nothing follows
  std::string detail;
  std::string model;
  std::optional<std::int64_t> input, cache_read, cache_write, output;
  std::optional<double> dollars;  // where the service states its own price
  std::optional<ServiceError> error;
  std::size_t events = 0;    // understood
  std::size_t nonsense = 0;  // not understood
  std::size_t thinking = 0;  // characters of reasoning, which are not kept
};

class Dialect {
 public:
  virtual ~Dialect() = default;
  virtual std::string url(const Endpoint& endpoint) const = 0;
  virtual std::string models_url(const Endpoint& endpoint) const = 0;
  virtual std::vector<std::string> headers(const Endpoint& endpoint) const = 0;
  virtual std::string body(const Endpoint& endpoint, const ModelRequest& request,
                           const Adaptations& adaptations) const = 0;
  // One event of a stream.
  virtual void read_event(std::string_view name, std::string_view data, Received& received) const = 0;
  // A whole reply without a stream.
  virtual void read_whole(std::string_view json, Received& received) const = 0;
};

const Dialect& openai_chat();
const Dialect& anthropic_messages();
const Dialect& dialect_of(Protocol protocol);

// "Authorization: Bearer KEY", or the key alone under another name: the endpoint's own, else the protocol's.
std::string key_header(const Endpoint& endpoint, const std::string& usual);

// Neighbours of one speaker made one message, and none without content: some services insist.
std::vector<Message> merged(const std::vector<Message>& messages);

}  // namespace kforge
