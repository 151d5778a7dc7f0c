#include "emulate/compile_line.h"

namespace kforge::emulate {
namespace {

// The machine's instructions that halves and fused multiply-adds want, where it has them.
std::string march() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("bmi2");
  return wide ? "-march=x86-64-v3" : "-march=x86-64-v2";
#else
  return "-O2";
#endif
}

}  // namespace

std::vector<std::string> language_line(Language language, const std::filesystem::path& clang,
                                       const std::filesystem::path& include,
                                       const std::filesystem::path& sources) {
  std::vector<std::string> flags = {clang.string(),
                                    "-std=c++20",
                                    march(),
                                    "-isystem",
                                    (include / (language == Language::kCuda ? "cuda" : "metal")).string(),
                                    "-isystem",
                                    include.string(),
                                    "-I",
                                    sources.string()};
  if (language == Language::kCuda)
    flags.insert(flags.end(),
                 {"-include", "cuda_runtime.h", "-D__CUDACC__", "-D__CUDA_ARCH__=900", "-D__NVCC__"});
  else
    flags.insert(flags.end(), {"-include", "metal_types", "-D__METAL_VERSION__=320", "-D__METAL__"});
  return flags;
}

std::vector<std::string> compile_line(Variant variant, const std::filesystem::path& clang) {
  std::vector<std::string> flags = {clang.string(),
                                    "-x",
                                    "c++-cpp-output",
                                    "-std=c++20",
                                    march(),
                                    "-fPIC",
                                    "-fno-exceptions",
                                    "-fno-rtti",
                                    "-fno-threadsafe-statics",
                                    "-fno-strict-aliasing",
                                    "-fno-math-errno",
                                    "-fno-gnu-inline-asm",
                                    "-fno-stack-protector",
                                    "-w",
                                    "-ferror-limit=20",
                                    "-fno-color-diagnostics"};
  if (looks(variant))
    flags.insert(flags.end(), {"-O1", "-g1", "-fdebug-compilation-dir=/kfe", "-fsanitize=thread",
                               "-fsanitize=bounds", "-mllvm", "-tsan-instrument-read-before-write=1",
                               "-mllvm", "-tsan-instrument-func-entry-exit=0"});
  else
    flags.emplace_back("-O2");
  if (variant == Variant::kCount) flags.emplace_back("-fsanitize-coverage=bb,no-prune,trace-pc");
  return flags;
}

}  // namespace kforge::emulate
