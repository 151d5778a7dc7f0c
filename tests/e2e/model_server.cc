#include "e2e/model_server.h"

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "e2e/model_wire.h"

namespace kforge {
namespace {

using Kind = ModelStep::Kind;
using Clock = std::chrono::steady_clock;

// A thread per connection: hanging calls must not use up a pool.
class ThreadPerConnection : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> job) override { threads_.emplace_back(std::move(job)); }
  void shutdown() override {
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::vector<std::thread> threads_;
};

std::string lower(std::string text) {
  for (char& letter : text) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

std::string key_of(const std::map<std::string, std::string>& headers) {
  if (auto it = headers.find("x-api-key"); it != headers.end()) return it->second;
  if (auto it = headers.find("authorization"); it != headers.end() && it->second.starts_with("Bearer "))
    return it->second.substr(7);
  return "";
}

std::string with_crlf(const std::string& text) {
  std::string result;
  for (char letter : text) {
    if (letter == '\n') result += '\r';
    result += letter;
  }
  return result;
}

ModelStep of_kind(Kind kind) {
  ModelStep step;
  step.kind = kind;
  return step;
}

}  // namespace

std::string SeenCall::text() const {
  std::string all = system;
  for (const Turn& turn : turns) all += "\n" + turn.text;
  return all;
}

ModelStep say(std::string text) {
  ModelStep step;
  step.text = std::move(text);
  return step;
}
ModelStep say_truncated(std::string text) {
  ModelStep step = say(std::move(text));
  step.finish = ModelStep::Finish::kLength;
  return step;
}
ModelStep say_refusal(std::string text) {
  ModelStep step = say(std::move(text));
  step.finish = ModelStep::Finish::kRefusal;
  return step;
}
ModelStep say_nothing() { return say(""); }
ModelStep error_status(int status, std::string body, std::map<std::string, std::string> headers) {
  ModelStep step = of_kind(Kind::kError);
  step.status = status;
  step.body = std::move(body);
  step.headers = std::move(headers);
  return step;
}
ModelStep server_error() { return error_status(500, ""); }
ModelStep rate_limited(std::string retry_after) {
  ModelStep step = error_status(429, "");
  if (!retry_after.empty()) step.headers["retry-after"] = std::move(retry_after);
  return step;
}
ModelStep context_overflow() { return error_status(400, ""); }
ModelStep fault(Kind kind, std::string text) {
  ModelStep step = of_kind(kind);
  step.text = std::move(text);
  return step;
}
ModelStep raw(std::string body, std::string content_type) {
  ModelStep step = of_kind(Kind::kRaw);
  step.body = std::move(body);
  step.content_type = std::move(content_type);
  return step;
}
ModelStep redirect(std::string location) {
  ModelStep step = of_kind(Kind::kRedirect);
  step.location = std::move(location);
  return step;
}
ModelStep huge(std::size_t bytes) {
  ModelStep step = of_kind(Kind::kHuge);
  step.bytes = bytes;
  return step;
}

struct ModelServer::Inside {
  WireForm form;
  httplib::Server server;
  std::thread listener;
  int port = 0;
  Clock::time_point start = Clock::now();

  mutable std::mutex mutex;
  std::condition_variable ended;
  bool ending = false;
  std::vector<SeenCall> calls;
  std::map<std::string, std::vector<ModelStep>> scripts;
  std::map<std::string, std::size_t> next;
  std::map<std::string, std::function<ModelStep(const SeenCall&)>> responders;
  std::size_t open_calls = 0, peak = 0;

  explicit Inside(WireForm wire) : form(wire) {
    server.new_task_queue = [] { return new ThreadPerConnection; };
    server.set_keep_alive_max_count(form.keep_alive ? 1000 : 1);
    server.set_keep_alive_timeout(1);
    server.set_tcp_nodelay(true);
    server.set_payload_max_length(64 << 20);
    server.Post("/v1/chat/completions", [this](const auto& request, auto& response) {
      handle(Protocol::kOpenAi, request, response);
    });
    server.Post("/v1/messages", [this](const auto& request, auto& response) {
      handle(Protocol::kAnthropic, request, response);
    });
    server.Get("/v1/models", [this](const auto&, auto& response) { list_models(response); });
    // httplib's own backlog of 5 makes some of many callers wait for a second.
    int listening = -1;
    server.set_socket_options([&listening](int socket) { listening = socket; });
    port = server.bind_to_any_port("127.0.0.1");
    ::listen(listening, 1024);
    listener = std::thread([this] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();
  }

  ~Inside() {
    {
      std::lock_guard lock(mutex);
      ending = true;
    }
    ended.notify_all();
    server.stop();
    listener.join();
  }

  // True when the server ends before the time is over.
  bool sleep(double seconds) {
    std::unique_lock lock(mutex);
    return ended.wait_for(lock, std::chrono::duration<double>(seconds), [this] { return ending; });
  }

  void list_models(httplib::Response& response) {
    std::lock_guard lock(mutex);
    std::string list;
    auto add = [&list](const std::string& name) {
      list += (list.empty() ? "" : ",") + ("{\"id\":\"" + name + "\",\"object\":\"model\"}");
    };
    for (const auto& [name, ignored] : scripts) add(name);
    for (const auto& [name, ignored] : responders) add(name);
    response.set_content("{\"object\":\"list\",\"data\":[" + list + "]}", "application/json");
  }

  ModelStep step_for(const SeenCall& call) {
    std::function<ModelStep(const SeenCall&)> responder;
    {
      std::lock_guard lock(mutex);
      calls.push_back(call);
      if (auto it = responders.find(call.model); it != responders.end()) responder = it->second;
      if (!responder) {
        auto it = scripts.find(call.model);
        if (it == scripts.end())
          return error_status(404, R"({"error":{"message":"no such model","code":"model_not_found"}})");
        std::size_t index = next[call.model]++;
        if (index >= it->second.size())
          return error_status(400, R"({"error":{"message":"the script is over","code":"script_over"}})");
        return it->second[index];
      }
    }
    return responder(call);
  }

  void handle(Protocol protocol, const httplib::Request& request, httplib::Response& response) {
    SeenCall call;
    call.path = request.path;
    call.body = request.body;
    for (const auto& [name, value] : request.headers) call.headers[lower(name)] = value;
    call.key = key_of(call.headers);
    call.at_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    std::string why;
    if (!read_call(protocol, request.body, call, why)) {
      response.status = 400;
      response.set_content(error_body(protocol, "invalid_request_error", "", why), "application/json");
      return;
    }
    ModelStep step = step_for(call);
    if (step.delay_seconds > 0) {
      count_call(1);
      sleep(step.delay_seconds);
      count_call(-1);
    }
    answer(protocol, call, step, response);
  }

  void count_call(int change) {
    std::lock_guard lock(mutex);
    open_calls += static_cast<std::size_t>(change);
    peak = std::max(peak, open_calls);
  }

  void answer(Protocol protocol, const SeenCall& call, const ModelStep& step, httplib::Response& response) {
    bool openai = protocol == Protocol::kOpenAi;
    switch (step.kind) {
      case Kind::kHang:
        sleep(600);
        return;
      case Kind::kError: {
        response.status = step.status;
        for (const auto& [name, value] : step.headers) response.set_header(name, value);
        std::string body = step.body.empty() ? default_error(protocol, step.status) : step.body;
        response.set_content(body, step.content_type);
        return;
      }
      case Kind::kRedirect:
        response.set_redirect(step.location, 307);
        return;
      case Kind::kEchoKey:
        response.status = 401;
        response.set_content(error_body(protocol, openai ? "invalid_request_error" : "authentication_error",
                                        "invalid_api_key", "Incorrect API key provided: " + call.key + "."),
                             "application/json");
        return;
      case Kind::kRaw:
        response.set_content(step.body, step.content_type);
        return;
      case Kind::kShortBody:
      case Kind::kLongBody:
        return lie_about_length(protocol, call, step, response);
      default:
        break;
    }
    if (step.kind == Kind::kSay && (form.plain_json || !call.stream))
      return response.set_content(plain_reply(protocol, call, step), "application/json");
    stream(protocol, call, step, response);
  }

  static std::string default_error(Protocol protocol, int status) {
    bool openai = protocol == Protocol::kOpenAi;
    if (status == 429)
      return error_body(protocol, openai ? "requests" : "rate_limit_error", "rate_limit_exceeded",
                        "Rate limit reached");
    if (status == 400)
      return error_body(protocol, "invalid_request_error", "context_length_exceeded",
                        openai ? "This model's maximum context length is 8192 tokens. However, your messages "
                                 "resulted in 90000 tokens."
                               : "prompt is too long: 213462 tokens > 200000 maximum");
    return error_body(protocol, openai ? "server_error" : "api_error", "", "The server had an error");
  }

  void lie_about_length(Protocol protocol, const SeenCall& call, const ModelStep& step,
                        httplib::Response& response) {
    std::string body;
    for (const std::string& event : stream_events(protocol, call, say(step.text))) body += event;
    bool more = step.kind == Kind::kShortBody;
    std::size_t stated = more ? body.size() * 2 : body.size() / 2;
    response.set_content_provider(stated, "text/event-stream",
                                  [body](std::size_t offset, std::size_t, httplib::DataSink& sink) {
                                    return offset == 0 && sink.write(body.data(), body.size());
                                  });
  }

  // What comes before the fault, or the whole reply.
  std::vector<std::string> first_events(Protocol protocol, const SeenCall& call, const ModelStep& step) {
    switch (step.kind) {
      case Kind::kSay:
        return stream_events(protocol, call, step);
      case Kind::kHuge:
      case Kind::kHugeLine:
      case Kind::kEndlessPings:
        return {};
      case Kind::kInvalidUtf8: {
        std::vector<std::string> events = stream_events(protocol, call, say("BROKEN" + step.text));
        for (std::string& event : events)
          if (std::size_t at = event.find("BROKEN"); at != std::string::npos)
            event.replace(at, 6, "\xff\xfe\xc3(");
        return events;
      }
      default:
        return text_events(protocol, call, step.text);
    }
  }

  bool write(httplib::DataSink& sink, const std::string& text) {
    std::string bytes = form.crlf ? with_crlf(text) : text;
    if (!form.dribble) return sink.is_writable() && sink.write(bytes.data(), bytes.size());
    for (char byte : bytes)
      if (!sink.is_writable() || !sink.write(&byte, 1)) return false;
    return true;
  }

  bool stopping() {
    std::lock_guard lock(mutex);
    return ending;
  }

  // The fault itself. False closes the connection without the end of the body.
  bool strike(Protocol protocol, const SeenCall& call, const ModelStep& step, httplib::DataSink& sink) {
    switch (step.kind) {
      case Kind::kStall:
        sleep(600);
        return false;
      case Kind::kErrorInStream: {
        std::string body = step.body.empty()
                               ? error_body(protocol, "overloaded_error", "server_error", "Overloaded")
                               : step.body;
        write(sink, (protocol == Protocol::kAnthropic ? "event: error\ndata: " : "data: ") + body + "\n\n");
        return false;
      }
      case Kind::kEndless: {
        std::string event = text_events(protocol, call, "PIECE").back();
        std::string piece;
        while (piece.size() < 4000) piece += "and so on, ";
        event.replace(event.find("PIECE"), 5, piece);
        while (!stopping())
          if (!write(sink, event)) break;
        return false;
      }
      case Kind::kEndlessPings:
        while (!sleep(0.01))
          if (!write(sink, ": keep-alive\n\n")) break;
        return false;
      case Kind::kHuge: {
        std::string piece(64 << 10, 'x');
        std::vector<std::string> events = text_events(protocol, call, "PIECE");
        std::string event = events.back();
        event.replace(event.find("PIECE"), 5, piece);
        for (std::size_t sent = 0; sent < step.bytes && !stopping(); sent += piece.size())
          if (!write(sink, event)) return false;
        std::vector<std::string> end = stream_events(protocol, call, say("."));
        for (const std::string& last : end)
          if (!write(sink, last)) return false;
        return true;
      }
      case Kind::kHugeLine: {
        std::string piece(64 << 10, 'x');
        if (!write(sink, "data: ")) return false;
        for (std::size_t sent = 0; sent < step.bytes && !stopping(); sent += piece.size())
          if (!write(sink, piece)) return false;
        return false;
      }
      default:
        return step.kind != Kind::kCloseMidStream;
    }
  }

  void stream(Protocol protocol, const SeenCall& call, const ModelStep& step, httplib::Response& response) {
    count_call(1);
    auto left = [this](bool) { count_call(-1); };
    response.set_chunked_content_provider(
        "text/event-stream; charset=utf-8",
        [this, protocol, call, step](std::size_t, httplib::DataSink& sink) {
          for (const std::string& event : first_events(protocol, call, step)) {
            if (form.comments && !write(sink, ": OPENROUTER PROCESSING\n\n:\n")) return false;
            if (form.delay_seconds > 0 && sleep(form.delay_seconds)) return false;
            if (!write(sink, event)) return false;
          }
          if (!strike(protocol, call, step, sink)) return false;
          sink.done();
          return true;
        },
        left);
  }
};

ModelServer::ModelServer(WireForm form) : inside_(std::make_unique<Inside>(form)) {}
ModelServer::~ModelServer() = default;

void ModelServer::script(const std::string& model, std::vector<ModelStep> steps) {
  std::lock_guard lock(inside_->mutex);
  inside_->scripts[model] = std::move(steps);
  inside_->next[model] = 0;
}

void ModelServer::respond(const std::string& model, std::function<ModelStep(const SeenCall&)> responder) {
  std::lock_guard lock(inside_->mutex);
  inside_->responders[model] = std::move(responder);
}

std::string ModelServer::url() const { return "http://127.0.0.1:" + std::to_string(inside_->port); }
std::string ModelServer::openai(const std::string& model) const { return url() + "/v1#" + model; }
std::string ModelServer::anthropic(const std::string& model) const {
  return "anthropic+" + url() + "#" + model;
}

std::vector<SeenCall> ModelServer::calls() const {
  std::lock_guard lock(inside_->mutex);
  return inside_->calls;
}

std::size_t ModelServer::concurrent_peak() const {
  std::lock_guard lock(inside_->mutex);
  return inside_->peak;
}

}  // namespace kforge
