// kforge serve: the store as pages, live.
#include <CLI/CLI.hpp>
#include <csignal>

#include "base/environment.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "serve/site.h"
#include "store/store.h"

namespace kforge {
namespace {

struct ServeArguments {
  serve::Server::Settings settings{.port = 8765};
  bool open = false;
};

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

Result<void> serve_pages(const ServeArguments& arguments) {
  KF_TRY(Store store, Store::open());  // what is wrong with it is said here, and not by every page
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) return fail("cannot find the program itself: {}", error.message());
  KF_TRY(fs::path home, kforge_home());
  const mcp::OwnProgram own(program, fs::current_path());
  serve::Site site(own);
  std::optional<serve::JobBook> jobs;
  if (!arguments.settings.read_only) site.jobs = &jobs.emplace(own, home);
  KF_TRY(auto server, serve::Server::bind(arguments.settings));
  serve::mount_site(*server, site);
  std::signal(SIGPIPE, SIG_IGN);
  clean_up_on_interrupt();
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
  for (;;) std::this_thread::sleep_for(std::chrono::hours(24));  // until the signal
}

}  // namespace

void declare_serve(CLI::App& command, int& exit_code) {
  auto arguments = std::make_shared<ServeArguments>();
  add_number(command, "--port", arguments->settings.port, 0, 65535, "where it listens; 0: any that is free");
  add_value(command, "--address", arguments->settings.address, "IP",
            "address it listens on; any but this machine's own asks every visitor for the token");
  command.add_flag("--open", arguments->open, "open a browser on it");
  command.add_flag("--read-only", arguments->settings.read_only, "only show; start and stop nothing");
  command.footer("Such as:  kforge serve --open\nExit code: 130 after Ctrl-C, 2 something is in the way.");
  command.callback([arguments, &exit_code] {
    auto served = serve_pages(*arguments);
    exit_code = served ? kExitPassed : report_error(served.error(), false);
  });
}

}  // namespace kforge
