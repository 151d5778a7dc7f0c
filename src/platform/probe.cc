// Is what a platform needs here? A program that answers, a library, a device.
#include <filesystem>

#include "base/files.h"
#include "base/subprocess.h"
#include "platform/platform.h"

namespace kforge {
namespace {

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Whether the library's file is where the loader looks. It is not loaded: a driver may crash, or start
// threads.
bool library_present(const std::string& library) {
  if (library.find('/') != std::string::npos) return fs::exists(library);
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"})
    if (fs::exists(fs::path(folder) / library)) return true;
  return false;
}

}  // namespace

Readiness probe_platform(const Platform& platform) {
  const Platform::Probe& probe = platform.probe;
  std::string answer = "ready";
  for (const std::string& device : platform.sandbox.devices)
    if (!fs::exists(device)) return {false, fmt::format("no device {}", device), probe.remedy};
  if (!probe.library.empty() && !library_present(probe.library))
    return {false, fmt::format("library {} is not installed", probe.library), probe.remedy};
  if (!probe.argv.empty()) {
    Command command{.argv = probe.argv, .timeout = std::chrono::milliseconds(10'000)};
    auto finished = run_command(command);
    if (!finished)
      return {false, finished.error().message, probe.remedy.empty() ? finished.error().remedy : probe.remedy};
    if (!finished->ok())
      return {false,
              finished->timed_out
                  ? fmt::format("{} did not answer within 10 s", probe.argv[0])
                  : fmt::format("{} failed: {}", probe.argv[0],
                                first_line(finished->err.empty() ? finished->out : finished->err)),
              probe.remedy};
    answer = first_line(finished->out.empty() ? finished->err : finished->out);
  }
  return {true, answer, ""};
}

}  // namespace kforge
