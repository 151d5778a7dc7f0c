#include "platform/binutils.h"

#include "base/files.h"
#include "platform/programs.h"

namespace kforge {
namespace {

// Of the machine the library is for, else this one's.
std::optional<fs::path> find_tool(const BinutilsCall& call) {
  if (!call.machine.empty())
    if (auto own = find_program(call.machine + "-linux-gnu-" + call.program, call.folders)) return own;
  return find_program(call.program, call.folders);
}

}  // namespace

Result<std::string> ask_binutils(const BinutilsCall& call, const fs::path& library, SandboxTier tier) {
  const auto program = find_tool(call);
  if (!program)
    return fail_with_remedy("apt-get install binutils", fmt::format("{} is not installed", call.program));
  // The build cache is private to the user; inside the sandbox another one reads.
  KF_TRY(TempDir folder, TempDir::create(0755));
  const fs::path copy = folder.path() / "kernel.so";
  std::error_code error;
  fs::copy_file(library, copy, error);
  if (!error) fs::permissions(copy, fs::perms(0644), error);
  if (error) return fail("cannot copy {}: {}", library.string(), error.message());
  SandboxSpec spec;
  spec.profile = SandboxProfile::kCompile;
  spec.argv = {program->string()};
  spec.argv.insert(spec.argv.end(), call.options.begin(), call.options.end());
  spec.argv.push_back(copy.string());
  spec.argv.insert(spec.argv.end(), call.words.begin(), call.words.end());
  spec.readable = call.folders;
  spec.readable.push_back(folder.path());
  spec.env = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}};
  spec.limits.wall = std::chrono::seconds(20);
  spec.limits.cpu_seconds = 20;
  spec.limits.memory_bytes = 2ull << 30;
  spec.limits.output_bytes = call.most_output;
  KF_TRY(auto process, start_sandboxed(spec, tier));
  KF_TRY(SandboxExit exit, process->wait());
  if (exit.exit_code != 0 || exit.signal != 0 || exit.wall_exceeded) return fail("{} failed", call.program);
  return std::move(exit.out);
}

}  // namespace kforge
