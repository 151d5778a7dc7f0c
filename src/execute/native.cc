#include "execute/native.h"

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

Result<NativeProgram> stage_runner(std::string name, SandboxTier tier) {
  NativeProgram program;
  KF_TRY(program.staged, TempDir::create(0755));
  KF_TRY(fs::path runner, helper_program("kforge-runner"));
  const fs::path runner_copy = program.staged.path() / "kforge-runner";
  KF_TRY_VOID(copy_program(runner, runner_copy));

  KF_TRY(fs::path guarded, helper_program("kforge-runner-guarded"));
  const fs::path guarded_copy = program.staged.path() / "kforge-runner-guarded";
  KF_TRY_VOID(copy_program(guarded, guarded_copy));

  ProgramSpec& spec = program.spec;
  spec.guarded = guarded_copy.string();
  spec.name = std::move(name);
  spec.argv = {runner_copy.string(), (program.staged.path() / kLibrary).string()};
  spec.readable = {program.staged.path()};
  spec.profile = SandboxProfile::kNative;
  spec.tier = tier;
  if (tier != SandboxTier::kNone) {
    KF_TRY(program.load_filter, load_filter());
    KF_TRY(program.run_filter, run_filter());
    spec.argv.insert(spec.argv.end(), {"--load-filter", "4", "--run-filter", "5"});
    spec.extra_fds = {program.load_filter.get(), program.run_filter.get()};
  }
  return program;
}

Result<void> place_artefact(const NativeProgram& program, const fs::path& artefact) {
  return copy_program(artefact, program.staged.path() / kLibrary);
}

Result<NativeProgram> stage_native(std::string name, const fs::path& artefact, SandboxTier tier) {
  KF_TRY(NativeProgram program, stage_runner(std::move(name), tier));
  KF_TRY_VOID(place_artefact(program, artefact));
  return program;
}

}  // namespace kforge
