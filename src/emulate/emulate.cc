// The steps of an emulated build: preprocess and rewrite in one sandbox, fit plan and kernels together, then
// compile, hide what the candidate defines, and link it with the runtime in another.
#include "emulate/emulate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "base/files.h"
#include "base/hash.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "emulate/compile_line.h"
#include "emulate/contract.h"
#include "emulate/object_symbols.h"
#include "platform/programs.h"

namespace kforge::emulate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLargestText = 64 << 20;
constexpr std::size_t kLargestLog = 4096;
constexpr const char* kOwn = "../src/";  // the candidate's files, as the compiler sees them
// Exit codes of the scripts, by the step that failed.
enum Step : int { kPreprocess = 101, kRewrite = 102, kCompile = 103, kLink = 104 };

// Everything the compiler reads and writes; it runs in out/.
struct Stage {
  TempDir root;
  fs::path sources, tools, output;
};

Result<void> copy_headers(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::copy(from, to, fs::copy_options::recursive, error);
  if (error) return fail("cannot copy the emulator's headers from {}: {}", from.string(), error.message());
  return {};
}

Result<Stage> make_stage(const Request& request) {
  Stage stage;
  KF_TRY(stage.root, TempDir::create(0755));
  KF_TRY(fs::path data, data_root());
  stage.sources = stage.root.path() / "src";
  stage.tools = stage.root.path() / "emu";
  stage.output = stage.root.path() / "out";
  std::error_code error;
  for (const fs::path& folder : {stage.sources, stage.tools, stage.output})
    fs::create_directory(folder, error);
  KF_TRY_VOID(copy_headers(data / "src/emulate/include", stage.tools / "include"));
  for (const char* name :
       {"kforge-rewrite", looks(request.variant) ? "kforge-emulate-check" : "kforge-emulate-fast"}) {
    KF_TRY(fs::path program, helper_program(name));
    fs::copy_file(program, stage.tools / name, error);
    if (error) return fail("cannot copy {}: {}", program.string(), error.message());
  }
  for (const DeviceSource& file : request.files) {
    const fs::path path = stage.sources / file.name;
    fs::create_directories(path.parent_path(), error);
    KF_TRY_VOID(write_scratch_file(path, file.content));
  }
  // Last: a file of the same name must not take its place.
  KF_TRY_VOID(write_scratch_file(stage.sources / "task.h", request.task_header));
  for (const fs::path& path : {stage.root.path(), stage.sources, stage.tools, stage.output})
    fs::permissions(path, fs::perms(0755), error);
  return stage;
}

std::string quoted(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_quoted(word);
  return line;
}

Result<SandboxExit> run_script(const Stage& stage, const Request& request, const std::string& script) {
  SandboxSpec spec;
  spec.profile = SandboxProfile::kCompile;
  spec.argv = {"/bin/sh", "-c", script};
  spec.readable = {stage.sources, stage.tools};
  spec.writable = stage.output;
  spec.env = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}};
  spec.limits.wall = std::chrono::milliseconds(static_cast<long>(request.timeout_seconds * 1e3));
  spec.limits.cpu_seconds = static_cast<std::uint64_t>(request.timeout_seconds) + 1;
  spec.limits.memory_bytes = 4ull << 30;
  spec.limits.file_bytes = kLargestText;
  KF_TRY(auto process, start_sandboxed(spec, request.tier));
  return process->wait();
}

std::string preprocess_script(const Request& request, const fs::path& clang) {
  std::vector<std::string> preprocess = language_line(request.language, clang, "../emu/include", "../src");
  if (request.variant == Variant::kCount) preprocess.emplace_back("-DKFE_COUNTING");
  preprocess.insert(preprocess.end(), request.flags.begin(), request.flags.end());
  preprocess.insert(preprocess.end(),
                    {"-E", "-x", "c++", "-Wno-everything", "-Werror=gnu-line-marker",
                     "-fno-color-diagnostics", kOwn + request.files.front().name, "-o", "source.ii"});
  const char* language = request.language == Language::kCuda ? "cuda" : "metal";
  std::vector<std::string> rewrite = {"../emu/kforge-rewrite", language, "source.ii", kOwn, "rewritten.json"};
  for (const DeviceSource& file : request.files) rewrite.insert(rewrite.end(), {kOwn + file.name, file.name});
  std::vector<std::string> includes_only = rewrite;
  includes_only[2] = "-";
  return fmt::format("{} || {{ {}; exit {}; }}; {} || exit {}", quoted(preprocess), quoted(includes_only),
                     static_cast<int>(kPreprocess), quoted(rewrite), static_cast<int>(kRewrite));
}

std::string compile_script(const Request& request, const Contract& contract, const fs::path& clang) {
  std::vector<std::string> candidate = compile_line(request.variant, clang);
  candidate.insert(candidate.end(), {"-c", "../src/kfe_rewritten.ii", "-o", "candidate.o"});
  const std::vector<std::string> tables = {clang.string(), "-x",
                                           "c++",          "-std=c++20",
                                           "-O1",          "-fPIC",
                                           "-isystem",     "../emu/include",
                                           "-c",           "../src/kfe_tables.cc",
                                           "-o",           "tables.o"};
  std::vector<std::string> hide = {"objcopy"};
  for (const std::string& name : contract.names) hide.push_back("--keep-global-symbol=" + name);
  hide.insert(hide.end(), {"candidate.o", "hidden.o"});
  const std::vector<std::string> link = {
      clang.string(),
      "-shared",
      "-fPIC",
      "tables.o",
      "hidden.o",
      std::string("../emu/") + (looks(request.variant) ? "kforge-emulate-check" : "kforge-emulate-fast"),
      "-Wl,--version-script=../src/kfe_exports.map",
      "-Wl,--no-undefined,-z,now,-z,relro,-z,noexecstack,--hash-style=gnu",
      "-lm",
      "-o",
      "kernel.so"};
  return fmt::format("{} & tables=$!; {} || exit {}; wait $tables || exit {}; {} || exit {}; {} || exit {}",
                     quoted(tables), quoted(candidate), static_cast<int>(kCompile), static_cast<int>(kLink),
                     quoted(hide), static_cast<int>(kLink), quoted(link), static_cast<int>(kLink));
}

// The compiler's words about the candidate's own text, without the folders of this build.
std::string trimmed(const SandboxExit& exit) {
  std::string log = exit.err;
  for (std::size_t at; (at = log.find(kOwn)) != std::string::npos;)
    log.erase(at, std::string_view(kOwn).size());
  if (log.size() > kLargestLog) log = log.substr(0, kLargestLog) + "\n...\n";
  return log;
}

Failure compile_failure(const SandboxExit& exit, const Request& request) {
  if (exit.wall_exceeded || exit.signal == SIGXCPU) return Timeout{"compile", request.timeout_seconds};
  std::string log = trimmed(exit);
  if (log.empty())
    log = fmt::format("error: the compiler ended with code {} and said nothing\n", exit.exit_code);
  return CompileError{std::move(log)};
}

bool ended_well(const SandboxExit& exit) {
  return exit.exit_code == 0 && exit.signal == 0 && !exit.wall_exceeded;
}

std::string place(const SourceNote& note) { return fmt::format("{}:{}", note.file, note.line); }

// What the rewriter saw that ends the matter.
std::optional<Failure> ended_by(const Rewritten& source) {
  if (!source.refused.empty())
    return Rejected{Gate::kSymbols, fmt::format("device code may not have {} ({})", source.refused[0].what,
                                                place(source.refused[0]))};
  if (!source.errors.empty()) {
    std::string log;
    for (const SourceNote& note : source.errors)
      log += fmt::format("{}: error: {}\n", place(note), note.what);
    return CompileError{std::move(log)};
  }
  if (!source.unsupported.empty())
    return NotVerifiable{
        fmt::format("not verifiable here: {}, {}", source.unsupported[0].what, place(source.unsupported[0]))};
  return std::nullopt;
}

constexpr const char* kExports = "{ global: kernel; prepare; kernel_prepared; release; local: *; };\n";

}  // namespace

std::string_view name_of(Variant variant) {
  static constexpr std::string_view kNames[] = {"fast", "asan", "check", "count"};
  return kNames[static_cast<std::size_t>(variant)];
}

Result<fs::path> compiler() {
  for (const char* name : {"clang++-19", "clang++-18", "clang++-17", "clang++-16", "clang++-15", "clang++"}) {
    auto path = find_program(name);
    if (!path) continue;
    if (std::string_view(name) != "clang++") return *path;
    const auto version = run_command(Command{.argv = {path->string(), "-dumpversion"}});
    if (version && version->ok() && std::atoi(version->out.c_str()) >= 15) return *path;
  }
  return fail_with_remedy("apt-get install clang-19",
                          "the emulator of CUDA and Metal needs clang 15 or later, which is not installed");
}

kforge::Step<Library> build(const Request& request) {
  const auto start = Clock::now();
  KF_TRY(fs::path clang, compiler());
  KF_TRY(Stage stage, make_stage(request));
  KF_TRY(SandboxExit first, run_script(stage, request, preprocess_script(request, clang)));
  Rewritten source;
  if (const auto record = read_product(stage.output, "rewritten.json", kLargestText))
    if (!from_json(*record, source))
      return candidate_failed(CompileError{"error: the source could not be rewritten\n"});
  if (auto ended = ended_by(source)) return candidate_failed(*ended);
  if (!ended_well(first)) return candidate_failed(compile_failure(first, request));

  auto contract = make_contract(request.plan, request.params, source, request.language, request.variant);
  if (!contract) return candidate_failed(contract.error());
  KF_TRY_VOID(write_scratch_file(stage.sources / "kfe_rewritten.ii",
                                 contract->constants + source.text + contract->thunks));
  KF_TRY_VOID(write_scratch_file(stage.sources / "kfe_tables.cc", contract->tables));
  KF_TRY_VOID(write_scratch_file(stage.sources / "kfe_exports.map", kExports));
  KF_TRY(SandboxExit second, run_script(stage, request, compile_script(request, *contract, clang)));
  if (second.exit_code == kCompile || second.signal != 0 || second.wall_exceeded)
    return candidate_failed(compile_failure(second, request));
  const auto object = read_product(stage.output, "candidate.o", kLargestText);
  if (!object) return candidate_failed(CompileError{"error: the compiler left no usable object\n"});
  // Before a linker's complaint: the reason is the name that is called.
  if (auto rejected = check_object(*object, looks(request.variant))) return candidate_failed(*rejected);
  if (!ended_well(second)) return candidate_failed(compile_failure(second, request));

  Library library;
  auto content = read_product(stage.output, "kernel.so", kLargestText);
  if (!content || content->empty())
    return candidate_failed(CompileError{"error: the compiler left no usable library\n"});
  library.content = std::move(*content);
  library.log = trimmed(second);
  library.command = compile_line(request.variant, clang);
  library.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return library;
}

Result<std::string> identity() {
  KF_TRY(fs::path clang, compiler());
  KF_TRY(fs::path data, data_root());
  Hasher hasher;
  std::error_code error;
  hasher.add("emulate 1")
      .add(clang.string())
      .add(std::to_string(fs::file_size(fs::canonical(clang, error), error)));
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator it(data / "src/emulate/include", error), end; !error && it != end;
       it.increment(error))
    if (it->is_regular_file()) files.push_back(it->path());
  for (const char* name : {"kforge-rewrite", "kforge-emulate-fast", "kforge-emulate-check"}) {
    KF_TRY(fs::path program, helper_program(name));
    files.push_back(program);
  }
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    KF_TRY(std::string content, read_file(file, kLargestText));
    hasher.add(file.filename().string()).add(content);
  }
  return hasher.hex();
}

}  // namespace kforge::emulate
