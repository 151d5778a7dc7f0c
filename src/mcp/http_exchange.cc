#include "mcp/http_exchange.h"

namespace kforge::mcp {
namespace {

constexpr std::chrono::milliseconds kClientCheck{200};  // whether the client is still there
constexpr std::chrono::seconds kKeepAlive{10};

// JSON has no line ends of its own, so one line of data holds it.
std::string event_of(const std::string& message) { return "event: message\ndata: " + message + "\n\n"; }

}  // namespace

void MessageQueue::push(std::string message) {
  std::lock_guard lock(mutex_);
  if (closed_) return;
  messages_.push_back(std::move(message));
  arrived_.notify_all();
}

void MessageQueue::close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  arrived_.notify_all();
}

std::optional<std::string> MessageQueue::next(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  arrived_.wait_for(lock, wait, [this] { return closed_ || !messages_.empty(); });
  if (messages_.empty()) return std::nullopt;
  std::string message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

bool MessageQueue::is_over() {
  std::lock_guard lock(mutex_);
  return closed_ && messages_.empty();
}

std::optional<std::string> MessageQueue::only() {
  std::lock_guard lock(mutex_);
  if (!closed_ || messages_.size() != 1) return std::nullopt;
  std::string message = std::move(messages_.front());
  messages_.clear();
  return message;
}

HttpExchange::HttpExchange(std::shared_ptr<Server> server, const RpcMessage& message)
    : server_(std::move(server)), id_(message.id) {
  server_->receive(message, {[queue = queue_](std::string line) { queue->push(std::move(line)); },
                             [queue = queue_] { queue->close(); }});
}

HttpExchange::~HttpExchange() {
  // An id that is used again while its first call runs is refused, and must not end that one.
  if (!queue_->is_over()) server_->cancel(id_);
}

void HttpExchange::stream_to(const EventSink& sink) {
  auto last = std::chrono::steady_clock::now();
  while (!queue_->is_over()) {
    std::string piece;
    if (auto message = queue_->next(kClientCheck)) piece = event_of(*message);
    const auto now = std::chrono::steady_clock::now();
    if (piece.empty() && now - last >= kKeepAlive) piece = ":\n\n";
    if (piece.empty() ? !sink.is_open() : !sink.write(piece)) return;
    if (!piece.empty()) last = now;
  }
}

}  // namespace kforge::mcp
