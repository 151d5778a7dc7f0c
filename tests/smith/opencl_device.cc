#include "opencl_device.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <vector>

#if __has_include(<CL/cl.h>)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace kforge {
namespace {

// Functions of the library by name: the tests are not linked with it.
void* library() {
  static void* handle = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_GLOBAL);
  return handle;
}
#define CL(function) (reinterpret_cast<decltype(&function)>(dlsym(library(), #function)))

constexpr std::size_t kCanary = 64;

class Device : public OpenClDevice {
 public:
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;

  std::string name() const override {
    char text[256] = {};
    CL(clGetDeviceInfo)(device, CL_DEVICE_NAME, sizeof text - 1, text, nullptr);
    return text;
  }

  Result<AnyCall> program(const smith::Problem& problem, const smith::DeviceDesign& design) override {
    const char* text = design.source.c_str();
    cl_int error = 0;
    cl_program built = CL(clCreateProgramWithSource)(context, 1, &text, nullptr, &error);
    if (error != CL_SUCCESS) return fail("clCreateProgramWithSource: {}", error);
    error = CL(clBuildProgram)(built, 1, &device, "-cl-std=CL1.2", nullptr, nullptr);
    if (error != CL_SUCCESS) {
      std::string log(20000, '\0');
      CL(clGetProgramBuildInfo)(built, device, CL_PROGRAM_BUILD_LOG, log.size() - 1, log.data(), nullptr);
      return fail("clBuildProgram: {}\n{}\n{}", error, log.c_str(), design.source);
    }
    const auto plan = nlohmann::json::parse(design.plan);
    std::map<std::string, cl_kernel> kernels;
    for (const char* part : {"prepare", "run"})
      for (const auto& step : plan.at(part)) {
        const std::string name = step.at("kernel");
        if (kernels.contains(name)) continue;
        kernels[name] = CL(clCreateKernel)(built, name.c_str(), &error);
        if (error != CL_SUCCESS) return fail("no kernel '{}': {}", name, error);
      }
    return AnyCall(
        [this, problem, plan, kernels](void** arguments) { run(problem, plan, kernels, arguments); });
  }

 private:
  struct Buffer {
    cl_mem memory = nullptr;
    std::size_t bytes = 0;
  };

  Buffer buffer(std::size_t bytes, int fill) {
    cl_int error = 0;
    std::vector<char> start(bytes + kCanary, static_cast<char>(fill));
    std::memset(start.data() + bytes, 0xa5, kCanary);
    Buffer made{CL(clCreateBuffer)(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, start.size(),
                                   start.data(), &error),
                bytes};
    EXPECT_EQ(error, CL_SUCCESS);
    return made;
  }

  void run(const smith::Problem& problem, const nlohmann::json& plan,
           const std::map<std::string, cl_kernel>& kernels, void** arguments) {
    std::map<std::string, Buffer> buffers;
    for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
      const smith::Argument& argument = problem.arguments[i];
      const std::size_t bytes =
          static_cast<std::size_t>(element_count(argument.shape)) * size_of(argument.dtype);
      const Buffer b = buffers[argument.c_name] = buffer(bytes, 0xff);
      if (argument.role != smith::ArgumentRole::kOutput)
        CL(clEnqueueWriteBuffer)(queue, b.memory, CL_TRUE, 0, bytes, arguments[i], 0, nullptr, nullptr);
    }
    // What nobody has written is NaN.
    for (const auto& [name, info] : plan.at("buffers").items()) {
      std::size_t bytes = size_of(*dtype_from_name(info.at("dtype").get<std::string>()));
      for (const std::size_t extent : info.at("shape")) bytes *= extent;
      buffers[name] = buffer(bytes, 0xff);
    }
    for (const char* part : {"prepare", "run"})
      for (const auto& step : plan.at(part)) launch(step, kernels, buffers);
    ASSERT_EQ(CL(clFinish)(queue), CL_SUCCESS);
    for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
      const Buffer& b = buffers.at(problem.arguments[i].c_name);
      CL(clEnqueueReadBuffer)(queue, b.memory, CL_TRUE, 0, b.bytes, arguments[i], 0, nullptr, nullptr);
    }
    for (const auto& [name, b] : buffers) {
      unsigned char canary[kCanary];
      CL(clEnqueueReadBuffer)(queue, b.memory, CL_TRUE, b.bytes, kCanary, canary, 0, nullptr, nullptr);
      for (const unsigned char c : canary) ASSERT_EQ(c, 0xa5) << "wrote behind '" << name << "'";
      CL(clReleaseMemObject)(b.memory);
    }
  }

  void launch(const nlohmann::json& step, const std::map<std::string, cl_kernel>& kernels,
              const std::map<std::string, Buffer>& buffers) {
    cl_kernel kernel = kernels.at(step.at("kernel"));
    cl_uint at = 0;
    for (const std::string name : step.at("args"))
      ASSERT_EQ(CL(clSetKernelArg)(kernel, at++, sizeof(cl_mem), &buffers.at(name).memory), CL_SUCCESS)
          << name;
    std::size_t local[3] = {1, 1, 1}, global[3] = {1, 1, 1};
    for (std::size_t i = 0; i < step.at("block").size(); ++i) local[i] = step.at("block")[i];
    for (std::size_t i = 0; i < 3; ++i)
      global[i] = local[i] * (i < step.at("grid").size() ? step.at("grid")[i].get<std::size_t>() : 1);
    ASSERT_EQ(CL(clEnqueueNDRangeKernel)(queue, kernel, 3, nullptr, global, local, 0, nullptr, nullptr),
              CL_SUCCESS)
        << step.dump();
  }
};

}  // namespace

Result<std::shared_ptr<OpenClDevice>> OpenClDevice::open() {
  if (!library()) return fail("no OpenCL library (package ocl-icd-libopencl1)");
  cl_platform_id platforms[16];
  cl_uint count = 0;
  if (CL(clGetPlatformIDs)(16, platforms, &count) != CL_SUCCESS || count == 0)
    return fail("no OpenCL platform (package pocl-opencl-icd)");
  auto made = std::make_shared<Device>();
  for (cl_uint i = 0; i < std::min<cl_uint>(count, 16) && !made->device; ++i)
    if (CL(clGetDeviceIDs)(platforms[i], CL_DEVICE_TYPE_ALL, 1, &made->device, nullptr) != CL_SUCCESS)
      made->device = nullptr;
  if (!made->device) return fail("no OpenCL device");
  cl_int error = 0;
  made->context = CL(clCreateContext)(nullptr, 1, &made->device, nullptr, nullptr, &error);
  if (error != CL_SUCCESS) return fail("clCreateContext: {}", error);
  made->queue = CL(clCreateCommandQueue)(made->context, made->device, 0, &error);
  if (error != CL_SUCCESS) return fail("clCreateCommandQueue: {}", error);
  return made;
}

}  // namespace kforge

#else
namespace kforge {
Result<std::shared_ptr<OpenClDevice>> OpenClDevice::open() {
  return fail("built without the OpenCL headers (package opencl-c-headers)");
}
}  // namespace kforge
#endif
