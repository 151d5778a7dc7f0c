// Is what a platform needs here? A program that answers, a library, a device, an emulator.
#include <filesystem>
#include <map>
#include <mutex>

#include "base/files.h"
#include "platform/platform.h"
#include "platform/programs.h"

namespace kforge {
namespace {

using State = Readiness::State;

constexpr auto kAnswerLimit = std::chrono::seconds(10);
constexpr const char* kCudaLibrary = "libcuda.so.1";

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// Drivers talk before they fail; what failed stands last.
std::string last_words(const SandboxExit& exit) {
  std::string text = exit.err.empty() ? exit.out : exit.err;
  while (text.ends_with('\n')) text.pop_back();
  if (text.empty()) return exit.signal ? fmt::format("signal {}", exit.signal) : "it said nothing";
  return text.substr(text.rfind('\n') + 1);
}

// Whether the library's file is where the loader looks, or in a folder the platform names. It is not loaded:
// a driver may crash, or start threads.
bool library_present(const Platform& platform, const std::string& library) {
  if (library.find('/') != std::string::npos) return fs::exists(library);
  std::vector<fs::path> folders = {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64",
                                   "/usr/lib", "/usr/local/lib"};
  for (const fs::path& read : platform.sandbox.read)
    folders.insert(folders.end(), {read, read / "lib", read / "lib64"});
  folders.insert(folders.end(), {"/usr/lib/wsl/lib", "/usr/local/cuda/compat"});
  for (const fs::path& folder : folders)
    if (fs::exists(folder / library)) return true;
  return false;
}

// The command inside the sandbox, with what programs of the platform may see there: a compiler that only
// works outside is of no use.
Result<SandboxExit> ask(const Platform& platform, const std::vector<std::string>& argv) {
  std::optional<fs::path> program = argv[0];
  if (!program->is_absolute()) program = find_program(argv[0], platform.sandbox.read);
  if (!program) return fail("{} is not installed below /usr, nor in a folder of 'sandbox.read'", argv[0]);
  KF_TRY(SandboxTier tier, strongest_tier());
  // A driver keeps files while it runs.
  std::optional<TempDir> scratch;
  if (tier != SandboxTier::kBubblewrap) {
    KF_TRY(scratch, TempDir::create(0755));
  }
  SandboxSpec spec;
  spec.profile = SandboxProfile::kDriver;
  spec.argv = argv;
  spec.argv[0] = program->string();
  if (scratch) spec.writable = scratch->path();
  spec.readable = platform.readable();
  spec.env = platform.sandbox.env;
  spec.env.emplace("PATH", "/usr/bin:/bin");
  spec.limits.wall = kAnswerLimit;
  spec.limits.cpu_seconds = 10;
  spec.limits.reserves_addresses = platform.sandbox.reserves_addresses;
  KF_TRY(auto process, start_sandboxed(spec, tier));
  return process->wait();
}

Readiness missing(const Platform& platform, std::string reason, const std::string& other_remedy = "") {
  return {State::kMissing, std::move(reason),
          platform.probe.remedy.empty() ? other_remedy : platform.probe.remedy};
}

// What the command says of itself, or why there is nothing to hear.
std::expected<std::string, Readiness> answer_of(const Platform& platform,
                                                const std::vector<std::string>& argv) {
  auto exit = ask(platform, argv);
  if (!exit) return std::unexpected(missing(platform, exit.error().message, exit.error().remedy));
  if (exit->wall_exceeded)
    return std::unexpected(missing(platform, fmt::format("{} did not answer within 10 s", argv[0])));
  if (exit->exit_code != 0 || exit->signal != 0)
    return std::unexpected(missing(
        platform, fmt::format("{} failed: {}", fs::path(argv[0]).filename().string(), last_words(*exit))));
  return first_line(exit->out.empty() ? exit->err : exit->out);
}

// The device is opened, inside the sandbox: a library with no driver behind it is not ready.
Readiness open_device_of(const Platform& platform) {
  auto program = helper_program("kforge-device");
  if (!program) return missing(platform, program.error().message, program.error().remedy);
  auto said = answer_of(platform, {program->string(), "--probe", std::string(name_of(*platform.run.driver))});
  if (!said) return said.error();
  auto facts = facts_from_json(*said);
  if (!facts) return missing(platform, facts.error().message);
  return {State::kReady, facts->text(), "", *facts};
}

// Of a platform with an emulator: its device, opened once in a process, or why there is none.
Readiness device_or_none(const Platform& platform) {
  static std::mutex mutex;
  static std::map<std::string, Readiness> known;
  std::lock_guard lock(mutex);
  const std::string key = platform.folder.string() + platform.content_hash;
  if (auto found = known.find(key); found != known.end()) return found->second;
  Readiness found;
#if defined(__APPLE__)
  const bool possible = platform.run.driver == DeviceDriver::kMetal;
  found.reason = "CUDA has no driver on macOS";
#else
  const bool possible = platform.run.driver == DeviceDriver::kCuda && library_present(platform, kCudaLibrary);
  found.reason = platform.run.driver == DeviceDriver::kCuda ? fmt::format("there is no {}", kCudaLibrary)
                                                            : "Metal is there on macOS only";
#endif
  if (possible) found = open_device_of(platform);
  return known.emplace(key, std::move(found)).first->second;
}

// What runs or builds the programs of a command platform, where it is a program of this machine.
std::optional<std::string> command_missing(const Platform& platform) {
  for (const auto* argv : {&platform.build.argv, &platform.run.command}) {
    if (argv->empty() || argv->front().find('$') != std::string::npos) continue;
    if (!find_program(argv->front(), platform.sandbox.read))
      return fmt::format("{} is not installed below /usr, nor in a folder of 'sandbox.read'", argv->front());
  }
  return std::nullopt;
}

}  // namespace

bool Platform::emulates_device() const {
  return has_emulator() && device_or_none(*this).state != State::kReady;
}

Readiness probe_platform(const Platform& platform) {
  for (const fs::path& path : platform.readable())
    if (!fs::exists(path))
      return missing(platform, fmt::format("there is no {} (named in [sandbox])", path.string()));
  // What the emulator needs is not asked of who has the device.
  if (platform.has_emulator() && !platform.emulates_device()) return device_or_none(platform);
  if (!platform.probe.library.empty() && !library_present(platform, platform.probe.library))
    return missing(platform, fmt::format("library {} is not installed", platform.probe.library));
  std::string answer = "ready";
  if (!platform.probe.argv.empty()) {
    auto said = answer_of(platform, platform.probe.argv);
    if (!said) return said.error();
    answer = *said;
  }
  for (const Compiler& compiler : platform.build.compilers) {
    if (&compiler != &platform.build.compilers.front()) break;  // the others are the candidate's choice
    if (!find_program(compiler.name, platform.sandbox.read))
      return missing(platform, fmt::format("no compiler {} below /usr, nor in a folder of 'sandbox.read'",
                                           compiler.name));
  }
  if (platform.has_emulator())
    return {State::kEmulated,
            fmt::format("KForge's emulator, {}; no device: {}", answer, device_or_none(platform).reason), ""};
  if (platform.kind == PlatformKind::kDevice) return open_device_of(platform);
  if (platform.kind == PlatformKind::kCommand) {
    if (auto why = command_missing(platform)) return missing(platform, *why);
    const std::string& word = platform.probe.emulated;
    const bool timed = word.empty() || answer.find(word) == std::string::npos;
    return {timed ? State::kReady : State::kEmulated, answer, ""};
  }
  if (!platform.emulated()) return {State::kReady, answer, ""};
  const std::vector<std::string>& prefix = platform.prefix_here();
  if (prefix.empty())
    return missing(platform,
                   fmt::format("programs for {} do not run on this machine, and 'run.prefix' names no "
                               "emulator",
                               platform.run.machine));
  auto said = answer_of(platform, {prefix[0], "--version"});
  if (!said) return said.error();
  return {State::kEmulated, *said, ""};
}

Result<DeviceFacts> device_facts(const Platform& platform) {
  static std::mutex mutex;
  static std::map<std::string, DeviceFacts> known;
  std::lock_guard lock(mutex);
  const std::string key = platform.folder.string() + platform.content_hash;
  if (auto found = known.find(key); found != known.end()) return found->second;
  Readiness readiness = probe_platform(platform);
  if (!readiness.device)
    return fail_with_remedy(readiness.remedy, fmt::format("platform {} is missing something: {}",
                                                          platform.name, readiness.reason));
  return known.emplace(key, *readiness.device).first->second;
}

}  // namespace kforge
