// A language model behind one small interface: messages in, text and usage out. What can go wrong with a
// reply is a value (ReplyEnd), because each way has its own remedy; an Error is the service or the
// configuration.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace kforge {

struct Image {
  std::string media_type;  // "image/png"
  std::string bytes;
};

struct Message {
  enum class From : std::uint8_t { kUser, kAssistant };
  From from = From::kUser;
  std::string text;
  std::vector<Image> images;
};

struct ModelRequest {
  std::string system;  // stable from call to call: prompt caching rests on it
  std::vector<Message> messages;
  int max_output_tokens = 32'000;
  std::optional<double> temperature;  // nothing: the provider's default (some models refuse the field)
  // Which call of a run this is; cassettes replay by these.
  std::string role;  // "generator", "analyst"
  int attempt = 0;
  int ordinal = 0;  // of the calls of this role in this attempt
};

struct TokenUsage {
  std::int64_t input = 0;  // all input tokens, those read from a cache included
  std::int64_t cache_read = 0;
  std::int64_t cache_write = 0;
  std::int64_t output = 0;
  std::optional<double> dollars;  // nothing: the price is not known
  bool estimated = false;         // the service said nothing
};

enum class ReplyEnd : std::uint8_t {
  kComplete,
  kTruncated,        // ran into the output limit: continue
  kRefused,          // the model declines: rephrase or fall back
  kContextOverflow,  // the prompt is too long: shrink the history
  kEmpty,            // nothing came
  kCut,              // the stream broke off, or went silent
  kGarbage,          // not what the protocol says
  kCancelled,        // we stopped it
};
std::string_view name_of(ReplyEnd end);

// What to do about it. kUse: take the text. kContinue: ask_to_the_end() (llm/continue_reply.h) does. The loop
// does the others: drop old turns and ask again, ask the same again (a few times, then give the attempt up),
// rephrase once and then take the next model, end the run.
enum class Remedy : std::uint8_t { kUse, kContinue, kShrinkHistory, kAskAgain, kFallBack, kStop };
Remedy remedy_of(ReplyEnd end);
std::string_view name_of(Remedy remedy);

struct ModelReply {
  std::string text;  // valid UTF-8

  ReplyEnd end = ReplyEnd::kComplete;
  std::string detail;  // one sentence when not complete
  TokenUsage usage;
  double seconds = 0;
  int tries = 1;         // requests sent, retries included
  std::string model;     // as the service names it
  bool drifted = false;  // replayed although the prompt differs from the recorded one
};

struct ReplyWatch {
  std::function<void(std::string_view piece)> on_text;  // as it streams; may be empty
  // One line on what is waited for: a rate limit, the next try, a file somebody must write. May be empty.
  std::function<void(std::string_view notice)> on_notice;
  std::stop_token stop;  // obeyed within 200 ms
};

// Thread-safe: several asks may run at once; those with one key share a rate limiter.
class ModelClient {
 public:
  virtual ~ModelClient() = default;
  virtual std::string name() const = 0;  // the spec without secrets: "anthropic:NAME"
  virtual bool accepts_images() const = 0;
  virtual Result<ModelReply> ask(const ModelRequest& request, const ReplyWatch& watch) = 0;
};

struct ModelSettings {
  std::string config_file;       // empty: config.toml in kforge_home(), when it is there
  std::string record_to;         // cassette file; empty: nothing is recorded
  double idle_seconds = 300;     // silence in a stream that means it is dead; thinking is silent for minutes
  double loading_seconds = 900;  // a server that says it is loading its model is waited for so long
  double total_seconds = 3600;   // of one request, however lively
  int retries = 5;               // after errors that may pass, before any text has come
  double retry_base_seconds = 1;
  double longest_wait_seconds = 120;  // a service that wants a longer pause is given up
  // The run's id: mailbox files of several runs in one folder are told apart by it, and a resumed run finds
  // its own again. Empty: one is made up.
  std::string run;
  double mailbox_seconds = 0;         // a reply is waited for that long; 0: for ever
  double mailbox_poll_seconds = 0.5;  // a reply whose size stays the same that long is complete
};

// "anthropic:NAME", "openai:NAME", "http://127.0.0.1:8080/v1#NAME", "mailbox:DIR", "replay:FILE"; more in
// docs/models.md. "builtin" is no model: the caller asks is_builtin() first.
Result<std::unique_ptr<ModelClient>> open_model(std::string_view spec, const ModelSettings& settings);
bool is_builtin(std::string_view spec);
// "a,b" are two specs.
std::vector<std::string> split_specs(std::string_view text);

}  // namespace kforge
