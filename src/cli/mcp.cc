// kforge mcp: the Model Context Protocol over standard input and output.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstring>

#include "base/fd.h"
#include "base/files.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "mcp/server.h"
#include "mcp/tools.h"

namespace kforge {
namespace {

constexpr std::size_t kLongestLine = std::size_t{16} << 20;
constexpr std::size_t kMostCalls = 8;  // at once

// Lines of standard input; false at its end. A line that is too long is given in part, which is no JSON.
class LineReader {
 public:
  bool next(std::string& line) {
    line.clear();
    for (;;) {
      const std::size_t end = buffer_.find('\n');
      if (end != std::string::npos || buffer_.size() > kLongestLine) {
        line = buffer_.substr(0, end);
        buffer_.erase(0, end == std::string::npos ? end : end + 1);
        return true;
      }
      char piece[1 << 16];
      const ssize_t n = ::read(STDIN_FILENO, piece, sizeof piece);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      buffer_.append(piece, static_cast<std::size_t>(n));
    }
  }

 private:
  std::string buffer_;
};

Result<void> serve(const std::string& root) {
  KF_TRY(const mcp::OwnProgram own, mcp::OwnProgram::here(root));
  KF_TRY(fs::path home, kforge_home());
  // Only the protocol's lines may reach the client: whatever else prints does so on standard error.
  Fd protocol(::dup(STDOUT_FILENO));
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  std::signal(SIGPIPE, SIG_IGN);
  mcp::LineWriter writer(protocol.get());
  mcp::Jobs jobs(own, home / "mcp");
  mcp::WritingSessions sessions(own, jobs);
  const std::vector<mcp::Tool> tools = mcp::all_tools(own, jobs, sessions);
  mcp::CallSlots slots(kMostCalls);
  mcp::Server server(tools, mcp::Resources(own), slots);
  const mcp::Outlet outlet{.send = [&writer](std::string line) { (void)writer.write(std::move(line)); }};
  LineReader reader;
  for (std::string line; reader.next(line);)
    if (!line.empty() && line != "\r") server.receive(line, outlet);
  return {};  // the client is gone: calls and jobs end with what they have
}

}  // namespace

void declare_mcp(CLI::App& command, int& exit_code) {
  auto root = std::make_shared<std::string>(".");
  add_value(command, "--root", *root, "DIR", "folder that paths are relative to and may not leave");
  command.footer(
      "Started by an assistant (docs/mcp.md has the lines to paste), not by hand: it reads JSON-RPC, one "
      "message a "
      "line, and ends when its input does.");
  command.callback([root, &exit_code] {
    auto served = serve(*root);
    exit_code = served ? kExitPassed : report_error(served.error(), false);
  });
}

}  // namespace kforge
