#include "llm/mailbox.h"

#include <sys/stat.h>

#include <charconv>
#include <chrono>
#include <map>
#include <mutex>
#include <random>
#include <set>

#include "base/clock.h"
#include "base/files.h"
#include "llm/cassette.h"
#include "llm/rate_limiter.h"
#include "llm/text_safety.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostReply = 8u << 20;
constexpr double kNoticeEverySeconds = 30;
constexpr double kStopCheckSeconds = 0.1;

// One id for all mailboxes of this process that were given none.
const std::string& process_run() {
  static const std::string id = fmt::format("run{:08x}", std::random_device{}());
  return id;
}

// Words from outside become parts of file names.
std::string file_word(const std::string& text) {
  std::string word;
  for (char letter : text)
    word += std::isalnum(static_cast<unsigned char>(letter)) || letter == '_' ? letter : '_';
  return word.empty() ? "model" : word.substr(0, 60);
}

struct FileState {
  bool there = false;
  std::int64_t size = 0, time_ns = 0;
  bool operator==(const FileState&) const = default;
};

FileState state_of(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  return {true, info.st_size, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec};
}

// "" for the run that owns the folder, its id and a dash for others.
Result<std::string> prefix_in(const fs::path& folder, const std::string& run) {
  static auto* mutex = new std::mutex;
  std::lock_guard lock(*mutex);
  fs::path owner_file = folder / ".kforge-run";
  std::error_code ignored;
  if (!fs::exists(owner_file, ignored)) KF_TRY_VOID(write_file_atomic(owner_file, run + "\n"));
  KF_TRY(std::string owner, read_file(owner_file, 4096));
  return owner == run + "\n" ? "" : run + "-";
}

class Mailbox : public ModelClient {
 public:
  Mailbox(fs::path folder, std::string run, const ModelSettings& settings)
      : folder_(std::move(folder)), run_(std::move(run)), settings_(settings) {}

  std::string name() const override { return "mailbox:" + folder_.string(); }
  bool accepts_images() const override { return true; }

  Result<ModelReply> ask(const ModelRequest& request, const ReplyWatch& watch) override {
    Clock::time_point start = Clock::now();
    // Only now: a mailbox that was merely opened takes no folder.
    KF_TRY(std::string prefix, prefix_in(folder_, run_));
    std::string stem = stem_for(prefix, request);
    KF_TRY_VOID(put_question(request, stem));
    fs::path file = folder_ / (stem + ".reply.md");
    KF_TRY(bool came, wait_for(file, watch, start));
    ModelReply reply;
    reply.seconds = seconds_since(start);
    reply.model = "mailbox";
    reply.usage.estimated = true;
    if (!came) {
      reply.end = ReplyEnd::kCancelled;
      reply.detail = "cancelled";
      return reply;
    }
    KF_TRY(std::string content, read_file(file, kMostReply));
    return filled(std::move(reply), request, content, watch);
  }

 private:
  // A second question for the same place in the run gets a name of its own.
  std::string stem_for(const std::string& prefix, const ModelRequest& request) {
    std::string stem =
        fmt::format("{}{}-{}-{}", prefix, file_word(request.role), request.attempt, request.ordinal);
    std::lock_guard lock(mutex_);
    int asked = ++asked_[stem];
    return asked == 1 ? stem : fmt::format("{}-again{}", stem, asked);
  }

  Result<void> put_question(const ModelRequest& request, const std::string& stem) {
    std::vector<std::string> pictures;
    for (const Message& message : request.messages) {
      for (const Image& image : message.images) {
        std::string extension =
            image.media_type.starts_with("image/") ? file_word(image.media_type.substr(6)) : "bin";
        pictures.push_back(fmt::format("{}.picture{}.{}", stem, pictures.size() + 1, extension));
        KF_TRY_VOID(write_file_atomic(folder_ / pictures.back(), image.bytes));
      }
    }
    fs::path prompt_file = folder_ / (stem + ".prompt.md");
    std::string prompt = mailbox_prompt(request, stem + ".reply.md", pictures);
    auto before = read_file(prompt_file);
    if (before && *before == prompt)
      return {};  // asked before the run was interrupted; perhaps answered since
    // A reply to another question must not be taken for the answer to this one.
    std::error_code ignored;
    fs::rename(folder_ / (stem + ".reply.md"), folder_ / (stem + ".reply.old.md"), ignored);
    return write_file_atomic(prompt_file, prompt);
  }

  // True: it is there and complete. False: stopped.
  Result<bool> wait_for(const fs::path& file, const ReplyWatch& watch, Clock::time_point start) {
    FileState last;
    Clock::time_point same_since = Clock::now();
    double next_notice = 0;
    for (;;) {
      FileState now = state_of(file);
      if (now != last) same_since = Clock::now();
      last = now;
      if (now.there && now.size > 0 && seconds_since(same_since) >= settings_.mailbox_poll_seconds)
        return true;
      double waited = seconds_since(start);
      if (settings_.mailbox_seconds > 0 && waited > settings_.mailbox_seconds)
        return fail_with_remedy("answer the prompt beside it and resume, or allow more time",
                                fmt::format("nobody wrote {} within {:.0f} s", file.string(), waited));
      if (watch.on_notice && waited >= next_notice) {
        watch.on_notice(fmt::format("waiting for {}", file.string()));
        next_notice = waited + kNoticeEverySeconds;
      }
      if (!sleep_for(std::min(kStopCheckSeconds, settings_.mailbox_poll_seconds), watch.stop)) return false;
    }
  }

  static ModelReply filled(ModelReply reply, const ModelRequest& request, const std::string& content,
                           const ReplyWatch& watch) {
    reply.text = without_thinking(valid_utf8(content));
    if (reply.text.find_first_not_of(" \t\r\n") == std::string::npos) {
      reply.end = ReplyEnd::kEmpty;
      reply.detail = "the reply file holds nothing";
    }
    std::size_t asked = request.system.size();
    for (const Message& message : request.messages) asked += message.text.size();
    reply.usage.input = estimated_tokens(asked);
    reply.usage.output = estimated_tokens(reply.text.size());
    if (watch.on_text && !reply.text.empty()) watch.on_text(reply.text);
    return reply;
  }

  const fs::path folder_;
  const std::string run_;
  const ModelSettings settings_;
  std::mutex mutex_;
  std::map<std::string, int> asked_;
};

// "timeout=90": seconds a reply is waited for.
Result<double> timeout_of(std::string_view option) {
  constexpr double kMostSeconds = 1e8;  // three years
  double seconds = 0;
  std::string_view number = option.starts_with("timeout=") ? option.substr(8) : "";
  auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), seconds);
  if (problem != std::errc() || end != number.data() + number.size() ||
      !(seconds > 0 && seconds < kMostSeconds))
    return fail_with_remedy("mailbox:DIR?timeout=SECONDS, such as mailbox:./letters?timeout=3600",
                            fmt::format("a mailbox has no option '{}'", safe_line(option, 60)));
  return seconds;
}

}  // namespace

std::string mailbox_prompt(const ModelRequest& request, const std::string& reply_name,
                           const std::vector<std::string>& pictures) {
  std::string text = fmt::format(
      "# Prompt for the {}, attempt {}, call {}\n\n"
      "Write the reply into `{}` in this folder: the reply alone, as a model would give it.\n"
      "It is taken when the file has stopped changing; to be safe, write another name and rename it.\n\n"
      "prompt `{}`\n",
      request.role, request.attempt, request.ordinal, reply_name, prompt_hash(request).substr(0, 16));
  if (!request.system.empty()) text += "\n---- system ----\n\n" + request.system + "\n";
  std::size_t next_picture = 0;
  for (const Message& message : request.messages) {
    text += message.from == Message::From::kUser ? "\n---- user ----\n\n" : "\n---- assistant ----\n\n";
    for (std::size_t i = 0; i < message.images.size() && next_picture < pictures.size(); ++i)
      text += fmt::format("![picture]({})\n\n", pictures[next_picture++]);
    text += message.text + "\n";
  }
  return text;
}

Result<std::unique_ptr<ModelClient>> open_mailbox_model(const std::string& address,
                                                        const ModelSettings& given) {
  ModelSettings settings = given;
  std::string folder = address;
  // Only what looks like an option is one: a folder may have a question mark in its name.
  if (std::size_t mark = address.rfind("?");
      mark != std::string::npos && address.find('=', mark) != address.npos) {
    folder.resize(mark);
    KF_TRY(settings.mailbox_seconds, timeout_of(address.substr(mark + 1)));
  }
  if (folder.empty())
    return fail_with_remedy("mailbox:DIR, such as mailbox:./letters", "the mailbox has no folder");
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return fail("cannot make the mailbox folder {}: {}", folder, error.message());
  std::string run = settings.run.empty() ? process_run() : file_word(settings.run);
  return std::make_unique<Mailbox>(folder, run, settings);
}

}  // namespace kforge
