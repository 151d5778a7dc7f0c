#include "base/lock_holder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sstream>

#include "base/fd.h"
#include "base/files.h"

namespace kforge {
namespace {

// In ticks since the machine was started: with the number it names a process for good.
std::optional<std::uint64_t> start_of(pid_t pid) {
  constexpr int kStart = 22;  // field of /proc/PID/stat, from 1; the name before the third may hold spaces
  auto text = read_file(fmt::format("/proc/{}/stat", pid), 4096);
  if (!text || text->rfind(')') == text->npos) return std::nullopt;
  std::istringstream fields(text->substr(text->rfind(')') + 1));
  std::string word;
  for (int field = 3; field < kStart; ++field) fields >> word;
  std::uint64_t ticks = 0;
  return fields >> ticks ? std::optional(ticks) : std::nullopt;
}

bool is_of_this_user(pid_t pid) {
  struct stat info {};
  return ::stat(fmt::format("/proc/{}", pid).c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

// Of the process that holds the lock; not valid: it is not known.
Fd holder_of(const fs::path& file) {
  auto text = read_file(file, 100);
  if (!text || !FileLock::held(file)) return Fd();
  std::istringstream words(*text);
  long number = 0;
  std::uint64_t began = 0;
  if (!(words >> number >> began) || number <= 1) return Fd();
  const auto pid = static_cast<pid_t>(number);
  // First the handle, then the questions: what they are answered for cannot become another process.
  // By number: the header of this C library declares the functions for C only.
  Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process.valid() || pid == ::getpid() || start_of(pid) != began || !is_of_this_user(pid)) return Fd();
  return process;
}

}  // namespace

void note_lock_holder(const fs::path& file) {
  const auto began = start_of(::getpid());
  Fd fd(::open(file.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOFOLLOW));
  if (!began || !fd.valid()) return;
  const std::string text = fmt::format("{} {}\n", ::getpid(), *began);
  (void)!::write(fd.get(), text.data(), text.size());
}

bool knows_lock_holder(const fs::path& file) { return holder_of(file).valid(); }

Result<void> interrupt_lock_holder(const fs::path& file) {
  if (!FileLock::held(file)) return fail("no process works on it any more");
  const Fd process = holder_of(file);
  if (!process.valid())
    return fail_with_remedy("press Ctrl-C where it was started",
                            "the process that works on it is not of this user, this machine or this version");
  if (::syscall(SYS_pidfd_send_signal, process.get(), SIGINT, nullptr, 0) != 0)
    return fail("cannot interrupt the process that works on it: {}", std::strerror(errno));
  return {};
}

}  // namespace kforge
