#include "run/native.h"

namespace kforge {

Result<NativeProgram> stage_native(std::string name, const fs::path& artefact, SandboxTier tier) {
  NativeProgram program;
  KF_TRY(program.staged, TempDir::create(0755));
  KF_TRY(fs::path runner, helper_program("kforge-runner"));
  // Copies: the unprivileged uid can read neither KForge's home nor, perhaps, the folder of its binaries.
  fs::path runner_copy = program.staged.path() / "kforge-runner",
           library = program.staged.path() / "kernel.so";
  for (const auto& [from, to] : {std::pair{runner, runner_copy}, std::pair{artefact, library}}) {
    std::error_code error;
    fs::copy_file(from, to, error);
    if (!error) fs::permissions(to, fs::perms(0755), error);
    if (error) return fail("cannot copy {} to {}: {}", from.string(), to.string(), error.message());
  }

  ContenderSpec& spec = program.spec;
  spec.name = std::move(name);
  spec.argv = {runner_copy.string(), library.string()};
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

}  // namespace kforge
