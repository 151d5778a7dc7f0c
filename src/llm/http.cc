#include "llm/http.h"

#include <curl/curl.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "base/clock.h"
#include "base/result.h"
#include "base/text.h"
#include "llm/endpoint.h"
#include "llm/text_safety.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kHeaderBytes = 256 << 10;
constexpr std::size_t kKeptLines = 8;

// What one request in flight knows; libcurl's callbacks fill it.
struct Flight {
  CURL* easy = nullptr;
  const HttpLimits* limits = nullptr;
  const HttpReceiver* receiver = nullptr;
  HttpAnswer answer;
  Clock::time_point start = Clock::now(), last_sign = start;
  std::size_t header_bytes = 0, body_bytes = 0;
  curl_off_t uploaded = 0;
  bool refused = false, too_large = false;

  std::size_t take_header(std::string_view line) {
    last_sign = Clock::now();
    header_bytes += line.size();
    if (header_bytes > kHeaderBytes) {
      too_large = true;
      return 0;
    }
    if (line.starts_with("HTTP/")) answer.headers.clear();  // after "100 Continue", or a proxy's own answer
    std::size_t colon = line.find(':');
    if (colon != std::string_view::npos)
      answer.headers[lower_case(line.substr(0, colon))] = trimmed(line.substr(colon + 1));
    return line.size();
  }

  std::size_t take_body(std::string_view slice) {
    last_sign = Clock::now();
    body_bytes += slice.size();
    if (body_bytes > limits->bytes) {
      too_large = true;
      return 0;
    }
    read_status();
    if (!(*receiver)(answer, slice)) {
      refused = true;
      return 0;
    }
    return slice.size();
  }

  void read_status() {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    answer.status = static_cast<int>(status);
  }

  // Sending a large body counts as a sign of life too.
  void look_at_upload() {
    curl_off_t now = 0;
    curl_easy_getinfo(easy, CURLINFO_SIZE_UPLOAD_T, &now);
    if (now != uploaded) last_sign = Clock::now();
    uploaded = now;
  }
};

// No exception may pass through libcurl's C frames.
std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* flight) noexcept {
  return static_cast<Flight*>(flight)->take_header({bytes, size * count});
}
std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* flight) noexcept {
  return static_cast<Flight*>(flight)->take_body({bytes, size * count});
}

HttpEnd end_of(CURLcode code, const Flight& flight) {
  if (flight.too_large) return HttpEnd::kTooLarge;
  if (flight.refused) return HttpEnd::kRefused;
  switch (code) {
    case CURLE_OK:
      return HttpEnd::kDone;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return HttpEnd::kNoHost;
    case CURLE_OPERATION_TIMEDOUT:  // only connecting has a limit of libcurl's own
      return HttpEnd::kNoHost;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_ISSUER_ERROR:
      return HttpEnd::kNotTrusted;
    default:
      return HttpEnd::kBroken;
  }
}

struct HeaderList {
  curl_slist* list = nullptr;
  ~HeaderList() { curl_slist_free_all(list); }
  void add(const std::string& line) { list = curl_slist_append(list, line.c_str()); }
};

void set_up(CURL* easy, const HttpRequest& request, const HttpLimits& limits, const HeaderList& headers,
            char* error_text, Flight& flight) {
  curl_easy_reset(easy);  // keeps the connections
  curl_easy_setopt(easy, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.list);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "kforge");
  if (request.post) {
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request.body.data());
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  }
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect_seconds * 1000));
  // A name being looked up must not hold back a cancelled call.
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error_text);
  curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy, CURLOPT_HEADERDATA, &flight);
  curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy, CURLOPT_WRITEDATA, &flight);
  // Roots of one's own, as other programs take them; libcurl as a library does not look by itself.
  for (const char* name : {"SSL_CERT_FILE", "CURL_CA_BUNDLE"})
    if (const char* file = std::getenv(name); file && *file) {
      curl_easy_setopt(easy, CURLOPT_CAINFO, file);
      break;
    }
  if (const char* folder = std::getenv("SSL_CERT_DIR"); folder && *folder)
    curl_easy_setopt(easy, CURLOPT_CAPATH, folder);
  // A proxy from the environment is for the world outside, not for a server on this machine.
  if (auto parts = split_url(request.url); parts && is_local_host(parts->host))
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
}

}  // namespace

struct HttpClient::Line {
  CURLM* multi = curl_multi_init();
  CURL* easy = curl_easy_init();

  Line() = default;
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  ~Line() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }

  // Runs until the transfer has ended or one of our own limits is reached.
  void fly(Flight& flight, const std::stop_token& stop, const char* error_text) {
    std::stop_callback wake(stop, [this] { curl_multi_wakeup(multi); });
    for (int running = 1;;) {
      if (curl_multi_perform(multi, &running) != CURLM_OK)
        return give_up(flight, HttpEnd::kBroken, "libcurl failed");
      if (running == 0) break;
      flight.look_at_upload();
      double idle = seconds_since(flight.last_sign), total = seconds_since(flight.start);
      if (stop.stop_requested()) return give_up(flight, HttpEnd::kCancelled, "cancelled");
      if (total > flight.limits->total_seconds)
        return give_up(flight, HttpEnd::kTooLong, fmt::format("not finished after {:.0f} s", total));
      if (idle > flight.limits->idle_seconds)
        return give_up(flight, HttpEnd::kIdle, fmt::format("silent for {:.0f} s", idle));
      double left = std::min(flight.limits->idle_seconds - idle, flight.limits->total_seconds - total);
      curl_multi_poll(multi, nullptr, 0, static_cast<int>(std::clamp(left * 1000 + 1, 1.0, 1000.0)), nullptr);
    }
    int queued = 0;
    while (CURLMsg* message = curl_multi_info_read(multi, &queued)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURLcode code = message->data.result;
      flight.answer.end = end_of(code, flight);
      flight.answer.detail = safe_line(*error_text ? error_text : curl_easy_strerror(code));
    }
  }

  static void give_up(Flight& flight, HttpEnd end, std::string detail) {
    flight.answer.end = end;
    flight.answer.detail = std::move(detail);
  }
};

HttpClient::HttpClient() {
  static const CURLcode once = curl_global_init(CURL_GLOBAL_DEFAULT);
  KF_CHECK(once == CURLE_OK, "libcurl cannot start");
}

HttpClient::~HttpClient() = default;

std::unique_ptr<HttpClient::Line> HttpClient::take_line() {
  std::lock_guard lock(mutex_);
  if (idle_.empty()) return std::make_unique<Line>();
  std::unique_ptr<Line> line = std::move(idle_.back());
  idle_.pop_back();
  return line;
}

void HttpClient::give_back(std::unique_ptr<Line> line) {
  std::lock_guard lock(mutex_);
  if (idle_.size() < kKeptLines) idle_.push_back(std::move(line));
}

HttpAnswer HttpClient::perform(const HttpRequest& request, const HttpLimits& limits,
                               const HttpReceiver& receiver, std::stop_token stop) {
  std::unique_ptr<Line> line = take_line();
  Flight flight;
  if (!line->multi || !line->easy) {
    flight.answer.end = HttpEnd::kBroken;
    flight.answer.detail = "libcurl has no memory";
    return flight.answer;
  }
  flight.easy = line->easy;
  flight.limits = &limits;
  flight.receiver = &receiver;
  HeaderList headers;
  for (const std::string& header : request.headers) headers.add(header);
  headers.add("Expect:");  // or libcurl waits a second for "100 Continue" before a large body
  char error_text[CURL_ERROR_SIZE] = "";
  set_up(line->easy, request, limits, headers, error_text, flight);
  curl_multi_add_handle(line->multi, line->easy);
  line->fly(flight, stop, error_text);
  flight.read_status();
  curl_multi_remove_handle(line->multi, line->easy);
  curl_easy_reset(line->easy);  // holds pointers to what dies here
  bool clean = flight.answer.end == HttpEnd::kDone;
  if (clean) give_back(std::move(line));
  return std::move(flight.answer);
}

}  // namespace kforge
