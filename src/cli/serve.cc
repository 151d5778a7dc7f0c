// kforge serve: the store as pages, live.
#include <CLI/CLI.hpp>
#include <condition_variable>
#include <csignal>
#include <mutex>

#include "base/environment.h"
#include "base/files.h"
#include "base/subprocess.h"
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

// The token must not stand among the arguments of a process, where every user of the machine reads it: the
// browser gets a file that only its owner can read and that leads on.
Result<void> open_browser(const std::string& link) {
  KF_TRY(fs::path home, kforge_home());
  const fs::path file = home / "open-page.html";
  KF_TRY_VOID(write_file_atomic(
      file, fmt::format("<!DOCTYPE html><meta http-equiv=\"refresh\" content=\"0;url={}\">\n", link), 0600));
  Command command;
  command.argv = {"xdg-open", file.string()};
  command.env = whole_environment();
  KF_TRY(Finished done, run_command(command));
  if (!done.ok()) return fail("xdg-open could not open a browser");
  return {};
}

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
  stop_gently();
  server->start();
  const serve::Guard& guard = server->guard();
  fmt::print("{}\n", guard.origin());
  if (guard.read_only() && serve::is_loopback(arguments.settings.address))
    fmt::print("  read-only: nothing can be started from its pages\n");
  else
    fmt::print("  to start and stop things from its pages, open  {}\n", guard.login_link());
  fmt::print("  Ctrl-C ends it\n");
  std::fflush(stdout);
  if (arguments.open)
    if (auto opened = open_browser(guard.login_link()); !opened)
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
