#include "serve/connection.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

namespace kforge::serve {
namespace {

void address_of(const sockaddr_storage& storage, std::string& ip, int& port) {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    port = ntohs(v4->sin_port);
  } else if (storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
    port = ntohs(v6->sin6_port);
  }
  ip = text;
}

}  // namespace

Connection::Connection(int socket, int ending, const Limits& limits)
    : socket_(socket), ending_(ending), limits_(&limits) {}

Connection::~Connection() {
  // What the client has sent and nobody read would make the kernel throw our answer away: let it go first.
  ::shutdown(socket_.get(), SHUT_WR);
  char rest[4096];
  for (int i = 0; i < 16 && ::recv(socket_.get(), rest, sizeof rest, MSG_DONTWAIT) > 0; ++i) {
  }
}

bool Connection::wait_for(short events, Clock::time_point until) const {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) return false;
    pollfd polled[] = {{socket_.get(), events, 0}, {ending_, POLLIN, 0}};
    const int ready = ::poll(polled, 2, static_cast<int>(std::min<long long>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    if (polled[1].revents) return false;
    if (polled[0].revents) return true;
  }
}

bool Connection::fill(Clock::time_point until) {
  if (at_ < buffer_.size()) return true;
  char piece[8192];
  for (;;) {
    const ssize_t n = ::recv(socket_.get(), piece, sizeof piece, MSG_DONTWAIT);
    if (n > 0) {
      buffer_.assign(piece, static_cast<std::size_t>(n));
      at_ = 0;
      return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return false;
    if (!wait_for(POLLIN, until)) return false;
  }
}

bool Connection::next_request() {
  if (said_) return false;
  in_headers_ = true;
  header_bytes_ = 0;
  line_ends_ = 0;
  if (!fill(Clock::now() + limits_->idle_time)) return false;
  begun_ = Clock::now();
  return true;
}

void Connection::watch_headers(char c) {
  ++header_bytes_;
  if (c == '\n')
    ++line_ends_;
  else if (c != '\r')
    line_ends_ = 0;
  // A line feed before the request line ends nothing.
  if (line_ends_ >= 2 && header_bytes_ > 4) {
    in_headers_ = false;
    headers_end_ = Clock::now();
  }
}

ssize_t Connection::read(char* to, std::size_t size) {
  if (in_headers_ && header_bytes_ >= limits_->header_bytes) {
    say(431, "Request Header Fields Too Large");
    return -1;
  }
  const auto until = in_headers_ ? begun_ + limits_->header_time : headers_end_ + limits_->body_time;
  if (Clock::now() >= until || !fill(until)) {
    if (Clock::now() >= until) say(408, "Request Timeout");
    return -1;
  }
  std::size_t n = std::min(size, buffer_.size() - at_);
  if (in_headers_) n = std::min<std::size_t>(n, 1);  // headers are read byte by byte anyway
  std::copy_n(buffer_.data() + at_, n, to);
  at_ += n;
  if (in_headers_) watch_headers(*to);
  return static_cast<ssize_t>(n);
}

ssize_t Connection::write(const char* from, std::size_t size) {
  if (said_) return -1;
  const auto until = Clock::now() + limits_->write_time;
  std::size_t done = 0;
  while (done < size) {
    const ssize_t n = ::send(socket_.get(), from + done, size - done, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) {
      done += static_cast<std::size_t>(n);
      continue;
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return -1;
    if (!wait_for(POLLOUT, until)) return -1;
  }
  return static_cast<ssize_t>(done);
}

void Connection::say(int status, const char* words) {
  const std::string line =
      fmt::format("HTTP/1.1 {} {}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", status, words);
  (void)::send(socket_.get(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  said_ = true;
}

bool Connection::is_readable() const {
  if (at_ < buffer_.size()) return true;
  return wait_for(POLLIN, Clock::now() + limits_->body_time);
}

// Also whether the client is still there: one that is gone reads as the end of its stream.
bool Connection::is_writable() const {
  char ignored;
  const ssize_t n = ::recv(socket_.get(), &ignored, 1, MSG_PEEK | MSG_DONTWAIT);
  if (n == 0 || (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return false;
  return wait_for(POLLOUT, Clock::now() + limits_->write_time);
}

void Connection::get_remote_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&storage), &size) == 0)
    address_of(storage, ip, port);
}

void Connection::get_local_ip_and_port(std::string& ip, int& port) const {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&storage), &size) == 0)
    address_of(storage, ip, port);
}

}  // namespace kforge::serve
