#include "import/bridge.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>

#include "base/memory.h"
#include "base/text.h"

namespace kforge {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kLargestSource = 4 << 20;
constexpr std::size_t kLargestAnswer = 64 << 20;
constexpr std::uint64_t kLargestFile = 4ull << 30;

// One line, or why there is none.
std::expected<std::string, BridgeFailure> read_line(int fd, std::string& unread, Clock::time_point deadline) {
  for (;;) {
    if (std::size_t end = unread.find('\n'); end != std::string::npos) {
      std::string line = unread.substr(0, end);
      unread.erase(0, end + 1);
      return line;
    }
    if (unread.size() > kLargestAnswer) return std::unexpected(BridgeFailure{"", "died"});
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return std::unexpected(BridgeFailure{"", "hung"});
    pollfd ready{fd, POLLIN, 0};
    int count = ::poll(&ready, 1, static_cast<int>(std::min<long>(left, 1000)));
    if (count < 0 && errno != EINTR) return std::unexpected(BridgeFailure{"", "died"});
    if (count <= 0) continue;
    char buffer[65536];
    ssize_t got = ::read(fd, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::unexpected(BridgeFailure{"", "died"});
    unread.append(buffer, static_cast<std::size_t>(got));
  }
}

// Of the innermost frame of the user's file in what Python said of a stack: `File "PATH", line 7 in forward`.
int line_in(std::string_view said, const std::string& source) {
  const std::string words = fmt::format("File \"{}\", line ", source);
  const std::size_t at = said.find(words);
  int line = 0;
  if (at != said.npos) std::from_chars(said.data() + at + words.size(), said.data() + said.size(), line);
  return line;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    ssize_t done = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

}  // namespace

bool BridgeFailure::whatever_the_sizes() const {
  static const std::set<std::string> kKinds = {"SyntaxError",
                                               "IndentationError",
                                               "ImportError",
                                               "NameError",
                                               "ModuleNotFoundError",
                                               "AttributeError",
                                               "URLError",
                                               "ConnectionError",
                                               "hung",
                                               "gaierror",
                                               "SystemExit",
                                               "HTTPError",
                                               "LocalEntryNotFoundError"};
  return kKinds.contains(kind) || message.find("CUDA") != std::string::npos ||
         message.find("NVIDIA") != std::string::npos;
}

Result<std::unique_ptr<Bridge>> Bridge::open(const PythonFacts& python, const fs::path& source,
                                             SandboxTier tier) {
  std::unique_ptr<Bridge> bridge(new Bridge);
  bridge->python_ = python;
  bridge->shown_ = source;
  bridge->tier_ = tier;
  KF_TRY(std::string text, read_file(source, kLargestSource));
  KF_TRY(bridge->root_, TempDir::create(0755));
  bridge->source_ = bridge->root_.path() / "source.py";
  bridge->writable_ = bridge->root_.path() / "work";
  KF_TRY_VOID(write_scratch_file(bridge->source_, text));
  std::error_code error;
  fs::permissions(bridge->source_, fs::perms(0644), error);
  fs::create_directory(bridge->writable_, error);
  if (!error) fs::permissions(bridge->writable_, fs::perms(0755), error);
  bridge->given_ = bridge->root_.path() / "given";
  if (!error) fs::create_directory(bridge->given_, error);
  if (!error) fs::permissions(bridge->given_, fs::perms(0755), error);
  if (error) return fail("cannot create folders in {}: {}", bridge->root_.path().string(), error.message());
  return bridge;
}

void Bridge::drop(const std::string& name) const {
  std::error_code ignored;
  fs::remove(writable_ / name, ignored);  // a link is removed, not followed
}

Result<void> Bridge::give(const std::string& name, std::string_view content) const {
  KF_TRY_VOID(write_scratch_file(given_ / name, content));
  std::error_code error;
  fs::permissions(given_ / name, fs::perms(0644), error);
  if (error) return fail("cannot write {}: {}", (given_ / name).string(), error.message());
  return {};
}

Bridge::~Bridge() {
  channel_.reset();
  if (process_) process_->kill();
}

Result<void> Bridge::start() {
  KF_TRY(fs::path data, data_root());
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
    return fail("cannot make a channel to Python: {}", std::strerror(errno));
  Fd ours(pair[0]), theirs(pair[1]);
  SandboxSpec spec;
  spec.profile = SandboxProfile::kDriver;  // PyTorch makes code of its own
  // -B: nothing is written beside the sources.
  spec.argv = {python_.python.string(), "-B", (data / "python" / "kforge_bridge_main.py").string(),
               source_.string()};
  spec.readable = python_.folders_outside_usr();
  spec.readable.push_back(data / "python");
  spec.readable.push_back(source_);
  spec.readable.push_back(given_);
  spec.writable = writable_;
  spec.env = {{"PATH", "/usr/bin:/bin"},      {"LC_ALL", "C.UTF-8"},        {"HOME", writable_.string()},
              {"PYTHONHASHSEED", "0"},        {"CUDA_VISIBLE_DEVICES", ""}, {"HF_HUB_OFFLINE", "1"},
              {"OMP_WAIT_POLICY", "PASSIVE"}, {"TRITON_INTERPRET", "1"},    {"PYTHONWARNINGS", "ignore"}};
  spec.fds = {theirs.get()};
  spec.limits.wall = std::chrono::hours(4);  // every request has a limit of its own
  spec.limits.cpu_seconds = 8 * 3600;
  spec.limits.memory_bytes = std::max<std::uint64_t>(physical_memory() / 2, 6ull << 30);
  spec.limits.file_bytes = kLargestFile;
  spec.limits.folder_bytes = 2 * kLargestFile;
  spec.limits.processes = 256;
  KF_TRY(process_, start_sandboxed(spec, tier_));
  channel_ = std::move(ours);
  unread_.clear();
  return {};
}

BridgeFailure Bridge::ended(bool hung) {
  BridgeFailure failure{"", hung ? "hung" : "died"};
  channel_.reset();
  if (hung) {
    failure.message = "it did not come to an end";
    process_->kill();
    if (auto exit = process_->wait()) failure.line = line_in(exit->err, source_.string());
  } else if (auto exit = process_->wait()) {
    std::string_view said = trimmed(exit->err);
    if (said.size() > 300) said.remove_prefix(said.size() - 300);
    if (exit->signal == SIGKILL || exit->folder_exceeded)
      failure.message = "it was ended: it took more memory or disk than it may have";
    else if (exit->signal != 0)
      failure.message = fmt::format("it was ended by signal {} ({})", exit->signal, strsignal(exit->signal));
    else
      failure.message = fmt::format("it ended with code {}: {}", exit->exit_code, said);
  } else {
    failure.message = exit.error().message;
  }
  process_.reset();
  return failure;
}

std::expected<json, BridgeFailure> Bridge::ask(json request, std::chrono::seconds limit) {
  if (!process_)
    if (auto started = start(); !started)
      return std::unexpected(BridgeFailure{started.error().message, "died"});
  request["limit"] = limit.count();
  if (!write_all(channel_.get(), request.dump() + "\n")) return std::unexpected(ended(false));
  auto line = read_line(channel_.get(), unread_, Clock::now() + limit);
  if (!line) return std::unexpected(ended(line.error().kind == "hung"));
  json answer = json::parse(*line, nullptr, false);
  if (!answer.is_object()) return std::unexpected(BridgeFailure{"it answered with something else", "died"});
  if (!answer.contains("error")) return answer;
  BridgeFailure failure;
  failure.message =
      answer["error"].is_string() ? answer["error"].get<std::string>() : "an error without words";
  failure.kind = answer.value("kind", "");
  failure.line = answer.value("line", 0);
  return std::unexpected(failure);
}

Error Bridge::error(const BridgeFailure& failure) const {
  std::string where =
      failure.line > 0 ? fmt::format("{}:{}", shown_.string(), failure.line) : shown_.string();
  auto says = [&](std::string_view words) { return failure.message.find(words) != std::string::npos; };
  Error error{fmt::format("{}: {}", where, printable(failure.message)), ""};
  if (failure.kind == "ModuleNotFoundError" || failure.kind == "ImportError")
    error.remedy = fmt::format("install the package for {}, or name a Python that has it with --python",
                               python_.python.string());
  else if (failure.kind == "AttributeError" && says("module 'torch"))
    error.remedy = fmt::format(
        "{} has PyTorch {}, which does not have it; name a newer one with --python (KFORGE_TORCH2=1 "
        "scripts/setup.sh platforms installs one)",
        python_.python.string(), python_.versions.at("torch"));
  else if (says("is closed to other users"))
    error.remedy =
        "make the environment from a Python that every user can read (/usr/bin/python3 -m venv DIR), or give "
        "--no-sandbox";
  else if (says("CUDA") || says("NVIDIA") || says("cuda"))
    error.remedy =
        "the module is run on the processor: let it make its tensors there (no .cuda(), no device=\"cuda\")";
  else if (failure.kind == "URLError" || failure.kind == "ConnectionError" || failure.kind == "gaierror" ||
           says("name resolution") || says("huggingface") || says("Network is unreachable"))
    error.remedy = "the file runs without a network: weights cannot be downloaded";
  else if (says("allocate memory") || says("MemoryError") || says("more memory"))
    error.remedy = "smaller sizes need less: --set NAME=NUMBER, or --fit 50ms";
  else if (failure.kind == "hung")
    error.remedy = "look for a loop without end, or smaller sizes: --set NAME=NUMBER";
  return error;
}

}  // namespace kforge
