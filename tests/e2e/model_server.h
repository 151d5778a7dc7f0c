// A model service on 127.0.0.1 for tests: speaks OpenAI's chat completions and Anthropic's messages as the
// real services do (streams, usage, errors, rate limits, images), and plays a script, faults included.
//
//   ModelServer server;
//   server.script("generator", {say("```cpp ...```"), rate_limited("1"), say("...")});
//   open_model(server.openai("generator"), settings)
//
// A script belongs to a model name, so that generator and analyst of one run have their own: the n-th request
// for that name gets the n-th step. What a step says is sent in the protocol of the request.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace kforge {

// A request as the server understood it.
struct SeenCall {
  struct Turn {
    std::string role;  // "user", "assistant"
    std::string text;
    std::vector<std::string> images;  // decoded bytes
    std::vector<std::string> media_types;
  };
  std::string path;  // "/v1/chat/completions", "/v1/messages"
  std::string model;
  std::string system;
  std::vector<Turn> turns;
  std::string key;                             // as it came in the header, without "Bearer "
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;                            // the JSON as it came
  bool stream = false;
  bool system_cached = false;  // Anthropic: a cache_control mark on the system text
  long max_tokens = 0;
  double at_seconds = 0;  // since the server started: for the spacing of tries

  // All the text of the call, system included: what a responder searches.
  std::string text() const;
};

struct ModelStep {
  enum class Kind : std::uint8_t {
    kSay,             // text, ended as `finish` says
    kError,           // status, headers, body
    kHang,            // accepts, never answers
    kStall,           // text, then silence with the connection open
    kCloseMidStream,  // text, then the connection is closed without an end mark
    kErrorInStream,   // text, then an error event (body) after HTTP 200
    kShortBody,       // states a length greater than what it sends
    kLongBody,        // states a length smaller than what it sends
    kHuge,            // `bytes` of text in one reply
    kHugeLine,        // `bytes` without a line end
    kEndless,         // text for ever
    kEndlessPings,    // comments for ever
    kInvalidUtf8,     // text with broken bytes in it
    kRaw,             // body as it is, with content_type
    kRedirect,        // 307 to `location`
    kEchoKey,         // 401 whose message repeats the key that was sent
  };
  enum class Finish : std::uint8_t { kStop, kLength, kRefusal };

  Kind kind = Kind::kSay;
  std::string text;
  Finish finish = Finish::kStop;
  std::string thinking;  // sent before the text as the protocol does
  long input_tokens = 100, cached_tokens = 0, cache_write_tokens = 0, output_tokens = 20;
  bool usage = true;  // false: the service tells no usage
  int status = 200;
  std::map<std::string, std::string> headers;
  std::string body, content_type = "application/json";
  std::string location;
  std::size_t bytes = 0;
  double delay_seconds = 0;  // before anything is sent
};

ModelStep say(std::string text);
ModelStep say_truncated(std::string text);
ModelStep say_refusal(std::string text);
ModelStep say_nothing();
ModelStep error_status(int status, std::string body, std::map<std::string, std::string> headers = {});
ModelStep server_error();                         // 500
ModelStep rate_limited(std::string retry_after);  // 429; "" sends no header
ModelStep context_overflow();                     // 400 as the protocol words it
ModelStep fault(ModelStep::Kind kind, std::string text = "half an ans");
ModelStep raw(std::string body, std::string content_type = "text/event-stream");
ModelStep redirect(std::string location);
ModelStep huge(std::size_t bytes);

// How replies travel.
struct WireForm {
  bool dribble = false;   // one byte per write
  bool crlf = false;      // line ends
  bool comments = false;  // between the events
  bool keep_alive = false;
  bool plain_json = false;   // answers without a stream although one was asked for
  double delay_seconds = 0;  // between events
};

class ModelServer {
 public:
  explicit ModelServer(WireForm form = {});
  ~ModelServer();  // ends hanging calls

  // Steps for requests that name `model`; after the last one the server answers 500 "script is over".
  void script(const std::string& model, std::vector<ModelStep> steps);
  // Instead of a script: called for each request for `model`, from several threads.
  void respond(const std::string& model, std::function<ModelStep(const SeenCall&)> responder);

  // Specs for open_model().
  std::string openai(const std::string& model) const;     // "http://127.0.0.1:PORT/v1#model"
  std::string anthropic(const std::string& model) const;  // "anthropic+http://127.0.0.1:PORT#model"
  std::string url() const;                                // "http://127.0.0.1:PORT"

  std::vector<SeenCall> calls() const;
  std::size_t concurrent_peak() const;  // most calls open at once

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace kforge
