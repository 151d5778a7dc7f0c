#include "device/cuda_library.h"

#include <dlfcn.h>

namespace kforge {
namespace {

constexpr const char* kName = "libcuda.so.1";

Result<CudaLibrary> load() {
  void* library = ::dlopen(kName, RTLD_NOW | RTLD_GLOBAL);
  if (!library) return fail("there is no {}", kName);
  CudaLibrary cuda;
  auto find = [&](const char* name, auto& member) {
    member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(::dlsym(library, name));
    return member != nullptr;
  };
#define KF_CUDA_FIND(member, name, takes) \
  if (!find(name, cuda.member)) return fail("{} has no {}: its driver is too old", kName, name);
  KF_CUDA_FUNCTIONS(KF_CUDA_FIND)
#undef KF_CUDA_FIND
#define KF_CUDA_FIND(member, name, takes) find(name, cuda.member);
  KF_CUDA_OPTIONAL_FUNCTIONS(KF_CUDA_FIND)
#undef KF_CUDA_FIND
  return cuda;
}

}  // namespace

std::string CudaLibrary::error_text(CudaCode code) const {
  const char* name = nullptr;
  if (!error_name || error_name(code, &name) != 0 || !name) return fmt::format("error {}", code);
  return fmt::format("{} ({})", name, code);
}

Result<const CudaLibrary*> cuda_library() {
  static const Result<CudaLibrary> library = load();
  if (!library) return std::unexpected(library.error());
  return &*library;
}

}  // namespace kforge
