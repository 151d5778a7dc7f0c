#include "device/cuda_compile.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "base/files.h"
#include "device/package_folder.h"
#include "device/run_compiler.h"

namespace kforge {
namespace {

constexpr std::size_t kLargestObject = 256 << 20;
// Neither fast mathematics nor flushed denormals; what both compilers take.
constexpr const char* kStandard = "-std=c++17";

// Where NVIDIA's toolkit is installed.
std::string toolkit() {
  const char* home = std::getenv("CUDA_HOME");
  return home ? home : "/usr/local/cuda";
}

std::optional<fs::path> find_nvcc() {
  const char* path = std::getenv("PATH");
  std::string folders = std::string(path ? path : "/usr/bin:/bin") + ":" + toolkit() + "/bin";
  for (std::size_t at = 0; at < folders.size();) {
    const std::size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path program = fs::path(folders.substr(at, end - at)) / "nvcc";
    if (::access(program.c_str(), X_OK) == 0) return program;
    at = end + 1;
  }
  return std::nullopt;
}

Step<CudaObject> compile_by_nvcc(const fs::path& nvcc, const DevicePackage& package, int architecture) {
  KF_TRY(const std::string folder, write_package_files(package, 0));
  const fs::path made = fs::path(folder) / "kernel.cubin";
  // In its folder: messages name files as the candidate does.
  KF_TRY(CompilerRun run,
         run_compiler({nvcc.string(), "-cubin", fmt::format("-arch=sm_{}", architecture), kStandard,
                       "-Xptxas", "-v", "-I", ".", "-o", made.string(), package.files.front().name},
                      folder));
  CudaObject object;
  object.log = std::move(run.log);
  if (!run.ok)
    return candidate_failed(
        CompileError{object.log.empty() ? std::string("error: nvcc said nothing\n") : object.log});
  KF_TRY(object.code, read_file(made, kLargestObject));
  return object;
}

using NvrtcCode = int;
struct NvrtcProgramBody;
using NvrtcProgram = NvrtcProgramBody*;

#define KF_NVRTC_FUNCTIONS(X)                                                               \
  X(create, "nvrtcCreateProgram",                                                           \
    (NvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*)) \
  X(compile, "nvrtcCompileProgram", (NvrtcProgram, int, const char* const*))                \
  X(log_size, "nvrtcGetProgramLogSize", (NvrtcProgram, std::size_t*))                       \
  X(log, "nvrtcGetProgramLog", (NvrtcProgram, char*))                                       \
  X(ptx_size, "nvrtcGetPTXSize", (NvrtcProgram, std::size_t*))                              \
  X(ptx, "nvrtcGetPTX", (NvrtcProgram, char*))                                              \
  X(cubin_size, "nvrtcGetCUBINSize", (NvrtcProgram, std::size_t*))                          \
  X(cubin, "nvrtcGetCUBIN", (NvrtcProgram, char*))                                          \
  X(architectures, "nvrtcGetNumSupportedArchs", (int*))                                     \
  X(architecture, "nvrtcGetSupportedArchs", (int*))                                         \
  X(destroy, "nvrtcDestroyProgram", (NvrtcProgram*))

struct Nvrtc {
#define KF_NVRTC_MEMBER(member, name, takes) NvrtcCode(*member) takes = nullptr;
  KF_NVRTC_FUNCTIONS(KF_NVRTC_MEMBER)
#undef KF_NVRTC_MEMBER
};

std::optional<Nvrtc> find_nvrtc() {
  void* library = nullptr;
  for (const char* name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"}) {
    for (const std::string& folder : {std::string(), toolkit() + "/lib64/"})
      if (!library) library = ::dlopen((folder + name).c_str(), RTLD_NOW);
  }
  if (!library) return std::nullopt;
  Nvrtc nvrtc;
  bool all = true;
  auto find = [&](const char* name, auto& member) {
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(::dlsym(library, name));
    all = all && member;
  };
#define KF_NVRTC_FIND(member, name, takes) find(name, nvrtc.member);
  KF_NVRTC_FUNCTIONS(KF_NVRTC_FIND)
#undef KF_NVRTC_FIND
  return all ? std::optional(nvrtc) : std::nullopt;
}

// The GPU's own, or the newest that the compiler knows and the GPU is a successor of.
std::optional<int> best_architecture(const Nvrtc& nvrtc, int wanted) {
  int count = 0;
  if (nvrtc.architectures(&count) != 0 || count <= 0 || count > 1000) return std::nullopt;
  std::vector<int> known(static_cast<std::size_t>(count));
  if (nvrtc.architecture(known.data()) != 0) return std::nullopt;
  std::optional<int> best;
  for (const int one : known)
    if (one <= wanted && one > best.value_or(0)) best = one;
  return best;
}

template <class Size, class Text>
std::string text_of(NvrtcProgram program, Size size, Text text) {
  std::size_t bytes = 0;
  if (size(program, &bytes) != 0 || bytes == 0) return "";
  std::string content(bytes, '\0');
  return text(program, content.data()) == 0 ? content : "";
}

Step<CudaObject> compile_by_nvrtc(const Nvrtc& nvrtc, const DevicePackage& package, int wanted) {
  const auto architecture = best_architecture(nvrtc, wanted);
  if (!architecture) return fail("NVRTC is older than the GPU (sm_{}) and knows none like it", wanted);
  std::vector<const char*> headers, names;
  for (std::size_t i = 1; i < package.files.size(); ++i) {
    headers.push_back(package.files[i].content.c_str());
    names.push_back(package.files[i].name.c_str());
  }
  NvrtcProgram program = nullptr;
  if (nvrtc.create(&program, package.files.front().content.c_str(), package.files.front().name.c_str(),
                   static_cast<int>(headers.size()), headers.data(), names.data()) != 0)
    return fail("NVRTC does not take the source");
  const bool own = *architecture == wanted;
  const std::string target = fmt::format("--gpu-architecture={}_{}", own ? "sm" : "compute", *architecture);
  const std::string include = "--include-path=" + toolkit() + "/include";
  const char* options[] = {target.c_str(), kStandard, include.c_str()};
  const NvrtcCode compiled = nvrtc.compile(program, 3, options);
  CudaObject object;
  object.log = text_of(program, nvrtc.log_size, nvrtc.log);
  while (!object.log.empty() && object.log.back() == '\0') object.log.pop_back();
  if (compiled == 0)
    object.code =
        own ? text_of(program, nvrtc.cubin_size, nvrtc.cubin) : text_of(program, nvrtc.ptx_size, nvrtc.ptx);
  nvrtc.destroy(&program);
  if (compiled != 0)
    return candidate_failed(
        CompileError{object.log.empty() ? std::string("error: NVRTC said nothing\n") : object.log});
  if (object.code.empty()) return fail("NVRTC gives no code");
  return object;
}

}  // namespace

Step<CudaObject> compile_cuda(const DevicePackage& package, int architecture, CudaCompiler which) {
  if (const auto nvcc = which == CudaCompiler::kNvrtc ? std::nullopt : find_nvcc())
    return compile_by_nvcc(*nvcc, package, architecture);
  if (const auto nvrtc = find_nvrtc()) return compile_by_nvrtc(*nvrtc, package, architecture);
  return fail_with_remedy("install NVIDIA's toolkit, or its compiler library alone (package cuda-nvrtc)",
                          "there is a GPU, but neither nvcc nor libnvrtc.so");
}

}  // namespace kforge
