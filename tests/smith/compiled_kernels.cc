#include "compiled_kernels.h"

#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/subprocess.h"

#if defined(__SANITIZE_THREAD__)
// The kernels and their OpenMP are compiled without the thread sanitizer, which therefore does not see that a
// parallel loop has ended, but does see the memcpy inside of it: every copying kernel would be called a race.
extern "C" const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1"; }
#endif

namespace kforge {
namespace {

// The kernel inside of a namespace of its own, and one function that takes an array of pointers.
std::string wrapped(const KernelSource& kernel, std::size_t number) {
  std::string body;
  std::size_t begin = 0;
  while (begin < kernel.source.size()) {
    const std::size_t end = std::min(kernel.source.find('\n', begin), kernel.source.size());
    const std::string line = kernel.source.substr(begin, end - begin);
    if (!line.starts_with("#include")) body += line + "\n";
    begin = end + 1;
  }
  for (const std::string name : {"kernel_prepared", "kernel", "prepare", "release"}) {
    std::size_t at = 0;
    const std::string from = "extern \"C\" ";
    (void)from;
    while ((at = body.find("extern \"C\"", at)) != std::string::npos) {
      const std::size_t open = body.find('(', at), start = body.rfind(' ', open);
      std::string found = body.substr(start + 1, open - start - 1);
      if (found.starts_with("*")) found.erase(0, 1);
      if (found == name)
        body.replace(body.find(name, start), name.size(), name + "_" + std::to_string(number));
      at = open;
    }
  }
  std::string text = fmt::format("namespace unit_{} {{\n{}}}\n", number, body);
  auto arguments = [&](bool params, bool others) {
    std::string list;
    for (std::size_t i = 0; i < kernel.problem.arguments.size(); ++i) {
      const bool is_param = kernel.problem.arguments[i].role == smith::ArgumentRole::kParam;
      if (is_param ? !params : !others) continue;
      list += fmt::format("{}({}*)a[{}]", list.empty() ? "" : ", ",
                          c_type_of(kernel.problem.arguments[i].dtype), i);
    }
    return list;
  };
  text +=
      fmt::format("extern \"C\" void call_{0}(void** a) {{ (void)a;\n  using namespace unit_{0};\n", number);
  if (kernel.source.find("kernel_prepared(") == std::string::npos)
    return text + fmt::format("  kernel_{}({});\n}}\n", number, arguments(true, true));
  const std::string others = arguments(false, true);
  bool in_place = false;
  for (const auto& argument : kernel.problem.arguments)
    in_place |= argument.role == smith::ArgumentRole::kInout;
  if (in_place)
    return text + fmt::format(
                      "  void* state = prepare_{0}({1});\n  kernel_prepared_{0}(state{2}{3});\n  "
                      "release_{0}(state);\n}}\n",
                      number, arguments(true, false), others.empty() ? "" : ", ", others);
  return text + fmt::format(
                    "  void* state = prepare_{0}({1});\n  kernel_prepared_{0}(state{2}{3});\n  "
                    "kernel_prepared_{0}(state{2}{3});\n  release_{0}(state);\n}}\n",
                    number, arguments(true, false), others.empty() ? "" : ", ", others);
}

}  // namespace

std::vector<std::vector<std::string>> instruction_sets(const Machine& machine) {
  std::vector<std::vector<std::string>> sets;
  auto has = [&](const char* name) { return machine.features.contains(name); };
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl"))
    sets.push_back({"-march=x86-64-v4", "-mprefer-vector-width=512"});
  if (has("avx2") && has("fma") && has("f16c")) sets.push_back({"-march=x86-64-v3"});
  sets.push_back({"-march=x86-64-v2"});
  return sets;
}

std::string kernels_text(const std::vector<KernelSource>& sources, std::size_t first, std::size_t last) {
  std::string text;
  for (const char* header : {"immintrin.h", "omp.h", "sys/mman.h", "algorithm", "cmath", "cstdint", "cstdlib",
                             "cstring", "utility"})
    text += fmt::format("#include <{}>\n", header);
  for (std::size_t i = first; i < last; ++i) text += wrapped(sources[i], i);
  return text;
}

Result<std::vector<KernelCall>> compile_kernels(const std::vector<KernelSource>& sources,
                                                const std::vector<std::string>& flags, std::size_t per_unit) {
  namespace fs = std::filesystem;
  static int round = 0;
  const fs::path folder = fs::temp_directory_path() / fmt::format("smith_test_{}_{}", getpid(), ++round);
  fs::create_directories(folder);
  std::vector<KernelCall> calls(sources.size());
  const std::size_t units = (sources.size() + per_unit - 1) / per_unit;
  std::vector<std::string> failures(units);
  auto build = [&](std::size_t u) {
    const fs::path source = folder / fmt::format("unit{}.cc", u),
                   library = folder / fmt::format("unit{}.so", u);
    {
      std::ofstream file(source);
      file << kernels_text(sources, u * per_unit, std::min(sources.size(), (u + 1) * per_unit));
    }
    Command command{{"g++", "-std=c++20", "-O1", "-fopenmp", "-Werror=unused-local-typedefs",
                     "-Werror=unused-variable", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared",
                     "-o", library.string(), source.string()}};
    command.argv.insert(command.argv.begin() + 1, flags.begin(), flags.end());
    command.timeout = std::chrono::minutes(5);
    const auto finished = run_command(command);
    if (!finished || !finished->ok())
      failures[u] = finished ? finished->err.substr(0, 3000) : finished.error().message;
  };
  std::thread other([&] {
    for (std::size_t u = 1; u < units; u += 2) build(u);
  });
  for (std::size_t u = 0; u < units; u += 2) build(u);
  other.join();
  for (std::size_t u = 0; u < units; ++u) {
    if (!failures[u].empty()) return fail("unit {} in {}: {}", u, folder.string(), failures[u]);
    void* library = dlopen((folder / fmt::format("unit{}.so", u)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return fail("{}", dlerror());
    for (std::size_t i = u * per_unit; i < std::min(sources.size(), (u + 1) * per_unit); ++i)
      calls[i] = reinterpret_cast<KernelCall>(dlsym(library, fmt::format("call_{}", i).c_str()));
  }
  fs::remove_all(folder);
  return calls;
}

}  // namespace kforge
