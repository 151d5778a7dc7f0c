#include "llm/one_try.h"

#include <algorithm>

#include "llm/sse.h"
#include "llm/text_safety.h"

namespace kforge {
namespace {

constexpr std::size_t kMostText = 8u << 20;   // of a reply
constexpr std::size_t kMostEvent = 8u << 20;  // of one event, and of an answer that is no stream
constexpr std::size_t kErrorBody = 64u << 10;

bool is_stream(const HttpAnswer& head) {
  return head.status / 100 == 2 && head.header("content-type").find("event-stream") != std::string::npos;
}

// Some servers and gateways send a stream under another type.
bool looks_like_stream(std::string_view body) {
  body.remove_prefix(std::min(body.find_first_not_of(" \r\n"), body.size()));
  return body.starts_with("data:") || body.starts_with("event:") || body.starts_with(":");
}

// The reason a reply without an end mark, or beyond every limit, is what it is.
void judge_unfinished(const OneTry& done, ModelReply& reply) {
  switch (done.http.end) {
    case HttpEnd::kCancelled:
      reply.end = ReplyEnd::kCancelled;
      reply.detail = "cancelled";
      return;
    case HttpEnd::kTooLarge:
    case HttpEnd::kRefused:
      reply.end = ReplyEnd::kGarbage;
      reply.detail = done.overfull ? fmt::format("the reply is longer than {} MB", kMostText >> 20)
                                   : "the service sends more than any reply needs";
      return;
    case HttpEnd::kDone:
      if (done.received.events == 0) {
        bool nothing =
            done.received.nonsense == 0 && done.body.find_first_not_of(" \t\r\n") == std::string::npos;
        reply.end = nothing ? ReplyEnd::kEmpty : ReplyEnd::kGarbage;
        reply.detail = nothing ? "the service answered with nothing"
                               : "the answer is not what the protocol says: " + safe_line(done.body, 120);
        return;
      }
      reply.end = done.received.nonsense > 0 && reply.text.empty() ? ReplyEnd::kGarbage : ReplyEnd::kCut;
      reply.detail = "the stream ended without its end mark";
      return;
    default:
      reply.end = ReplyEnd::kCut;
      reply.detail = "the connection to the service failed: " + done.http.detail;
  }
}

void judge_finished(const Received& received, ModelReply& reply) {
  reply.end = *received.end;
  reply.detail = received.detail;
  bool blank = reply.text.find_first_not_of(" \t\r\n") == std::string::npos;
  if (reply.end == ReplyEnd::kComplete && blank) {
    reply.end = ReplyEnd::kEmpty;
    reply.detail = received.thinking > 0 ? "the model thought and said nothing" : "the model said nothing";
  }
  if (reply.end == ReplyEnd::kTruncated && reply.detail.empty())
    reply.detail = blank ? "the whole output limit went into thinking" : "the output limit was reached";
  if (reply.end == ReplyEnd::kRefused && reply.detail.empty()) reply.detail = "the model declined";
}

}  // namespace

OneTry send_once(HttpClient& http, const Dialect& dialect, const HttpRequest& request,
                 const HttpLimits& limits, const ReplyWatch& watch) {
  OneTry done;
  std::size_t told = 0;
  SseParser parser(kMostEvent, [&](std::string_view event, std::string_view data) {
    if (done.received.over || done.received.error) return;
    dialect.read_event(event, data, done.received);
    if (watch.on_text && done.received.text.size() > told)
      watch.on_text(std::string_view(done.received.text).substr(told));
    told = done.received.text.size();
  });
  done.http = http.perform(
      request, limits,
      [&](const HttpAnswer& head, std::string_view slice) {
        if (!is_stream(head)) {
          std::size_t most = head.status / 100 == 2 ? kMostEvent : kErrorBody;
          done.body += slice.substr(0, most - std::min(most, done.body.size()));
          return done.body.size() < most;
        }
        bool fits = parser.feed(slice);
        done.overfull = done.received.text.size() > kMostText;
        // After the end mark nothing is waited for: some services keep the connection open.
        return fits && !done.overfull && !done.received.over && !done.received.error;
      },
      watch.stop);
  if (is_stream(done.http)) {
    parser.finish();
  } else if (done.http.status / 100 == 2 && done.http.end == HttpEnd::kDone && looks_like_stream(done.body)) {
    parser.feed(done.body);
    parser.finish();
  } else if (done.http.status / 100 == 2 && done.http.end == HttpEnd::kDone) {
    dialect.read_whole(done.body, done.received);
    if (watch.on_text && !done.received.text.empty()) watch.on_text(done.received.text);
  }
  return done;
}

std::optional<ServiceError> complaint_of(const OneTry& done) {
  if (done.received.error) return done.received.error;
  bool answered = done.http.end == HttpEnd::kDone || done.http.end == HttpEnd::kRefused;
  if (answered && done.http.status != 0 && done.http.status / 100 != 2)
    return read_service_error(done.http, done.body);
  return std::nullopt;
}

ModelReply reply_of(OneTry done, double seconds) {
  ModelReply reply;
  Received& received = done.received;
  reply.text = without_thinking(std::move(received.text));
  reply.model = received.model;
  reply.seconds = seconds;
  // A stated reason without the last mark is an end too: some servers close right after it, or say no more.
  bool ended = done.http.end == HttpEnd::kDone || done.http.end == HttpEnd::kBroken ||
               done.http.end == HttpEnd::kIdle || done.http.end == HttpEnd::kTooLong;
  bool finished = received.end && !done.overfull && (received.over || ended);
  if (finished)
    judge_finished(received, reply);
  else
    judge_unfinished(done, reply);
  return reply;
}

}  // namespace kforge
