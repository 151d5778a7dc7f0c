// A socket on 127.0.0.1 that behaves as no HTTP library would: closes without a word, speaks another
// protocol, stands between as a proxy, or does not let anybody in.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kforge {

class RawServer {
 public:
  // What the n-th connection (from 0) is answered, when its request head has been read; the connection is
  // closed after it.
  using Answer = std::function<std::string(int connection)>;
  explicit RawServer(Answer answer);
  ~RawServer();
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;

  std::string host_and_port() const;          // "127.0.0.1:PORT"
  std::vector<std::string> requests() const;  // each connection's request, as far as it was read

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

// Listens, and its queue is full: who wants to connect waits for ever.
class FullQueue {
 public:
  FullQueue();
  ~FullQueue();
  FullQueue(const FullQueue&) = delete;
  FullQueue& operator=(const FullQueue&) = delete;
  bool full() const { return full_; }  // false: this system lets everybody in
  std::string host_and_port() const;

 private:
  int listening_ = -1, port_ = 0;
  bool full_ = false;
  std::vector<int> waiting_;
};

}  // namespace kforge
