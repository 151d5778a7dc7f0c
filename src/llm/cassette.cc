#include "llm/cassette.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>

#include "base/fd.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/secrets.h"
#include "llm/json.h"
#include "llm/text_safety.h"

namespace kforge {
namespace {

constexpr const char* kSchema = "kforge.cassette/1";
constexpr std::size_t kLargestCassette = std::size_t{256} << 20;
constexpr ReplyEnd kEnds[] = {ReplyEnd::kComplete,        ReplyEnd::kTruncated, ReplyEnd::kRefused,
                              ReplyEnd::kContextOverflow, ReplyEnd::kEmpty,     ReplyEnd::kCut,
                              ReplyEnd::kGarbage,         ReplyEnd::kCancelled};

std::string clean(const std::string& text) { return without_known_secrets(valid_utf8(text)); }

Json prompt_json(const ModelRequest& request) {
  Json messages = Json::array();
  for (const Message& message : request.messages) {
    Json entry = {{"from", message.from == Message::From::kUser ? "user" : "assistant"},
                  {"text", clean(message.text)}};
    for (const Image& image : message.images)
      entry["images"].push_back({{"media_type", image.media_type},
                                 {"bytes", image.bytes.size()},
                                 {"sha256", sha256_hex(image.bytes)}});
    messages.push_back(std::move(entry));
  }
  return {{"system", clean(request.system)}, {"messages", std::move(messages)}};
}

Json usage_json(const TokenUsage& usage) {
  return {{"input", usage.input},
          {"cache_read", usage.cache_read},
          {"cache_write", usage.cache_write},
          {"output", usage.output},
          {"dollars", usage.dollars ? Json(*usage.dollars) : Json()},
          {"estimated", usage.estimated}};
}

Json reply_json(const ModelReply& reply) {
  return {{"text", clean(reply.text)},        {"end", name_of(reply.end)}, {"detail", clean(reply.detail)},
          {"usage", usage_json(reply.usage)}, {"seconds", reply.seconds},  {"tries", reply.tries},
          {"model", clean(reply.model)}};
}

// "mailbox:/home/me/box" -> "mailbox": a cassette is made to be passed on, so it names no folder.
std::string without_folder(const std::string& name) {
  std::size_t colon = name.find(':');
  bool folder = colon != std::string::npos && name.find('/', colon) != std::string::npos &&
                (name.starts_with("mailbox:") || name.starts_with("replay:"));
  return folder ? name.substr(0, colon) : name;
}

Json record_of(const std::string& name, const ModelRequest& request, const Result<ModelReply>& result) {
  Json record = {{"schema", kSchema},
                 {"role", request.role},
                 {"attempt", request.attempt},
                 {"ordinal", request.ordinal},
                 {"client", clean(without_folder(name))},
                 {"prompt_hash", prompt_hash(request)},
                 {"prompt", prompt_json(request)}};
  if (result)
    record["reply"] = reply_json(*result);
  else
    record["error"] = {{"message", clean(result.error().message)}, {"remedy", clean(result.error().remedy)}};
  return record;
}

// One write per line on a file opened for appending: lines of several threads and processes do not mix.
Result<void> append_line(const std::string& file, const std::string& line) {
  static auto* mutex = new std::mutex;
  std::lock_guard lock(*mutex);
  Fd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  std::string_view rest = line;
  while (fd.valid() && !rest.empty()) {
    ssize_t written = ::write(fd.get(), rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!rest.empty())
    return fail_with_remedy("the cassette needs a folder that is there and room on the disk",
                            fmt::format("cannot write {}: {}", file, std::strerror(errno)));
  return {};
}

class RecordingModel : public ModelClient {
 public:
  RecordingModel(std::unique_ptr<ModelClient> inner, std::string file)
      : inner_(std::move(inner)), file_(std::move(file)) {}

  std::string name() const override { return inner_->name(); }
  bool accepts_images() const override { return inner_->accepts_images(); }

  Result<ModelReply> ask(const ModelRequest& request, const ReplyWatch& watch) override {
    Result<ModelReply> result = inner_->ask(request, watch);
    KF_TRY_VOID(append_line(file_, dump_json(record_of(inner_->name(), request, result)) + "\n"));
    return result;
  }

 private:
  std::unique_ptr<ModelClient> inner_;
  std::string file_;
};

struct Recorded {
  std::string prompt_hash;
  Result<ModelReply> result;
};
using Place = std::tuple<std::string, std::int64_t, std::int64_t>;

std::optional<ReplyEnd> end_called(const std::string& name) {
  for (ReplyEnd end : kEnds)
    if (name_of(end) == name) return end;
  return std::nullopt;
}

std::optional<ModelReply> read_reply(const Json& json) {
  auto end = end_called(text_of(json, "end"));
  if (!end) return std::nullopt;
  ModelReply reply;
  reply.end = *end;
  reply.text = text_of(json, "text");
  reply.detail = text_of(json, "detail");
  reply.model = text_of(json, "model");
  const Json& usage = member(json, "usage");
  reply.usage.input = count_of(usage, "input").value_or(0);
  reply.usage.cache_read = count_of(usage, "cache_read").value_or(0);
  reply.usage.cache_write = count_of(usage, "cache_write").value_or(0);
  reply.usage.output = count_of(usage, "output").value_or(0);
  if (const Json& dollars = member(usage, "dollars"); dollars.is_number())
    reply.usage.dollars = dollars.get<double>();
  reply.usage.estimated = member(usage, "estimated") == Json(true);
  if (const Json& seconds = member(json, "seconds"); seconds.is_number())
    reply.seconds = seconds.get<double>();
  reply.tries = static_cast<int>(std::clamp<std::int64_t>(count_of(json, "tries").value_or(1), 1, 1000));
  return reply;
}

class ReplayModel : public ModelClient {
 public:
  explicit ReplayModel(std::string file) : file_(std::move(file)) {}

  Result<void> read(std::string_view content) {
    for (int line = 1; !content.empty(); ++line) {
      std::size_t end = content.find('\n');
      std::string_view text = content.substr(0, end);
      content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
      if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      bool half = end == std::string_view::npos;  // what a killed process left of its last line
      if (auto problem = take(text); !problem.empty() && !half)
        return fail_with_remedy("a cassette is written by --record and has one JSON object per line",
                                fmt::format("{}:{}: {}", file_, line, problem));
    }
    return {};
  }

  std::string name() const override { return "replay:" + file_; }
  bool accepts_images() const override { return true; }

  Result<ModelReply> ask(const ModelRequest& request, const ReplyWatch& watch) override {
    std::optional<Recorded> recorded = next(request);
    if (!recorded)
      return fail_with_remedy("the run asks for more than was recorded: record it anew",
                              fmt::format("{} has no (further) reply for {} attempt {} call {}", file_,
                                          request.role, request.attempt, request.ordinal));
    if (!recorded->result) return recorded->result;
    ModelReply& reply = *recorded->result;
    reply.drifted = recorded->prompt_hash != prompt_hash(request);
    if (reply.drifted && watch.on_notice)
      watch.on_notice(fmt::format("the prompt of {} attempt {} call {} is not the recorded one", request.role,
                                  request.attempt, request.ordinal));
    if (watch.on_text && !reply.text.empty()) watch.on_text(reply.text);
    return recorded->result;
  }

 private:
  std::string take(std::string_view text) {
    Json json = parse_json(text);
    if (!json.is_object()) return "not a JSON object";
    if (text_of(json, "schema") != kSchema)
      return fmt::format("its schema is '{}', this KForge reads {}", safe_line(text_of(json, "schema"), 40),
                         kSchema);
    auto attempt = count_of(json, "attempt"), ordinal = count_of(json, "ordinal");
    if (!attempt || !ordinal) return "attempt and ordinal are missing";
    Recorded recorded{text_of(json, "prompt_hash"), ModelReply{}};
    if (const Json& error = member(json, "error"); error.is_object()) {
      recorded.result = std::unexpected(Error{text_of(error, "message"), text_of(error, "remedy")});
    } else {
      auto reply = read_reply(member(json, "reply"));
      if (!reply) return "it has neither a reply nor an error";
      recorded.result = std::move(*reply);
    }
    recorded_[{text_of(json, "role"), *attempt, *ordinal}].push_back(std::move(recorded));
    return "";
  }

  std::optional<Recorded> next(const ModelRequest& request) {
    std::lock_guard lock(mutex_);
    auto it = recorded_.find({request.role, request.attempt, request.ordinal});
    if (it == recorded_.end() || it->second.empty()) return std::nullopt;
    Recorded first = std::move(it->second.front());
    it->second.pop_front();
    return first;
  }

  std::string file_;
  std::mutex mutex_;
  std::map<Place, std::deque<Recorded>> recorded_;
};

}  // namespace

std::string prompt_hash(const ModelRequest& request) {
  Hasher hasher;
  hasher.add(clean(request.system));
  for (const Message& message : request.messages) {
    hasher.add(message.from == Message::From::kUser ? "user" : "assistant").add(clean(message.text));
    for (const Image& image : message.images) hasher.add(image.media_type).add(image.bytes);
  }
  return hasher.hex();
}

std::unique_ptr<ModelClient> make_recording_model(std::unique_ptr<ModelClient> inner, std::string file) {
  return std::make_unique<RecordingModel>(std::move(inner), std::move(file));
}

Result<std::unique_ptr<ModelClient>> open_replay_model(const std::string& file) {
  KF_TRY(std::string content, read_file(file, kLargestCassette));
  auto model = std::make_unique<ReplayModel>(file);
  KF_TRY_VOID(model->read(content));
  return model;
}

}  // namespace kforge
