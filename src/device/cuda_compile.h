// CUDA C++ to code for one kind of GPU, by nvcc where it is installed, else by NVRTC (a library that compiles
// device code only, without the headers of the host).
#pragma once

#include <string>

#include "base/failure.h"
#include "device/device_package.h"

namespace kforge {

struct CudaObject {
  std::string code;  // a cubin, or PTX where the compiler is older than the GPU
  std::string log;   // what the compiler said
};

enum class CudaCompiler : std::uint8_t { kFirst, kNvrtc };

// `architecture` is 10 * major + minor of the GPU's compute capability. CompileError: the candidate's
// mistake; an Error: there is no compiler. The toolkit is looked for in PATH and in $CUDA_HOME
// (/usr/local/cuda).
Step<CudaObject> compile_cuda(const DevicePackage& package, int architecture,
                              CudaCompiler which = CudaCompiler::kFirst);

}  // namespace kforge
