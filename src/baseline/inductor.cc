#include "baseline/inductor.h"

#include <unistd.h>

#include "base/files.h"
#include "base/hash.h"
#include "base/subprocess.h"

namespace kforge {
namespace {

constexpr const char* kTryInstructionSets = R"(
from torch._inductor import cpu_vec_isa
cpu_vec_isa.valid_vec_isa_list()
)";

constexpr auto kOpenFolder = fs::perms(0777), kOpenFile = fs::perms(0666);

// The trials are libraries, which are mapped and need no right to be executed.
void open_to_all(const fs::path& folder) {
  std::error_code ignored;
  fs::permissions(folder, kOpenFolder, ignored);
  for (const auto& entry : fs::recursive_directory_iterator(folder, ignored))
    fs::permissions(entry.path(), entry.is_directory(ignored) ? kOpenFolder : kOpenFile, ignored);
}

}  // namespace

Result<fs::path> make_inductor_folder(const fs::path& work, std::span<const int> threads,
                                      const fs::path& seed) {
  const fs::path folder = work / "inductor";
  std::error_code error;
  for (int count : threads) {
    const fs::path own = folder / std::to_string(count);
    if (fs::exists(own, error)) continue;
    fs::create_directories(own, error);
    if (error) return fail("cannot create {}: {}", own.string(), error.message());
    std::error_code ignored;  // without the seed it only takes longer
    if (!seed.empty()) fs::copy(seed, own, fs::copy_options::recursive, ignored);
    open_to_all(own);
  }
  fs::permissions(folder, fs::perms(0755), error);
  return folder;
}

fs::path inductor_seed(const PythonFacts& python, const fs::path& cache_folder) {
  const std::string key =
      Hasher().add("inductor 1").add(python.python.string()).add(python.versions.at("torch")).hex();
  const fs::path seed = cache_folder / ("inductor-" + key.substr(0, 16));
  std::error_code error;
  if (fs::exists(seed, error)) return seed;
  const fs::path making = seed.string() + fmt::format(".making-{}", ::getpid());
  fs::create_directories(making, error);
  Command command;
  command.argv = {python.python.string(), "-B", "-c", kTryInstructionSets};
  command.cwd = "/";
  command.env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"},
                 {"HOME", making.string()},
                 {"TORCHINDUCTOR_CACHE_DIR", making.string()},
                 {"TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS", "0"}};
  command.timeout = std::chrono::minutes(5);
  auto finished = run_command(command);
  if (finished && finished->ok()) fs::rename(making, seed, error);
  const bool made = finished && finished->ok() && fs::exists(seed, error);
  fs::remove_all(making, error);
  return made ? seed : fs::path();
}

}  // namespace kforge
