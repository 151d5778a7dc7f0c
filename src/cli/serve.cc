// kforge serve: the store as pages, live.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <mutex>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "serve/mcp_route.h"
#include "serve/site.h"
#include "store/store.h"

namespace kforge {
namespace {

struct ServeArguments {
  serve::Server::Settings settings{.port = 8765};
  std::string root = ".";
  bool open = false;
};

// A token that stays the same from one start to the next, for hosts that have it in their settings.
Result<std::string> token_of_environment() {
  constexpr std::size_t kShortest = 16;
  const char* given = std::getenv("KFORGE_TOKEN");
  if (!given || !*given) return std::string();
  const std::string token = given;
  const bool plain = token.find_first_not_of(
                         "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") == token.npos;
  if (token.size() < kShortest || !plain)
    return fail_with_remedy("`openssl rand -hex 16` makes one",
                            fmt::format("KFORGE_TOKEN must have {} or more letters and digits", kShortest));
  return token;
}

// Opens a page with what there is. It is not waited for: some browsers stay until they are closed.
constexpr const char* kOpenPage = R"sh(
if command -v xdg-open >/dev/null 2>&1; then set -- xdg-open "$1"
elif [ -n "$BROWSER" ] && command -v "$BROWSER" >/dev/null 2>&1; then set -- "$BROWSER" "$1"
else
  echo "kforge: no browser was opened: there is no xdg-open, and BROWSER names no program; open the link above" >&2
  exit 0
fi
("$@" >/dev/null 2>&1 || echo "kforge: $1 could not open a browser; open the link above" >&2) &
)sh";

// The token must not stand among the arguments of a process, where every user of the machine reads it: the
// browser gets a file that only its owner can read and that leads on. The file goes with the server.
class OpenedPage {
 public:
  OpenedPage() = default;
  OpenedPage(const OpenedPage&) = delete;
  OpenedPage& operator=(const OpenedPage&) = delete;
  ~OpenedPage() {
    std::error_code ignored;
    if (!file_.empty()) fs::remove(file_, ignored);
  }

  Result<void> open(const std::string& link) {
    KF_TRY(fs::path home, kforge_home());
    file_ = fs::absolute(home) / "open-page.html";
    KF_TRY_VOID(write_file_atomic(
        file_, fmt::format("<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0;url={}\">\n", link),
        0600));
    // In a session of its own: Ctrl-C here does not end a browser there.
    std::string words[] = {"sh", "-c", kOpenPage, "sh", file_.string()};
    char* argv[] = {words[0].data(), words[1].data(), words[2].data(),
                    words[3].data(), words[4].data(), nullptr};
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    pid_t shell = 0;
    const int error = ::posix_spawn(&shell, "/bin/sh", nullptr, &attributes, argv, environ);
    ::posix_spawnattr_destroy(&attributes);
    if (error != 0) return fail("cannot start a browser: {}", std::strerror(error));
    ::waitpid(shell, nullptr, 0);
    return {};
  }

 private:
  fs::path file_;
};

Result<void> serve_pages(ServeArguments& arguments) {
  KF_TRY(Store store, Store::open());  // what is wrong with it is said here, and not by every page
  KF_TRY(arguments.settings.token, token_of_environment());
  KF_TRY(fs::path home, kforge_home());
  KF_TRY(const mcp::OwnProgram own, mcp::OwnProgram::here(arguments.root));
  // What the requests are answered from outlives the server.
  serve::Site site(own);
  std::optional<serve::JobBook> jobs;
  if (!arguments.settings.read_only) site.jobs = &jobs.emplace(own, home);
  serve::Assistants assistants(own, home);
  KF_TRY(auto server, serve::Server::bind(arguments.settings));
  serve::mount_site(*server, site);
  assistants.mount(*server);
  std::signal(SIGPIPE, SIG_IGN);
  const std::stop_token stop = stop_on_interrupt();
  stop_gently("stopping the server");
  server->start();
  const serve::Guard& guard = server->guard();
  fmt::print("{}\n", guard.origin());
  const bool only_looks = guard.read_only() && serve::is_loopback(arguments.settings.address);
  if (only_looks)
    fmt::print("  read-only: nothing can be started from its pages\n");
  else
    fmt::print("  to start and stop things from its pages, open  {}\n", guard.login_link());
  fmt::print("  Ctrl-C ends it\n");
  std::fflush(stdout);
  OpenedPage browser;
  if (arguments.open)
    if (auto opened = browser.open(only_looks ? guard.origin() + "/" : guard.login_link()); !opened)
      fmt::print(stderr, "kforge: {}\n", opened.error().text());
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait(lock, stop, [] { return false; });
  server->stop();
  return {};
}

}  // namespace

void declare_serve(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<ServeArguments>();
  add_number(command, "--port", arguments->settings.port, 0, 65535, "where it listens; 0: any that is free");
  add_value(command, "--address", arguments->settings.address, "IP",
            "address it listens on; any but this machine's own asks every visitor for the token");
  add_value(command, "--root", arguments->root, "DIR",
            "folder that paths in calls of assistants (/mcp) are relative to and may not leave");
  command.add_flag("--open", arguments->open, "open a browser on it");
  command.add_flag("--read-only", arguments->settings.read_only, "only show; start and stop nothing");
  command.footer("Such as:  kforge serve --open\nExit code: 130 after Ctrl-C, 2 something is in the way.");
  command.callback([arguments, &exit_code] {
    auto served = serve_pages(*arguments);
    exit_code = served ? kExitInterrupted : report_error(served.error(), false);
  });
}

}  // namespace kforge
