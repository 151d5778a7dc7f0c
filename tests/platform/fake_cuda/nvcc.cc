// nvcc for tests: `nvcc -cubin -arch=sm_90 -I DIR -o OUT FILE` compiles CUDA C++ with KForge's emulator. What
// the emulator needs lies beside it: ../include (its headers and module.h), ../kforge-emulate-fast (its
// runtime).
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/files.h"
#include "emulate/compile_line.h"
#include "emulate/emulate.h"

namespace kforge {
namespace {

struct Asked {
  std::string architecture, output, source;
  bool cubin = false;
};

Asked read_arguments(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-cubin") asked.cubin = true;
    if (word.starts_with("-arch=")) asked.architecture = word.substr(6);
    if (word == "-o" && i + 1 < argc) asked.output = argv[++i];
    if ((word == "-I" || word == "-Xptxas") && i + 1 < argc) ++i;
    if (word.ends_with(".cu")) asked.source = word;
  }
  return asked;
}

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(1);
}

// What it prints is what this program prints.
void run(const std::vector<std::string>& argv) {
  std::vector<char*> words;
  for (const std::string& word : argv) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  if (::posix_spawn(&child, words[0], nullptr, nullptr, words.data(), environ) != 0)
    give_up("cannot start " + argv[0]);
  if (::waitpid(child, &status, 0) != child || status != 0) std::exit(1);
}

std::string place(const emulate::SourceNote& note) { return fmt::format("{}({})", note.file, note.line); }

// The kernels' table, behind the rewritten text.
std::string table_of(const std::vector<emulate::KernelSignature>& kernels) {
  std::string text =
      "\n# 1 \"module\"\n"
      "template <class... P> inline const unsigned char* fake_sizes(void (*)(P...)) {\n"
      "  static constexpr unsigned char sizes[] = {sizeof(P)..., 0};\n  return sizes;\n}\n"
      "template <class... P> constexpr unsigned fake_count(void (*)(P...)) { return sizeof...(P); }\n";
  std::string rows;
  for (const auto& kernel : kernels) {
    text += fmt::format("extern \"C\" void fake_thunk_{0}(const KfeArgument* a) {{ kfe::call(&{0}, a); }}\n",
                        kernel.name);
    rows += fmt::format("{{\"{0}\", fake_thunk_{0}, fake_count(&{0}), fake_sizes(&{0})}}, ", kernel.name);
  }
  return text +
         "struct FakeKernel { const char* name; void (*thunk)(const KfeArgument*); unsigned parameters; "
         "const "
         "unsigned char* sizes; };\n" +
         fmt::format(
             "extern \"C\" const FakeKernel fake_kernels[] = {{{}{{}}}};\n"
             "extern \"C\" const unsigned fake_kernel_count = {};\n",
             rows, kernels.size());
}

constexpr const char* kModule = R"(
#include "module.h"
extern "C" {
extern const FakeKernel fake_kernels[];
extern const unsigned fake_kernel_count;
static void launch(const KfeStep* step) {
  static const KfeMemory none[1] = {};
  const KfeProgram program = {none, 0, nullptr, 0, step, 1, 0};
  kfe_run(&program, nullptr, nullptr, nullptr);
}
__attribute__((visibility("default"))) const FakeModule* fake_module() {
  static const FakeModule module = {fake_kernels, fake_kernel_count, launch};
  return &module;
}
}
)";

int compile(const Asked& asked, const fs::path& here) {
  auto clang = emulate::compiler();
  if (!clang) give_up(clang.error().message);
  auto work = TempDir::create();
  if (!work) give_up(work.error().message);
  const fs::path folder = work->path(), include = here / "include";
  const std::string preprocessed = folder / "source.ii", rewritten = folder / "rewritten.ii",
                    module = folder / "module.cc", object = folder / "kernels.o";
  auto line = emulate::language_line(emulate::Language::kCuda, *clang, include, ".");
  line.insert(line.end(), {"-E", "-x", "c++", "-Wno-everything", "./" + asked.source, "-o", preprocessed});
  run(line);
  std::ifstream file(preprocessed);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const emulate::Rewritten source = emulate::rewrite(emulate::Language::kCuda, text, "./");
  for (const auto* notes : {&source.refused, &source.errors, &source.unsupported})
    if (!notes->empty()) give_up(fmt::format("{}: error: {}", place(notes->front()), notes->front().what));
  std::ofstream(rewritten) << source.text << table_of(source.kernels);
  std::ofstream(module) << kModule;
  line = emulate::compile_line(emulate::Variant::kFast, *clang);
  line.insert(line.end(), {"-c", rewritten, "-o", object});
  run(line);
  run({clang->string(), "-std=c++20", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-I",
       include.string(), module, "-x", "none", object, (here / "kforge-emulate-fast").string(), "-lm", "-o",
       asked.output});
  for (const auto& kernel : source.kernels)
    std::fprintf(stderr, "ptxas info    : Compiling entry function '%s' for '%s'\n", kernel.name.c_str(),
                 asked.architecture.c_str());
  return 0;
}

}  // namespace
}  // namespace kforge

int main(int argc, char** argv) {
  using namespace kforge;
  const Asked asked = read_arguments(argc, argv);
  if (!asked.cubin || asked.source.empty() || asked.output.empty() || !asked.architecture.starts_with("sm_"))
    give_up("usage: nvcc -cubin -arch=sm_90 -o OUT FILE");
  return compile(asked, fs::canonical("/proc/self/exe").parent_path().parent_path());
}
