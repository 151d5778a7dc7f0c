// For tests: HTTP by hand over loopback, so that what must not be sent can be sent too.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "base/fd.h"
#include "base/text.h"

namespace kforge::serve {

class RawClient {
 public:
  explicit RawClient(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  bool connected() const { return connected_; }
  bool send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  // What came until the server closed, `until` was seen, or the time was over.
  std::string receive(std::string_view until = "", double seconds = 10) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < deadline) {
      if (!until.empty() && received_.find(until) != std::string::npos) break;
      pollfd polled{socket_.get(), POLLIN, 0};
      if (::poll(&polled, 1, 100) <= 0) continue;
      if (!read_piece()) break;
    }
    return std::exchange(received_, {});
  }
  // What has come, or comes next.
  std::string receive_once() {
    read_piece();
    return std::exchange(received_, {});
  }
  int fd() const { return socket_.get(); }
  bool closed() const { return closed_; }

 private:
  bool read_piece() {
    char piece[16384];
    const ssize_t n = ::recv(socket_.get(), piece, sizeof piece, 0);
    if (n <= 0) return closed_ = true, false;
    received_.append(piece, static_cast<std::size_t>(n));
    return true;
  }

  Fd socket_;
  bool connected_ = false, closed_ = false;
  std::string received_;
};

struct RawAnswer {
  int status = 0;
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
};

inline RawAnswer parsed(const std::string& text) {
  RawAnswer answer;
  const std::size_t end = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || end == text.npos) return answer;
  answer.status = std::stoi(text.substr(9, 3));
  for (std::string_view line : lines_of(std::string_view(text).substr(0, end))) {
    const std::size_t colon = line.find(": ");
    if (colon != line.npos)
      answer.headers[lower_case(line.substr(0, colon))] = std::string(trimmed(line.substr(colon + 2)));
  }
  answer.body = text.substr(end + 4);
  return answer;
}

// `head` holds further header lines, each with its line end.
inline RawAnswer call(int port, const std::string& line, const std::string& head = "",
                      const std::string& body = "", std::string host = "") {
  if (host.empty()) host = "127.0.0.1:" + std::to_string(port);
  RawClient client(port);
  client.send(line + " HTTP/1.1\r\nHost: " + host + "\r\nConnection: close\r\n" + head +
              (body.empty() ? "" : "Content-Length: " + std::to_string(body.size()) + "\r\n") + "\r\n" +
              body);
  return parsed(client.receive());
}

}  // namespace kforge::serve
