// One HTTP request through libcurl: the body is handed on as it comes, with limits on silence, time and size,
// and cancelled at once. Redirects are never followed: they could carry the key to another host.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace kforge {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  std::string body;
  bool post = true;
};

struct HttpLimits {
  double connect_seconds = 10;
  double idle_seconds = 120;
  double total_seconds = 3600;
  std::size_t bytes = 256u << 20;  // of the body on the wire
};

enum class HttpEnd : std::uint8_t {
  kDone,        // a whole answer, whatever its status
  kNoHost,      // name not found, connection refused or timed out
  kNotTrusted,  // the certificate
  kIdle,        // silent for too long
  kTooLong,     // talked for too long
  kTooLarge,
  kBroken,   // the connection ended before the answer did
  kRefused,  // the receiver wanted no more
  kCancelled,
};

struct HttpAnswer {
  HttpEnd end = HttpEnd::kDone;
  std::string detail;                          // what libcurl says; no secrets
  int status = 0;                              // 0: nothing came
  std::map<std::string, std::string> headers;  // names in lower case

  std::string header(const std::string& name) const {
    auto it = headers.find(name);
    return it == headers.end() ? "" : it->second;
  }
};

// Called for each slice of the body, with status and headers known. False: no more, please.
using HttpReceiver = std::function<bool(const HttpAnswer& head, std::string_view slice)>;

// Keeps connections warm between requests. Thread-safe.
class HttpClient {
 public:
  HttpClient();
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  HttpAnswer perform(const HttpRequest& request, const HttpLimits& limits, const HttpReceiver& receiver,
                     std::stop_token stop);

 private:
  struct Line;  // handles for one request at a time
  std::unique_ptr<Line> take_line();
  void give_back(std::unique_ptr<Line> line);

  std::mutex mutex_;
  std::vector<std::unique_ptr<Line>> idle_;
};

}  // namespace kforge
