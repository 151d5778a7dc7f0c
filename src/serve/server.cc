#include "serve/server.h"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "base/text.h"
#include "serve/connection.h"
#include "serve/connection_threads.h"

namespace kforge::serve {
namespace {

constexpr std::string_view kTwin = ".json";

// Of everything that is sent: nothing but this server's own files runs, is shown or is sent to.
const std::pair<const char*, const char*> kHeaders[] = {
    {"Content-Security-Policy",
     "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
     "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"},
    {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
    {"Referrer-Policy", "same-origin"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Cross-Origin-Opener-Policy", "same-origin"},
};

Asked asked_of(const httplib::Request& request) {
  Asked asked;
  asked.method = request.method == "HEAD" ? "GET" : request.method;
  asked.path = request.path;
  if (asked.path.ends_with(kTwin) && asked.path.size() > kTwin.size() + 1) {
    asked.json = true;
    asked.path.resize(asked.path.size() - kTwin.size());
  }
  for (const auto& [name, value] : request.headers) asked.headers.emplace(lower_case(name), value);
  // The library puts a form's fields among those of the address.
  const bool form = request.get_header_value("Content-Type").starts_with("application/x-www-form-urlencoded");
  for (const auto& [name, value] : request.params)
    (form && asked.method == "POST" ? asked.fields : asked.query).emplace(name, value);
  for (const auto& [name, file] : request.files) asked.fields.emplace(name, file.content);
  if (!form && request.files.empty()) asked.body = request.body;
  return asked;
}

class HttpSink final : public Sink {
 public:
  HttpSink(httplib::DataSink& sink, const std::stop_token& stop) : sink_(sink), stop_(stop) {}
  bool write(std::string_view text) override {
    return open_ = open_ && !stop_.stop_requested() && sink_.write(text.data(), text.size());
  }
  bool open() const override { return open_ && !stop_.stop_requested() && sink_.is_writable(); }

 private:
  httplib::DataSink& sink_;
  const std::stop_token& stop_;
  bool open_ = true;
};

}  // namespace

class Server::Http final : public httplib::Server {
 public:
  explicit Http(Settings settings) : settings_(std::move(settings)), ending_(::eventfd(0, EFD_CLOEXEC)) {
    new_task_queue = [this] {
      // Two more than may be served, who tell the others that there is no room.
      return new ConnectionThreads(settings_.limits.connections + 2);
    };
    set_payload_max_length(settings_.limits.body_bytes);
    set_keep_alive_max_count(settings_.limits.requests_per_connection);
    set_tcp_nodelay(true);
    // The library's own choice would let two servers share a port, and each get some of the requests.
    set_socket_options([](socket_t socket) {
      const int yes = 1;
      ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (auto early = before_body(request)) {
        send(std::move(*early), response);
        // What follows on this connection is a body that nobody reads, and no request.
        if (request.has_header("Content-Length") || request.has_header("Transfer-Encoding")) {
          response.set_header("Connection", "close");
          body_left_unread_ = true;
        }
        return HandlerResponse::Handled;
      }
      // Of what says nothing of a body the library would wait for one.
      const bool body = request.has_header("Content-Length") || request.has_header("Transfer-Encoding");
      if (request.method != "GET" && request.method != "HEAD" && body) return HandlerResponse::Unhandled;
      send(answer(request), response);
      return HandlerResponse::Handled;
    });
    auto with_body = [this](const httplib::Request& request, httplib::Response& response) {
      send(answer(request), response);
    };
    Post("/.*", with_body);
    Delete("/.*", with_body);
    set_error_handler([this](const httplib::Request& request, httplib::Response& response) {
      if (!response.body.empty() || response.content_provider_) return;
      send(refusal(asked_of(request), response.status, httplib_words(response.status)), response);
    });
    set_exception_handler(
        [this](const httplib::Request& request, httplib::Response& response, const std::exception_ptr&) {
          send(refusal(asked_of(request), 500, "Something went wrong here"), response);
        });
  }

  ~Http() override { end(); }

  Result<void> bind_now() {
    const int port = settings_.port;
    const int bound =
        port == 0 ? bind_to_any_port(settings_.address) : (bind_to_port(settings_.address, port) ? port : -1);
    if (bound <= 0)
      return fail_with_remedy(
          "another --port, or --port 0 for any that is free",
          fmt::format("cannot listen on {} port {}: {}", settings_.address, port, std::strerror(errno)));
    // Again, with room for more callers at once than the library asks for.
    ::listen(svr_sock_, 64);
    port_ = bound;
    guard_.emplace(GuardSettings{settings_.address, bound, settings_.read_only,
                                 settings_.token.empty() ? new_token() : settings_.token});
    return {};
  }

  void begin() {
    listener_ = std::thread([this] {
      listen_after_bind();
      listening_over_ = true;
    });
  }

  void end() {
    stop_.request_stop();
    const std::uint64_t one = 1;
    (void)!::write(ending_.get(), &one, sizeof one);
    if (!listener_.joinable()) {
      // Bound and never started: the library closes its socket only where it has listened.
      if (const socket_t bound = svr_sock_.exchange(INVALID_SOCKET); bound != INVALID_SOCKET) ::close(bound);
      return;
    }
    // It may have been told to before it had begun.
    while (!is_running() && !listening_over_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    httplib::Server::stop();
    listener_.join();
  }

  Router router;
  int port() const { return port_; }
  const Guard& guard() const { return *guard_; }

 private:
  static const char* httplib_words(int status) {
    switch (status) {
      case 400:
        return "That is no request";
      case 404:
        return "There is no such page";
      case 413:
        return "That is too much at once";
      case 414:
        return "That address is too long";
      default:
        return "This could not be answered";
    }
  }

  // What can be said before the body is read: who must not ask need not send it either.
  std::optional<Answer> before_body(const httplib::Request& request) const {
    if (request.path.size() > settings_.limits.path_bytes) return refusal(Asked{}, 414, httplib_words(414));
    Asked asked = asked_of(request);
    const auto match = router.find(asked.method, asked.path);
    const Access access = match && match->route ? match->route->access : Access::kRead;
    // The word against forged forms is in the body, which is not here yet; the token is.
    if (auto refused = guard_->refuse(asked, access == Access::kChange ? Access::kRead : access))
      return refused;
    if (access == Access::kChange && (guard_->read_only() || !asked.knows_token))
      return guard_->refuse(asked, access);
    if (!match) return refusal(asked, 404, httplib_words(404));
    if (!match->route) return refusal(asked, 405, "This page takes no such request");
    return std::nullopt;
  }

  Answer answer(const httplib::Request& request) const {
    Asked asked = asked_of(request);
    auto match = router.find(asked.method, asked.path);
    if (!match || !match->route) return refusal(asked, 404, httplib_words(404));
    asked.parts = std::move(match->parts);
    if (auto refused = guard_->refuse(asked, match->route->access)) return std::move(*refused);
    return match->route->handler(asked);
  }

  void send_stream(Answer answer, httplib::Response& response) {
    response.set_chunked_content_provider(
        answer.type, [this, stream = std::move(answer.stream)](std::size_t, httplib::DataSink& sink) {
          const std::stop_token stop = stop_.get_token();
          HttpSink to(sink, stop);
          stream(to, stop);
          sink.done();
          return true;
        });
  }

  void send(Answer answer, httplib::Response& response) {
    response.status = answer.status;
    for (const auto& [name, value] : kHeaders) response.set_header(name, value);
    bool kept = false;
    for (const auto& [name, value] : answer.headers) {
      response.set_header(name, value);
      kept = kept || lower_case(name) == "cache-control";
    }
    if (!kept) response.set_header("Cache-Control", "no-store");
    if (answer.stream) return send_stream(std::move(answer), response);
    response.set_content(answer.body, answer.type);
  }

  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, ending_.get(), settings_.limits);
    struct Counted {
      std::atomic<std::size_t>& count;
      std::size_t mine = ++count;
      ~Counted() { --count; }
    } counted{active_};
    if (counted.mine > settings_.limits.connections) {
      connection.say(503, "Service Unavailable");
      return false;
    }
    for (std::size_t left = settings_.limits.requests_per_connection; left > 0; --left) {
      bool closed = false;
      body_left_unread_ = false;
      if (!connection.next_request() || !process_request(connection, left == 1, closed, nullptr) || closed ||
          body_left_unread_)
        return true;
    }
    return true;
  }

  static inline thread_local bool body_left_unread_ = false;  // a connection has one thread
  Settings settings_;
  Fd ending_;
  std::stop_source stop_;
  std::optional<Guard> guard_;
  int port_ = 0;
  std::atomic<std::size_t> active_ = 0;
  std::thread listener_;
  std::atomic<bool> listening_over_ = false;
};

Server::Server() = default;
Server::~Server() { stop(); }

Result<std::unique_ptr<Server>> Server::bind(Settings settings) {
  std::unique_ptr<Server> server(new Server);
  server->http_ = std::make_unique<Http>(std::move(settings));
  KF_TRY_VOID(server->http_->bind_now());
  return server;
}

void Server::mount(Route route) { http_->router.mount(std::move(route)); }
void Server::start() { http_->begin(); }
void Server::stop() {
  if (http_) http_->end();
}
int Server::port() const { return http_->port(); }
const Guard& Server::guard() const { return http_->guard(); }

}  // namespace kforge::serve
