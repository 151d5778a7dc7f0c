#include "profile/device/ptxas.h"

#include <charconv>

#include "base/file_cache.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "build/emulated_build.h"
#include "generate/device_program.h"
#include "platform/programs.h"

namespace kforge {
namespace {

constexpr std::size_t kCacheBytes = 16 << 20;
constexpr std::size_t kMostLog = 1 << 20;

// The number that stands before `what`: "Used 32 registers".
double number_before(std::string_view line, std::string_view what) {
  const std::size_t at = line.find(what);
  if (at == line.npos || at == 0) return 0;
  std::size_t end = at;
  while (end > 0 && line[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  double value = 0;
  std::from_chars(line.data() + begin, line.data() + end, value);
  return value;
}

Result<SandboxExit> run_nvcc(const fs::path& nvcc, const Candidate& candidate, const std::string& header,
                             const std::string& architecture, SandboxTier tier) {
  KF_TRY(TempDir root, TempDir::create(0755));
  const fs::path sources = root.path() / "src", output = root.path() / "out";
  std::error_code error;
  fs::create_directory(sources, error);
  fs::create_directory(output, error);
  std::string main;
  for (const SourceFile& file : candidate.files) {
    if (file.name == kPlanFile) continue;
    if (main.empty()) main = file.name;
    fs::create_directories((sources / file.name).parent_path(), error);
    KF_TRY_VOID(write_scratch_file(sources / file.name, file.content));
  }
  KF_TRY_VOID(write_scratch_file(sources / "task.h", header));
  SandboxSpec spec;
  spec.profile = SandboxProfile::kCompile;
  spec.argv = {nvcc.string(),
               "-std=c++20",
               "-arch=" + architecture,
               "-cubin",
               "-Xptxas",
               "-v",
               "-w",
               "-I",
               sources.string(),
               (sources / main).string(),
               "-o",
               (output / "kernel.cubin").string()};
  spec.readable = {sources};
  spec.writable = output;
  spec.env = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}, {"TMPDIR", output.string()}};
  spec.limits.wall = std::chrono::milliseconds(60'000);
  spec.limits.cpu_seconds = 60;
  spec.limits.memory_bytes = 4ull << 30;
  spec.limits.file_bytes = 64 << 20;
  KF_TRY(auto process, start_sandboxed(spec, tier));
  return process->wait();
}

}  // namespace

PtxasKernels parse_ptxas(std::string_view log) {
  PtxasKernels kernels;
  std::string entry;  // of the lines that follow
  bool of_entry = false;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(log.size(), line.size() + 1));
    if (const std::size_t at = line.find("Compiling entry function '"); at != line.npos) {
      const std::string_view rest = line.substr(at + 26);
      entry = rest.substr(0, rest.find('\''));
      continue;
    }
    if (const std::size_t at = line.find("Function properties for "); at != line.npos) {
      of_entry = trimmed(line.substr(at + 24)) == entry;
      continue;
    }
    if (entry.empty()) continue;
    if (of_entry && line.find("bytes stack frame") != line.npos) {
      kernels[entry].stack_bytes = number_before(line, "bytes stack frame");
      kernels[entry].spill_stores = number_before(line, "bytes spill stores");
      kernels[entry].spill_loads = number_before(line, "bytes spill loads");
    }
    if (line.find(" registers") != line.npos) {
      kernels[entry].registers = number_before(line, "registers");
      kernels[entry].shared_bytes = number_before(line, "bytes smem");
    }
  }
  return kernels;
}

Result<PtxasKernels> ptxas_facts(const Candidate& candidate, const BoundTask& task,
                                 const std::string& architecture, SandboxTier tier) {
  auto nvcc = find_program("nvcc");
  if (!nvcc) return fail_with_remedy("install the CUDA toolkit", "nvcc is not installed");
  KF_TRY(auto program, read_device_program(candidate, task, {}));
  if (!program) return fail("the plan cannot be read");
  const std::string header = device_task_header(task, program->macros, false);
  Hasher hasher;
  hasher.add("ptxas 1").add(nvcc->string()).add(architecture).add(header);
  std::error_code error;
  hasher.add(std::to_string(fs::last_write_time(*nvcc, error).time_since_epoch().count()));
  for (const SourceFile& file : candidate.files) hasher.add(file.name).add(file.content);
  KF_TRY(fs::path home, kforge_home());
  FileCache cache(home / "builds" / "ptxas", kCacheBytes);
  const std::string key = hasher.hex();
  if (auto known = cache.load(key)) return parse_ptxas(*known);
  KF_TRY(SandboxExit exit, run_nvcc(*nvcc, candidate, header, architecture, tier));
  if (exit.exit_code != 0 || exit.signal != 0 || exit.wall_exceeded) {
    const std::string_view words = trimmed(exit.err);
    return fail(
        "nvcc does not compile it for {}: {}", architecture,
        words.empty() ? std::string("it said nothing") : std::string(words.substr(0, words.find('\n'))));
  }
  const std::string log = (exit.err + exit.out).substr(0, kMostLog);
  KF_TRY_VOID(cache.store(key, log));
  return parse_ptxas(log);
}

}  // namespace kforge
