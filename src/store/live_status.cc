#include "store/live_status.h"

#include <fcntl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "base/files.h"

namespace kforge {
namespace {

fs::path file_of(const fs::path& home, std::string_view run) {
  return home / "locks" / fmt::format("run-{}.status", run);
}

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Not flushed to the disk: after a crash there is no run to tell of, and waiting for a disk would disturb
// timings.
void replace_file(const fs::path& file, const std::string& text) {
  const fs::path fresh = file.string() + ".new";
  {
    Fd fd(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!fd.valid() || ::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return;
  }
  std::error_code ignored;
  fs::rename(fresh, file, ignored);
}

}  // namespace

LiveStatusFile::LiveStatusFile(const fs::path& home, std::string_view run) : file_(file_of(home, run)) {}

LiveStatusFile::~LiveStatusFile() {
  std::error_code ignored;
  fs::remove(file_, ignored);
  fs::remove(file_.string() + ".new", ignored);
}

void LiveStatusFile::tell(const LiveStatus& status, bool new_stage) {
  std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (!new_stage && now - written_ < kEvery) return;
  written_ = now;
  replace_file(file_, nlohmann::json{{"stage", status.stage},
                                     {"detail", status.detail},
                                     {"fraction", status.fraction},
                                     {"searching", status.searching},
                                     {"clock", status.clock},
                                     {"at", now_seconds()}}
                          .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::optional<LiveStatus> live_status(const fs::path& home, std::string_view run) {
  constexpr std::size_t kMost = 16 << 10;
  auto text = read_file(file_of(home, run), kMost);
  if (!text) return std::nullopt;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  auto word = [&](const char* name) {
    return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : std::string();
  };
  auto number = [&](const char* name) {
    return json.contains(name) && json[name].is_number() ? json[name].get<double>() : 0.0;
  };
  if (!json.is_object()) return std::nullopt;
  LiveStatus status{word("stage"), word("detail"), number("fraction"), false, number("clock")};
  status.searching = json.contains("searching") && json["searching"] == true;
  status.age = std::max(0.0, now_seconds() - number("at"));
  return status;
}

}  // namespace kforge
