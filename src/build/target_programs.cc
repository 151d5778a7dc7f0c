#include "build/target_programs.h"

#include <algorithm>

#include "base/file_cache.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "build/choices.h"
#include "platform/programs.h"
#include "platform/substitute.h"

namespace kforge {
namespace {

constexpr std::size_t kCacheBytes = 256 << 20;
constexpr std::size_t kLargestProgram = 64 << 20;
constexpr std::size_t kLargestSource = 1 << 20;

// A child as src/*/CMakeLists.txt builds it for this machine.
struct Child {
  const char* name;
  std::vector<const char*> sources;  // below src/
  std::vector<std::string> flags;
};

const std::vector<const char*> kRunnerSources = {"runner/arenas.cc", "runner/call.cc",    "runner/channel.cc",
                                                 "runner/crash.cc",  "runner/filters.cc", "runner/load.cc",
                                                 "runner/main.cc",   "runner/symbols.cc"};

std::vector<Child> children() {
  const std::vector<std::string> small = {"-std=c++20", "-O2", "-fno-exceptions", "-fno-rtti",
                                          "-fno-threadsafe-statics"};
  Child runner{"kforge-runner", kRunnerSources, small};
  Child guarded{"kforge-runner-guarded", kRunnerSources, small};
  guarded.sources.push_back("runner/guarded_heap.cc");
  // The compiler must not make calls of malloc and its kin out of their own definitions.
  guarded.flags.insert(guarded.flags.end(), {"-DKFORGE_GUARDED_HEAP", "-fno-builtin"});
  Child call{"kforge-call", {"profile/caller/main.cc"}, {"-std=c++20", "-O2"}};
  return {runner, guarded, call};
}

// Every header a child may include: a change of one is a change of the program.
Result<std::string> hash_of_sources(const fs::path& root) {
  Hasher hasher;
  for (const char* folder : {"runner", "profile/caller"}) {
    std::error_code error;
    std::vector<fs::path> files;
    for (fs::directory_iterator it(root / folder, error), end; !error && it != end; it.increment(error))
      if (it->path().extension() == ".h" || it->path().extension() == ".cc") files.push_back(it->path());
    if (error || files.empty())
      return fail_with_remedy("install KForge again", fmt::format("the sources of its runner are not in {}",
                                                                  (root / folder).string()));
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      KF_TRY(std::string content, read_file(file, kLargestSource));
      hasher.add(file.filename().string()).add(content);
    }
  }
  return hasher.hex();
}

class ChildBuilder {
 public:
  ChildBuilder(const Platform& platform, fs::path root, std::string sources_hash, FileCache cache)
      : platform_(platform),
        root_(std::move(root)),
        sources_hash_(std::move(sources_hash)),
        cache_(std::move(cache)) {}

  // From the cache, or compiled now.
  Result<fs::path> get(const Child& child) {
    const std::string& named = platform_.run.runner.at(0);
    const std::string& name = named == "${compiler}" ? platform_.build.compilers.at(0).name : named;
    auto compiler = find_program(name, platform_.sandbox.read);
    if (!compiler)
      return fail_with_remedy(platform_.probe.remedy,
                              fmt::format("{}, which compiles KForge's runner for {}, is not installed", name,
                                          platform_.run.machine));
    Hasher hasher;
    hasher.add("child 1").add(child.name).add(sources_hash_).add(compiler_identity(*compiler));
    for (const std::string& word : platform_.run.runner) hasher.add(word);
    for (const std::string& flag : child.flags) hasher.add(flag);
    const std::string key = hasher.hex();
    if (auto known = cache_.find(key)) return *known;
    KF_TRY(std::string program, compile(child, *compiler));
    return cache_.store(key, program);
  }

 private:
  // Our own source by a compiler the user named: no sandbox.
  Result<std::string> compile(const Child& child, const fs::path& compiler) {
    KF_TRY(TempDir work, TempDir::create());
    fs::path output = work.path() / child.name;
    std::vector<std::string> sources, argv = platform_.run.runner;
    for (const char* source : child.sources) sources.push_back((root_ / source).string());
    argv[0] = "${compiler}";
    KF_TRY(argv, substitute(argv, {{"compiler", {compiler.string()}},
                                   {"flags", child.flags},
                                   {"include", {root_.string()}},
                                   {"source", sources},
                                   {"output", {output.string()}}}));
    Command command{
        .argv = std::move(argv), .cwd = work.path(), .timeout = std::chrono::milliseconds(120'000)};
    KF_TRY(Finished finished, run_command(command));
    if (!finished.ok())
      return fail_with_remedy(
          fmt::format("look at 'run.runner' in {}", (platform_.folder / "platform.toml").string()),
          fmt::format("{} does not compile for {}: {}", child.name, platform_.run.machine,
                      finished.timed_out ? "it took longer than 120 s" : finished.err.substr(0, 1000)));
    return read_file(output, kLargestProgram);
  }

  const Platform& platform_;
  fs::path root_;
  std::string sources_hash_;
  FileCache cache_;
};

}  // namespace

Result<TargetPrograms> target_programs(const Platform& platform) {
  TargetPrograms programs;
  if (platform.kind == PlatformKind::kDevice && !platform.emulates_device()) {
    KF_TRY(programs.runner, helper_program("kforge-device"));
    programs.call = programs.runner;
    return programs;
  }
  if (platform.kind == PlatformKind::kCommand) {
    KF_TRY(programs.runner, helper_program("kforge-command"));
    return programs;
  }
  if (!platform.emulated() || platform.emulates_device()) {
    KF_TRY(programs.runner, helper_program("kforge-runner"));
    KF_TRY(programs.guarded, helper_program("kforge-runner-guarded"));
    KF_TRY(programs.call, helper_program("kforge-call"));
    return programs;
  }
  KF_TRY(fs::path data, data_root());
  KF_TRY(fs::path home, kforge_home());
  KF_TRY(std::string sources_hash, hash_of_sources(data / "src"));
  ChildBuilder builder(platform, data / "src", std::move(sources_hash),
                       FileCache(home / "runners", kCacheBytes));
  const std::vector<Child> all = children();
  KF_TRY(programs.runner, builder.get(all[0]));
  KF_TRY(programs.guarded, builder.get(all[1]));
  KF_TRY(programs.call, builder.get(all[2]));
  return programs;
}

}  // namespace kforge
