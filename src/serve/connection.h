// One client's connection with its limits: a request must arrive whole within a time and a size, and an
// answer be taken within a time, so that nobody holds a thread by sending or reading slowly. All waits end
// when the server does.
#pragma once

#include <httplib.h>

#include <chrono>
#include <string>

#include "base/fd.h"
#include "serve/limits.h"

namespace kforge::serve {

class Connection final : public httplib::Stream {
 public:
  // `ending`: a descriptor that becomes readable when the server ends. Closes `socket` when it dies.
  Connection(int socket, int ending, const Limits& limits);
  ~Connection() override;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Waits for the next request. False: none came, or the server ends.
  bool next_request();
  // An answer without a body, where no request could be read; nothing goes on after it.
  void say(int status, const char* words);

  bool is_readable() const override;
  bool is_writable() const override;
  ssize_t read(char* to, std::size_t size) override;
  ssize_t write(const char* from, std::size_t size) override;
  void get_remote_ip_and_port(std::string& ip, int& port) const override;
  void get_local_ip_and_port(std::string& ip, int& port) const override;
  socket_t socket() const override { return socket_.get(); }

 private:
  using Clock = std::chrono::steady_clock;
  // Until the socket is ready for `events`. False: the time is over, or the server ends.
  bool wait_for(short events, Clock::time_point until) const;
  bool fill(Clock::time_point until);
  void watch_headers(char c);

  Fd socket_;
  int ending_;
  const Limits* limits_;
  std::string buffer_;  // received and not yet read
  std::size_t at_ = 0;
  bool said_ = false;
  bool in_headers_ = true;
  std::size_t header_bytes_ = 0;
  int line_ends_ = 0;  // "\n\r\n" or "\n\n" ends the headers
  Clock::time_point begun_, headers_end_;
};

}  // namespace kforge::serve
