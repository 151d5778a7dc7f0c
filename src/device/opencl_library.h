// OpenCL's functions, from the library that is installed: KForge is not linked with it.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "base/result.h"

namespace kforge {

// Null where there is no such library or function. `name` is a literal.
void* opencl_function(const char* name);

#define KF_CL(function) (reinterpret_cast<decltype(&::function)>(::kforge::opencl_function(#function)))

// "CL_OUT_OF_RESOURCES (-5)"
std::string opencl_error(cl_int code);

// One failed call of the driver: an Error that names it.
#define KF_CL_TRY(function, ...)                                                  \
  if (const cl_int kf_code = KF_CL(function)(__VA_ARGS__); kf_code != CL_SUCCESS) \
  return ::kforge::fail(#function ": {}", ::kforge::opencl_error(kf_code))

}  // namespace kforge
