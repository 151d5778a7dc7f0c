#include "execute/staged_program.h"

#include "platform/programs.h"

namespace kforge {

namespace {

constexpr const char* kLibrary = "kernel.so";

// A copy: the unprivileged uid can read neither KForge's home nor, perhaps, the folder of its binaries.
Result<void> copy_program(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy_file(from, to, error);
  if (!error) fs::permissions(to, fs::perms(0755), error);
  if (error) return fail("cannot copy {} to {}: {}", from.string(), to.string(), error.message());
  return {};
}

}  // namespace

Result<RunSetting> run_setting(const Platform& platform) {
  RunSetting setting;
  setting.profile = platform.sandbox.profile;
  setting.readable = platform.readable();
  setting.env = platform.sandbox.env;
  setting.prefix = platform.prefix_here();
  if (platform.emulates_device()) {
    setting.profile = SandboxProfile::kNative;  // what runs is a library that makes no code
    KF_TRY(setting.programs, target_programs(platform));
    return setting;
  }
  if (platform.emulated() && setting.prefix.empty())
    return fail_with_remedy(
        platform.probe.remedy,
        fmt::format("programs for {} do not run on this machine, and 'run.prefix' of platform {} "
                    "names no emulator",
                    platform.run.machine, platform.name));
  if (!setting.prefix.empty()) {
    auto program = find_program(setting.prefix[0], platform.sandbox.read);
    if (!program)
      return fail_with_remedy(
          platform.probe.remedy,
          fmt::format("{} ('run.prefix' of platform {}) is not installed below /usr, nor in a "
                      "folder of 'sandbox.read'",
                      setting.prefix[0], platform.name));
    setting.prefix[0] = program->string();
  }
  KF_TRY(setting.programs, target_programs(platform));
  if (platform.kind == PlatformKind::kDevice) {
    // Drivers call compilers and linkers of their own, and have threads of their own where the device is this
    // processor.
    setting.env.emplace("PATH", "/usr/bin:/bin");
    setting.scratch = true;
    setting.reserves_addresses = platform.sandbox.reserves_addresses;
    setting.thread_variables = {"POCL_MAX_PTHREAD_COUNT", "LP_NUM_THREADS"};
  }
  if (platform.kind == PlatformKind::kCommand) {
    setting.env.emplace("PATH", "/usr/bin:/bin");
    setting.scratch = setting.starts_anew = true;
    setting.reserves_addresses = platform.sandbox.reserves_addresses;
  }
  return setting;
}

Result<StagedProgram> stage_runner(std::string name, const RunSetting& setting, SandboxTier tier) {
  StagedProgram program;
  KF_TRY(program.staged, TempDir::create(0755));
  const fs::path runner = program.staged.path() / "kforge-runner";
  const fs::path guarded = program.staged.path() / "kforge-runner-guarded";
  KF_TRY_VOID(copy_program(setting.programs.runner, runner));
  const bool has_guarded = !setting.programs.guarded.empty();
  if (has_guarded) KF_TRY_VOID(copy_program(setting.programs.guarded, guarded));

  ProgramSpec& spec = program.spec;
  spec.name = std::move(name);
  spec.env = setting.env;
  spec.readable = setting.readable;
  spec.readable.push_back(program.staged.path());
  spec.profile = setting.profile;
  spec.tier = tier;
  std::vector<std::string> options = {(program.staged.path() / kLibrary).string()};
  // An emulator cannot install filters for what it emulates, and needs to make code all the time: the profile
  // `driver` is a wall around it and the program together.
  if (tier != SandboxTier::kNone && setting.profile == SandboxProfile::kNative) {
    KF_TRY(program.load_filter, load_filter());
    KF_TRY(program.run_filter, run_filter());
    options.insert(options.end(), {"--load-filter", "4", "--run-filter", "5"});
    spec.extra_fds = {program.load_filter.get(), program.run_filter.get()};
  }
  auto command = [&](const fs::path& loader) {
    std::vector<std::string> argv = setting.prefix;
    argv.push_back(loader.string());
    argv.insert(argv.end(), options.begin(), options.end());
    return argv;
  };
  spec.argv = command(runner);
  if (has_guarded) spec.guarded = command(guarded);
  spec.thread_variables = setting.thread_variables;
  spec.scratch = setting.scratch;
  spec.limits.reserves_addresses = setting.reserves_addresses;
  spec.starts_anew = setting.starts_anew;
  return program;
}

Result<void> place_artefact(const StagedProgram& program, const fs::path& artefact) {
  return copy_program(artefact, program.staged.path() / kLibrary);
}

Result<StagedProgram> stage_program(std::string name, const RunSetting& setting, const fs::path& artefact,
                                    SandboxTier tier) {
  KF_TRY(StagedProgram program, stage_runner(std::move(name), setting, tier));
  KF_TRY_VOID(place_artefact(program, artefact));
  return program;
}

}  // namespace kforge
