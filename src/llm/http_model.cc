#include "llm/http_model.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <random>

#include "base/clock.h"
#include "llm/json.h"
#include "llm/one_try.h"
#include "llm/proxy_environment.h"
#include "llm/rate_limiter.h"
#include "llm/text_safety.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kConnectRetries = 2;  // a wrong address should be told soon
constexpr int kMostAdaptations = 4;
constexpr double kLongestBackoff = 60;
constexpr double kLoadingPause = 2;

double random_part() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

bool has_images(const ModelRequest& request) {
  return std::ranges::any_of(request.messages,
                             [](const Message& message) { return !message.images.empty(); });
}

// Changes what the service did not take. False: nothing to change.
bool adapt(const ServiceError& error, const ModelRequest& request, Adaptations& known) {
  std::string text = error.message;
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  auto about = [&](const char* field) {
    return error.parameter == field || text.find(fmt::format("'{}'", field)) != std::string::npos ||
           text.find(fmt::format("`{}`", field)) != std::string::npos ||
           text.find(fmt::format("\"{}\"", field)) != std::string::npos ||
           text.starts_with(fmt::format("{}: ", field));
  };
  int most = known.most_output_tokens > 0 ? known.most_output_tokens : request.max_output_tokens;
  if (error.fitting_output_tokens > 0 && error.fitting_output_tokens < most) {
    known.most_output_tokens = error.fitting_output_tokens;
    return true;
  }
  if (error.trouble != Trouble::kBadRequest && error.trouble != Trouble::kServer) return false;
  bool bad = error.trouble == Trouble::kBadRequest;
  if (bad && (about("max_tokens") || about("max_completion_tokens")) && !known.other_token_field)
    return known.other_token_field = true;
  for (const char* field : {"temperature", "stream_options", "reasoning_effort", "output_config"})
    if (bad && about(field) && known.dropped.insert(field).second) return true;
  bool system = text.find("system role") != std::string::npos ||
                text.find("system message") != std::string::npos ||
                text.find("roles must alternate") != std::string::npos;
  if (system && !request.system.empty() && !known.system_as_user) return known.system_as_user = true;
  bool picture = text.find("image") != std::string::npos || text.find("vision") != std::string::npos ||
                 text.find("multimodal") != std::string::npos || text.find("mmproj") != std::string::npos;
  if (picture && has_images(request) && !known.without_images) return known.without_images = true;
  return false;
}

std::string remedy_for(const ServiceError& error, const Endpoint& endpoint) {
  switch (error.trouble) {
    case Trouble::kKey:
      return endpoint.key_from.empty()
                 ? "this service wants a key: docs/models.md says where it is looked for"
                 : fmt::format("check the key in {}", endpoint.key_from);
    case Trouble::kMoney:
      return "look at the account's credit and limits; waiting does not help";
    case Trouble::kNotAllowed:
      return "the account may not use this model, or not from here";
    case Trouble::kNoModel:
      return fmt::format(
          "`kforge models {}:` lists what is served; a base URL usually ends with /v1 (it is {} here)",
          endpoint.provider, endpoint.url);
    case Trouble::kRate:
      return "wait, or use fewer calls at once (`concurrent` in config.toml)";
    case Trouble::kRedirect:
      return "give the final address; redirects are not followed, they would carry the key along";
    default:
      return "`kforge models` tests every configured service";
  }
}

class HttpModel : public ModelClient {
 public:
  HttpModel(Endpoint endpoint, const ModelSettings& settings)
      : endpoint_(std::move(endpoint)),
        settings_(settings),
        dialect_(dialect_of(endpoint_.protocol)),
        limiter_(RateLimiter::of(endpoint_.url, endpoint_.key.reveal(), endpoint_.concurrent)) {
    adaptations_.without_images = !endpoint_.images;
    adaptations_.most_output_tokens = endpoint_.max_output_tokens;
  }

  std::string name() const override { return endpoint_.name; }

  bool accepts_images() const override {
    std::lock_guard lock(mutex_);
    return !adaptations_.without_images;
  }

  Result<ModelReply> ask(const ModelRequest& request, const ReplyWatch& watch) override {
    Clock::time_point start = Clock::now();
    int adapted = 0, learnt = 0;  // tries that do not count as failures; changes of the request among them
    int most_now = 0;             // output tokens that fit beside this prompt; 0: no such limit
    for (int tries = 1;; ++tries) {
      Adaptations known = adaptations();
      if (most_now > 0) known.most_output_tokens = most_now;
      auto done = one_try(request, known, watch);
      if (!done) return cancelled(start, tries);
      auto complaint = complaint_of(*done);
      if (!complaint && !worth_retrying(*done)) {
        look_for_a_cut_prompt(*done, request, watch);
        return finished(std::move(*done), request, start, tries);
      }
      if (complaint && !complaint->loading && learnt < kMostAdaptations &&
          learn(*complaint, request, known, most_now)) {
        ++adapted, ++learnt;
        notice(watch, fmt::format("{} did not take the request ({}); asking in another way", endpoint_.name,
                                  complaint->message));
        continue;
      }
      if (complaint) {
        if (auto reply = as_reply(*complaint, *done, request, start, tries)) return *reply;
      }
      if (complaint && complaint->loading && seconds_since(start) < settings_.loading_seconds) {
        ++adapted;  // it is no failure, and not counted as one
        notice(watch, fmt::format("{} is loading its model", endpoint_.name));
        if (!sleep_for(std::min(kLoadingPause, 20 * settings_.retry_base_seconds), watch.stop))
          return cancelled(start, tries);
        continue;
      }
      double stated = complaint ? complaint->wait_seconds.value_or(0) : 0;
      bool in_vain = done->http.end == HttpEnd::kNotTrusted;  // a certificate does not change
      if (in_vain || !may_retry(complaint, tries - adapted, stated)) return give_up(complaint, *done, stated);
      double wait = backoff_seconds(tries - adapted + 1, settings_.retry_base_seconds, kLongestBackoff,
                                    stated, random_part());
      bool all = complaint && complaint->trouble == Trouble::kRate;
      if (all) limiter_->pause(wait);
      notice(watch, fmt::format("{}: {}; next try in {:.1f} s", endpoint_.name,
                                complaint ? complaint->message : done->http.detail, wait));
      if (!sleep_for(wait, watch.stop)) return cancelled(start, tries);
    }
  }

 private:
  Adaptations adaptations() const {
    std::lock_guard lock(mutex_);
    return adaptations_;
  }

  // Another call may have learnt the same meanwhile: then asking again is enough.
  bool learn(const ServiceError& error, const ModelRequest& request, const Adaptations& used, int& most_now) {
    Adaptations next = used;
    if (!adapt(error, request, next)) return false;
    std::lock_guard lock(mutex_);
    adaptations_.other_token_field |= next.other_token_field;
    adaptations_.dropped.merge(next.dropped);
    adaptations_.without_images |= next.without_images;
    adaptations_.system_as_user |= next.system_as_user;
    if (next.most_output_tokens == used.most_output_tokens) return true;
    (error.fitting_for_this_prompt ? most_now : adaptations_.most_output_tokens) = next.most_output_tokens;
    return true;
  }

  static void notice(const ReplyWatch& watch, const std::string& line) {
    if (watch.on_notice) watch.on_notice(safe_line(line));
  }

  // Nothing when stopped while waiting for the turn.
  std::optional<OneTry> one_try(const ModelRequest& request, const Adaptations& known,
                                const ReplyWatch& watch) {
    auto on_wait = [&](double seconds) {
      notice(watch, fmt::format("{}: rate limit, waiting {:.1f} s", endpoint_.name, seconds));
    };
    HttpRequest http{dialect_.url(endpoint_), dialect_.headers(endpoint_),
                     dialect_.body(endpoint_, request, known)};
    HttpLimits limits;
    limits.idle_seconds = settings_.idle_seconds;
    limits.total_seconds = settings_.total_seconds;
    if (!limiter_->enter(watch.stop, on_wait)) return std::nullopt;
    OneTry done = send_once(http_, dialect_, http, limits, watch);
    auto complaint = complaint_of(done);
    bool too_fast = complaint && complaint->trouble == Trouble::kRate;
    limiter_->leave(too_fast    ? RateLimiter::Answer::kTooFast
                    : complaint ? RateLimiter::Answer::kOther
                                : RateLimiter::Answer::kGood);
    return done;
  }

  // Some local servers cut a prompt that is too long for them and say nothing; the count of what they read
  // gives them away.
  void look_for_a_cut_prompt(const OneTry& done, const ModelRequest& request, const ReplyWatch& watch) const {
    constexpr std::int64_t kLongPrompt = 3000;
    std::size_t asked = request.system.size();
    for (const Message& message : request.messages) asked += message.text.size();
    std::int64_t least = estimated_tokens(asked) / 2;
    if (!done.received.input || least < kLongPrompt / 2 || *done.received.input >= least) return;
    notice(watch, fmt::format("{} read {} tokens of a prompt of about {}: its context is too short "
                              "(ollama: set OLLAMA_CONTEXT_LENGTH)",
                              endpoint_.name, *done.received.input, 2 * least));
  }

  // A connection that failed before anything was said.
  static bool worth_retrying(const OneTry& done) {
    bool failed = done.http.end == HttpEnd::kNoHost || done.http.end == HttpEnd::kNotTrusted ||
                  (done.http.end == HttpEnd::kBroken && done.http.status == 0);
    return failed;
  }

  // Complaints that are about the reply and not about the service.
  std::optional<ModelReply> as_reply(const ServiceError& error, OneTry& done, const ModelRequest& request,
                                     Clock::time_point start, int tries) const {
    ModelReply reply;
    if (error.trouble == Trouble::kTooLong)
      reply.end = ReplyEnd::kContextOverflow;
    else if (error.trouble == Trouble::kRefused)
      reply.end = ReplyEnd::kRefused;
    else if (!done.received.text.empty())
      reply.end = ReplyEnd::kCut;  // what was said cannot be unsaid
    else
      return std::nullopt;
    reply.text = without_thinking(done.received.text);
    reply.detail = error.message;
    reply.model = done.received.model;
    reply.seconds = seconds_since(start);
    reply.tries = tries;
    // A request that was turned away costs nothing.
    if (reply.end == ReplyEnd::kCut)
      reply.usage = usage_of(done.received, request, reply.text.size());
    else if (endpoint_.price)
      reply.usage.dollars = 0;
    return reply;
  }

  bool may_retry(const std::optional<ServiceError>& complaint, int tries, double stated) const {
    if (stated > settings_.longest_wait_seconds) return false;
    if (complaint) return complaint->retry && tries <= settings_.retries;
    return tries <= std::min(kConnectRetries, settings_.retries);
  }

  std::unexpected<Error> give_up(const std::optional<ServiceError>& complaint, const OneTry& done,
                                 double stated) const {
    if (!complaint) {
      bool trust = done.http.end == HttpEnd::kNotTrusted;
      std::string proxy = proxy_variable(endpoint_.url);
      bool plain = done.http.detail.find("wrong version number") != std::string::npos ||
                   done.http.detail.find("unexpected TLS packet") != std::string::npos ||
                   done.http.detail.find("packet length") != std::string::npos;
      return fail_with_remedy(
          trust   ? "the certificate must be signed by a root this machine trusts; one of your own goes into "
                    "the system's store, or into a file named by SSL_CERT_FILE"
          : plain ? "the service speaks plain http: write http:// instead of https://"
          : !proxy.empty()
              ? fmt::format(
                    "the call goes through the proxy that {} names: is that one right? no_proxy lists "
                    "the hosts that are reached without it",
                    proxy)
              : "is the service running, and is its address right?",
          fmt::format("cannot reach {} at {}: {}", endpoint_.name, endpoint_.url, done.http.detail));
    }
    if (stated > settings_.longest_wait_seconds)
      return fail_with_remedy(
          "try again later, or use another model",
          fmt::format("{} wants a pause of {:.0f} s: {}", endpoint_.name, stated, complaint->message));
    std::string what = complaint->trouble == Trouble::kRedirect
                           ? fmt::format("{} redirects to {}", endpoint_.name, complaint->message)
                           : fmt::format("{} answered with an error{}: {}", endpoint_.name,
                                         complaint->status ? fmt::format(" ({})", complaint->status) : "",
                                         complaint->message);
    return fail_with_remedy(remedy_for(*complaint, endpoint_), what);
  }

  Result<ModelReply> cancelled(Clock::time_point start, int tries) const {
    ModelReply reply;
    reply.end = ReplyEnd::kCancelled;
    reply.detail = "cancelled";
    reply.seconds = seconds_since(start);
    reply.tries = tries;
    if (endpoint_.price) reply.usage.dollars = 0;
    return reply;
  }

  ModelReply finished(OneTry done, const ModelRequest& request, Clock::time_point start, int tries) const {
    Received counts = done.received;
    counts.text.clear();
    std::size_t said = done.received.text.size() + done.received.thinking;
    ModelReply reply = reply_of(std::move(done), seconds_since(start));
    reply.tries = tries;
    if (reply.model.empty()) reply.model = endpoint_.model;
    reply.usage = usage_of(counts, request, said);
    return reply;
  }

  TokenUsage usage_of(const Received& received, const ModelRequest& request, std::size_t said) const {
    TokenUsage usage;
    // The count of an output that broke off is that of its beginning, if it was told at all.
    bool counted = received.output && received.end;
    usage.estimated = !received.input || !counted;
    std::size_t asked = request.system.size();
    for (const Message& message : request.messages)
      asked += message.text.size() + 4000 * message.images.size();
    usage.input = received.input.value_or(estimated_tokens(asked));
    usage.output = counted ? *received.output : std::max(received.output.value_or(0), estimated_tokens(said));
    usage.cache_read = std::min(received.cache_read.value_or(0), usage.input);
    usage.cache_write = std::min(received.cache_write.value_or(0), usage.input - usage.cache_read);
    usage.dollars = received.dollars;
    if (!usage.dollars && endpoint_.price) usage.dollars = dollars_for(usage, *endpoint_.price);
    return usage;
  }

  const Endpoint endpoint_;
  const ModelSettings settings_;
  const Dialect& dialect_;
  std::shared_ptr<RateLimiter> limiter_;
  HttpClient http_;
  mutable std::mutex mutex_;
  Adaptations adaptations_;
};

}  // namespace

std::unique_ptr<ModelClient> make_http_model(Endpoint endpoint, const ModelSettings& settings) {
  return std::make_unique<HttpModel>(std::move(endpoint), settings);
}

Result<std::vector<std::string>> list_models(const Endpoint& endpoint, double seconds) {
  constexpr std::size_t kMostBytes = 8u << 20;
  const Dialect& dialect = dialect_of(endpoint.protocol);
  HttpRequest request{dialect.models_url(endpoint), dialect.headers(endpoint), "", false};
  HttpClient http;
  std::string body;
  HttpLimits limits{.connect_seconds = std::min(seconds, 10.0),
                    .idle_seconds = seconds,
                    .total_seconds = seconds,
                    .bytes = kMostBytes};
  HttpAnswer answer = http.perform(request, limits,
                                   [&](const HttpAnswer&, std::string_view slice) {
                                     body += slice;
                                     return true;
                                   },
                                   {});
  if (answer.end != HttpEnd::kDone)
    return fail_with_remedy("is the service running, and is its address right?",
                            fmt::format("cannot reach {}: {}", request.url, answer.detail));
  if (answer.status / 100 != 2) {
    ServiceError error = read_service_error(answer, body);
    return fail_with_remedy(remedy_for(error, endpoint),
                            fmt::format("{} answered {}: {}", request.url, answer.status, error.message));
  }
  std::vector<std::string> names;
  Json json = parse_json(valid_utf8(body));
  for (const Json& entry : member(json, "data"))
    if (std::string id = text_of(entry, "id"); !id.empty()) names.push_back(safe_line(id, 200));
  return names;
}

}  // namespace kforge
