#include "base/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/fd.h"
#include "base/secrets.h"

namespace kforge {
namespace {

using Clock = std::chrono::steady_clock;

// posix_spawn's attribute objects, freed on every way out.
struct SpawnSettings {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
};

// One output stream of the child: read until nothing is left, kept up to the limit.
struct Stream {
  Fd fd;
  std::string* kept = nullptr;
  std::size_t limit = 0;
  const std::function<void(std::string_view)>* on_line = nullptr;
  std::string begun;  // a line whose end has not come yet

  // Takes what is there now. At the end of the stream (or an error) the descriptor is closed.
  void drain() {
    char buffer[1 << 16];
    while (fd.valid()) {
      ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return fd.reset();
      kept->append(buffer, std::min(static_cast<std::size_t>(n), limit - std::min(limit, kept->size())));
      if (on_line && *on_line) tell({buffer, static_cast<std::size_t>(n)});
    }
  }

  void tell(std::string_view piece) {
    for (std::size_t end; (end = piece.find('\n')) != std::string_view::npos; piece.remove_prefix(end + 1)) {
      begun += piece.substr(0, end);
      (*on_line)(begun);
      begun.clear();
    }
    begun += piece.substr(0, limit - std::min(limit, begun.size()));
  }
};

struct Pipe {
  Fd reader, writer;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail("cannot create a pipe: {}", std::strerror(errno));
  // Only our end may be non-blocking: the flag belongs to the end, and programs expect a blocking stdout.
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

// Standard input comes from a file in memory, so that no pipe has to be fed while the child runs.
Result<Fd> input_file(const std::string& input) {
  if (input.empty()) {
    Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!null.valid()) return fail("cannot open /dev/null: {}", std::strerror(errno));
    return null;
  }
  KF_TRY(Fd file, make_memfd("kforge-stdin", input.size()));
  KF_TRY(Mapping view, Mapping::map(file.get(), input.size(), true));
  std::memcpy(view.data(), input.data(), input.size());
  return file;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (const std::string& text : strings) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

Result<pid_t> spawn(const Command& command, int in, int out, int err) {
  SpawnSettings settings;
  posix_spawn_file_actions_adddup2(&settings.actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&settings.actions, err, STDERR_FILENO);
  if (!command.cwd.empty()) posix_spawn_file_actions_addchdir_np(&settings.actions, command.cwd.c_str());

  // Its own process group, and no signal blocked or ignored just because KForge does so.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setpgroup(&settings.attributes, 0);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &all);
  posix_spawnattr_setflags(&settings.attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<std::string> settings_of_env;
  if (command.env)
    for (const auto& [name, value] : *command.env) settings_of_env.push_back(name + "=" + value);
  else
    settings_of_env = environment_for_children();
  std::vector<std::string> words = command.argv;
  // posix_spawn cannot ask the kernel for this; setpriv (of util-linux, in every Debian) asks and becomes the
  // program.
  if (command.dies_with_us) words.insert(words.begin(), {"setpriv", "--pdeathsig", "KILL", "--"});
  std::vector<char*> argv = pointers(words), env = pointers(settings_of_env);
  pid_t pid = 0;
  int error = ::posix_spawnp(&pid, argv[0], &settings.actions, &settings.attributes, argv.data(), env.data());
  if (error != 0) {
    bool missing = error == ENOENT && (command.cwd.empty() || std::filesystem::is_directory(command.cwd));
    return fail_with_remedy(
        missing ? fmt::format("install {} or add its folder to PATH", command.argv[0]) : "",
        fmt::format("cannot start {}: {}", command.argv[0], std::strerror(error)));
  }
  return pid;
}

// Milliseconds for poll(): rounded up, so that the loop does not spin in the last one.
int wait_ms(Clock::time_point deadline) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<long long>(left, 0, 60'000));
}

// Drains both streams until the child itself has ended or the time is over. A grandchild that keeps the pipes
// open does not keep us waiting: the end of the child is what counts.
void drain_until_end(int pidfd, Stream& out, Stream& err, Clock::time_point deadline, bool& timed_out) {
  for (;;) {
    pollfd polled[] = {{out.fd.get(), POLLIN, 0}, {err.fd.get(), POLLIN, 0}, {pidfd, POLLIN, 0}};
    int ready = ::poll(polled, 3, wait_ms(deadline));
    if (ready < 0 && errno != EINTR) return;
    if (ready > 0) {
      if (polled[0].revents) out.drain();
      if (polled[1].revents) err.drain();
      if (polled[2].revents) break;
    }
    if (Clock::now() >= deadline) {
      timed_out = true;
      return;
    }
  }
  out.drain();
  err.drain();
}

}  // namespace

Result<Finished> run_command(const Command& command) {
  KF_CHECK(!command.argv.empty(), "a command without a program");
  KF_TRY(Fd input, input_file(command.input));
  KF_TRY(Pipe out_pipe, make_pipe());
  KF_TRY(Pipe err_pipe, make_pipe());
  KF_TRY(pid_t pid, spawn(command, input.get(), out_pipe.writer.get(), err_pipe.writer.get()));
  out_pipe.writer.reset();
  err_pipe.writer.reset();

  Finished finished;
  Stream out{std::move(out_pipe.reader), &finished.out, command.output_limit, nullptr, {}};
  Stream err{std::move(err_pipe.reader), &finished.err, command.output_limit, &command.on_error_line, {}};
  // By number: this glibc declares pidfd_open without C linkage.
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (pidfd.valid()) {
    // Not beyond this block: afterwards the number may belong to somebody else.
    std::stop_callback asked(command.stop, [pid] { ::kill(pid, SIGINT); });
    drain_until_end(pidfd.get(), out, err, Clock::now() + command.timeout, finished.timed_out);
  }
  bool watched = pidfd.valid();
  // The leader is not reaped yet, so its group number cannot belong to anybody else.
  if (finished.timed_out || !watched) ::kill(-pid, SIGKILL);

  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!watched) return fail("cannot watch {}: the kernel has no pidfd_open (Linux 5.3)", command.argv[0]);
  out.drain();
  err.drain();
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
  return finished;
}

}  // namespace kforge
