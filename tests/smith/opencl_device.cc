#include "opencl_device.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstring>
#include <map>
#include <vector>

#include "plan_of_design.h"

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
    KF_TRY(const LaunchPlan plan, plan_of_design(problem, design));
    std::map<std::string, cl_kernel> kernels;
    for (const std::string& name : plan.kernels()) {
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

  void run(const smith::Problem& problem, const LaunchPlan& plan,
           const std::map<std::string, cl_kernel>& kernels, void** arguments) {
    std::vector<Buffer> buffers;
    for (const PlanMemory& memory : plan.memory)
      buffers.push_back(buffer(memory.bytes, 0xff));  // what nobody has written is NaN
    for (std::size_t i = 0; i < plan.tensors; ++i)
      if (problem.arguments[i].role != smith::ArgumentRole::kOutput) CL(clEnqueueWriteBuffer)
    (queue, buffers[i].memory, CL_TRUE, 0, buffers[i].bytes, arguments[i], 0, nullptr, nullptr);
    // The smith's plans are launches.
    for (const auto* steps : {&plan.prepare, &plan.run})
      for (const PlanStep& step : *steps) launch(std::get<PlanLaunch>(step), kernels, buffers);
    ASSERT_EQ(CL(clFinish)(queue), CL_SUCCESS);
    for (std::size_t i = 0; i < plan.tensors; ++i) CL(clEnqueueReadBuffer)
    (queue, buffers[i].memory, CL_TRUE, 0, buffers[i].bytes, arguments[i], 0, nullptr, nullptr);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      unsigned char canary[kCanary];
      CL(clEnqueueReadBuffer)
      (queue, buffers[i].memory, CL_TRUE, buffers[i].bytes, kCanary, canary, 0, nullptr, nullptr);
      for (const unsigned char c : canary)
        ASSERT_EQ(c, 0xa5) << "wrote behind '" << plan.memory[i].name << "'";
      CL(clReleaseMemObject)(buffers[i].memory);
    }
  }

  void launch(const PlanLaunch& step, const std::map<std::string, cl_kernel>& kernels,
              const std::vector<Buffer>& buffers) {
    cl_kernel kernel = kernels.at(step.kernel);
    for (cl_uint i = 0; i < step.arguments.size(); ++i)
      ASSERT_EQ(CL(clSetKernelArg)(kernel, i, sizeof(cl_mem),
                                   &buffers[std::get<PlanUse>(step.arguments[i]).memory].memory),
                CL_SUCCESS)
          << step.kernel << " argument " << i;
    std::size_t local[3], global[3];
    for (std::size_t i = 0; i < 3; ++i) local[i] = step.block[i], global[i] = local[i] * step.grid[i];
    ASSERT_EQ(CL(clEnqueueNDRangeKernel)(queue, kernel, 3, nullptr, global, local, 0, nullptr, nullptr),
              CL_SUCCESS)
        << step.kernel;
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
