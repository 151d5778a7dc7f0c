// Empty where OpenCL's headers are not installed: then opencl_api.cc says so.
#if __has_include(<CL/cl.h>)
#include <dlfcn.h>

#include "device/opencl_library.h"

namespace kforge {

void* opencl_function(const char* name) {
  static void* library = ::dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_GLOBAL);
  return library ? ::dlsym(library, name) : nullptr;
}

std::string opencl_error(cl_int code) {
  struct Row {
    cl_int code;
    const char* name;
  };
  static constexpr Row kRows[] = {
      {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
      {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
      {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
      {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
      {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
      {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
      {CL_INVALID_BINARY, "CL_INVALID_BINARY"},
      {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
      {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
      {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
      {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
      {CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE"},
      {CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
      {CL_MISALIGNED_SUB_BUFFER_OFFSET, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
  };
  for (const Row& row : kRows)
    if (row.code == code) return fmt::format("{} ({})", row.name, code);
  return fmt::format("error {}", code);
}

}  // namespace kforge
#endif
