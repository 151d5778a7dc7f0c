#include "e2e/raw_server.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace kforge {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return address;
}

int listen_on_any_port(int queue, int& port) {
  int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), size);
  ::listen(socket, queue);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  port = ntohs(address.sin_port);
  return socket;
}

bool readable(int socket, int milliseconds) {
  pollfd entry{socket, POLLIN, 0};
  return ::poll(&entry, 1, milliseconds) > 0;
}

}  // namespace

struct RawServer::Inside {
  Answer answer;
  int listening = -1, port = 0;
  std::atomic<bool> ending = false;
  mutable std::mutex mutex;
  std::vector<std::string> requests;
  std::thread thread;

  explicit Inside(Answer what) : answer(std::move(what)) {
    listening = listen_on_any_port(64, port);
    thread = std::thread([this] { serve(); });
  }
  ~Inside() {
    ending = true;
    thread.join();
    ::close(listening);
  }

  void serve() {
    for (int count = 0; !ending;) {
      if (!readable(listening, 20)) continue;
      int connection = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
      if (connection < 0) continue;
      talk(connection, count++);
      ::close(connection);
    }
  }

  void talk(int connection, int number) {
    std::string head;
    char buffer[4096];
    // All that comes is read, or closing would reset the connection and lose the answer.
    while (!ending && head.size() < (1 << 20)) {
      bool whole = head.find("\r\n\r\n") != std::string::npos;
      if (!readable(connection, whole ? 30 : 2000)) break;
      ssize_t count = ::recv(connection, buffer, sizeof buffer, 0);
      if (count <= 0) break;
      head.append(buffer, static_cast<std::size_t>(count));
    }
    {
      std::lock_guard lock(mutex);
      requests.push_back(head);
    }
    std::string text = answer(number);
    for (std::size_t sent = 0; sent < text.size();) {
      ssize_t count = ::send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) return;
      sent += static_cast<std::size_t>(count);
    }
  }
};

RawServer::RawServer(Answer answer) : inside_(std::make_unique<Inside>(std::move(answer))) {}
RawServer::~RawServer() = default;

std::string RawServer::host_and_port() const { return "127.0.0.1:" + std::to_string(inside_->port); }

std::vector<std::string> RawServer::requests() const {
  std::lock_guard lock(inside_->mutex);
  return inside_->requests;
}

FullQueue::FullQueue() {
  listening_ = listen_on_any_port(0, port_);
  for (int i = 0; i < 16 && !full_; ++i) {
    int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_in address = loopback(port_);
    ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address);
    waiting_.push_back(socket);
    pollfd entry{socket, POLLOUT, 0};
    full_ = ::poll(&entry, 1, 150) == 0;  // not connected at once: nobody gets in any more
  }
}

FullQueue::~FullQueue() {
  for (int socket : waiting_) ::close(socket);
  ::close(listening_);
}

std::string FullQueue::host_and_port() const { return "127.0.0.1:" + std::to_string(port_); }

}  // namespace kforge
