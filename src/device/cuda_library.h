// The functions of NVIDIA's driver that KForge uses, from the libcuda.so.1 that is installed. Its header is
// not needed: what is declared here is the driver's stable binary interface.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace kforge {

using CudaCode = int;  // CUresult
using CudaDevice = int;
using CudaAddress = unsigned long long;
struct CudaContextBody;
struct CudaModuleBody;
struct CudaFunctionBody;
struct CudaStreamBody;
struct CudaEventBody;
using CudaContext = CudaContextBody*;
using CudaModule = CudaModuleBody*;
using CudaFunction = CudaFunctionBody*;
using CudaStream = CudaStreamBody*;
using CudaEvent = CudaEventBody*;

// CUdevice_attribute
enum class CudaDeviceFact : int {
  kMostThreads = 1,
  kMostGridX = 5,
  kMostGridY = 6,
  kMostGridZ = 7,
  kShared = 8,
  kWarp = 10,
  kMultiprocessors = 16,
  kMajor = 75,
  kMinor = 76,
  kSharedOptIn = 97,
};
// CUfunction_attribute
enum class CudaFunctionFact : int {
  kMostThreads = 0,
  kShared = 1,
  kLocal = 3,
  kRegisters = 4,
  kMostDynamicShared = 8,
};

// Name of the member, name in the library (newer versions of a function have a suffix), what it takes.
#define KF_CUDA_FUNCTIONS(X)                                                                                 \
  X(init, "cuInit", (unsigned))                                                                              \
  X(driver_version, "cuDriverGetVersion", (int*))                                                            \
  X(device_count, "cuDeviceGetCount", (int*))                                                                \
  X(device_get, "cuDeviceGet", (CudaDevice*, int))                                                           \
  X(device_name, "cuDeviceGetName", (char*, int, CudaDevice))                                                \
  X(device_fact, "cuDeviceGetAttribute", (int*, CudaDeviceFact, CudaDevice))                                 \
  X(device_memory, "cuDeviceTotalMem_v2", (std::size_t*, CudaDevice))                                        \
  X(retain_context, "cuDevicePrimaryCtxRetain", (CudaContext*, CudaDevice))                                  \
  X(set_context, "cuCtxSetCurrent", (CudaContext))                                                           \
  X(synchronize, "cuCtxSynchronize", ())                                                                     \
  X(load_module, "cuModuleLoadDataEx", (CudaModule*, const void*, unsigned, int*, void**))                   \
  X(unload_module, "cuModuleUnload", (CudaModule))                                                           \
  X(get_function, "cuModuleGetFunction", (CudaFunction*, CudaModule, const char*))                           \
  X(function_fact, "cuFuncGetAttribute", (int*, CudaFunctionFact, CudaFunction))                             \
  X(set_function_fact, "cuFuncSetAttribute", (CudaFunction, CudaFunctionFact, int))                          \
  X(blocks_at_once, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int*, CudaFunction, int, std::size_t))   \
  X(allocate, "cuMemAlloc_v2", (CudaAddress*, std::size_t))                                                  \
  X(release, "cuMemFree_v2", (CudaAddress))                                                                  \
  X(to_device, "cuMemcpyHtoD_v2", (CudaAddress, const void*, std::size_t))                                   \
  X(to_host, "cuMemcpyDtoH_v2", (void*, CudaAddress, std::size_t))                                           \
  X(copy, "cuMemcpyDtoDAsync_v2", (CudaAddress, CudaAddress, std::size_t, CudaStream))                       \
  X(fill8, "cuMemsetD8Async", (CudaAddress, unsigned char, std::size_t, CudaStream))                         \
  X(fill16, "cuMemsetD16Async", (CudaAddress, unsigned short, std::size_t, CudaStream))                      \
  X(fill32, "cuMemsetD32Async", (CudaAddress, unsigned, std::size_t, CudaStream))                            \
  X(fill32_pitched, "cuMemsetD2D32Async",                                                                    \
    (CudaAddress, std::size_t, unsigned, std::size_t, std::size_t, CudaStream))                              \
  X(create_stream, "cuStreamCreate", (CudaStream*, unsigned))                                                \
  X(finish_stream, "cuStreamSynchronize", (CudaStream))                                                      \
  X(create_event, "cuEventCreate", (CudaEvent*, unsigned))                                                   \
  X(record_event, "cuEventRecord", (CudaEvent, CudaStream))                                                  \
  X(elapsed, "cuEventElapsedTime", (float*, CudaEvent, CudaEvent))                                           \
  X(launch, "cuLaunchKernel",                                                                                \
    (CudaFunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CudaStream, void**, \
     void**))                                                                                                \
  X(error_name, "cuGetErrorName", (CudaCode, const char**))

// Null where the driver is older than the function (12.4).
#define KF_CUDA_OPTIONAL_FUNCTIONS(X) \
  X(parameter, "cuFuncGetParamInfo", (CudaFunction, std::size_t, std::size_t*, std::size_t*))

struct CudaLibrary {
#define KF_CUDA_MEMBER(member, name, takes) CudaCode(*member) takes = nullptr;
  KF_CUDA_FUNCTIONS(KF_CUDA_MEMBER)
  KF_CUDA_OPTIONAL_FUNCTIONS(KF_CUDA_MEMBER)
#undef KF_CUDA_MEMBER

  // "CUDA_ERROR_ILLEGAL_ADDRESS (700)"
  std::string error_text(CudaCode code) const;
};

// Loaded once. An Error names the library, or the function that it lacks.
Result<const CudaLibrary*> cuda_library();

// One failed call of the driver: an Error that names it.
#define KF_CUDA_TRY(cuda, member, ...)                                             \
  if (const ::kforge::CudaCode kf_code = (cuda).member(__VA_ARGS__); kf_code != 0) \
  return ::kforge::fail("CUDA: " #member ": {}", (cuda).error_text(kf_code))

}  // namespace kforge
