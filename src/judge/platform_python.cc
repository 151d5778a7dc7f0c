#include "judge/platform_python.h"

#include "base/files.h"
#include "base/hash.h"
#include "baseline/python_probe.h"

namespace kforge {
namespace {

constexpr const char* kPython = "python3";

void replace_first(std::vector<std::string>& argv, const std::string& python) {
  if (!argv.empty() && argv[0] == kPython) argv[0] = python;
}

std::optional<PythonFacts> wanted(const Platform& platform, const fs::path& named) {
  auto home = kforge_home();
  if (!home) return std::nullopt;
  if (platform.language != "PyTorch module")
    return named.empty() ? std::nullopt : std::optional(probe_python(named, *home / "cache"));
  auto found = python_with_torch(named);
  return found ? std::optional(*found)
               : std::nullopt;  // without one the platform's own probe tells what is missing
}

}  // namespace

void use_python(Platform& platform, const fs::path& named) {
  if (platform.kind != PlatformKind::kCommand || platform.run.command.empty() ||
      platform.run.command[0] != kPython)
    return;
  auto python = wanted(platform, named);
  if (!python) return;
  for (auto* argv : {&platform.run.command, &platform.build.argv, &platform.probe.argv})
    replace_first(*argv, python->python.string());
  for (const fs::path& folder : python->folders_outside_usr()) platform.sandbox.read.push_back(folder);
  // Programs built for another one are other programs.
  platform.content_hash = Hasher().add(platform.content_hash).add(python->python.string()).hex();
}

}  // namespace kforge
