// OpenCL: any installable client driver; PoCL where there is no GPU. Calls are enqueued on one in-order
// queue.
#include <algorithm>
#include <cstring>
#include <map>

#include "base/nearest.h"
#include "device/device_api.h"

#if __has_include(<CL/cl.h>)
#include "device/opencl_library.h"
#include "device/package_folder.h"
#include "device/signature.h"

namespace kforge {
namespace {

template <class T>
T device_info(cl_device_id device, cl_device_info what) {
  T value{};
  KF_CL(clGetDeviceInfo)(device, what, sizeof value, &value, nullptr);
  return value;
}
template <>
std::string device_info(cl_device_id device, cl_device_info what) {
  char text[4096] = {};
  KF_CL(clGetDeviceInfo)(device, what, sizeof text - 1, text, nullptr);
  return text;
}

std::string device_type(cl_device_id device) {
  const auto type = device_info<cl_device_type>(device, CL_DEVICE_TYPE);
  return type & CL_DEVICE_TYPE_CPU ? "cpu" : type & CL_DEVICE_TYPE_GPU ? "gpu" : "other";
}

DeviceFacts facts_of(cl_device_id device) {
  DeviceFacts facts;
  facts.api = "opencl";
  facts.name = device_info<std::string>(device, CL_DEVICE_NAME);
  facts.version = device_info<std::string>(device, CL_DEVICE_VERSION);
  facts.driver = device_info<std::string>(device, CL_DRIVER_VERSION);
  facts.type = device_type(device);
  facts.compute_units = device_info<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  facts.most_threads =
      static_cast<std::uint32_t>(device_info<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  facts.shared_bytes = device_info<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  facts.memory_bytes = device_info<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  facts.largest_buffer = device_info<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  facts.alignment = device_info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  const std::string extensions = device_info<std::string>(device, CL_DEVICE_EXTENSIONS);
  auto has = [&](const char* extension) { return extensions.find(extension) != std::string::npos; };
  constexpr cl_device_info kSubGroupSizesIntel = 0x4108;
  if (has("cl_intel_required_subgroup_size")) {
    std::size_t sizes[16] = {}, bytes = 0;
    if (KF_CL(clGetDeviceInfo)(device, kSubGroupSizesIntel, sizeof sizes, sizes, &bytes) == CL_SUCCESS)
      for (std::size_t i = 0; i < bytes / sizeof sizes[0]; ++i)
        facts.sub_groups.push_back(static_cast<std::uint32_t>(sizes[i]));
  }
  facts.fp16 = has("cl_khr_fp16");
  facts.fp64 = has("cl_khr_fp64");
  const auto floats = device_info<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG);
  facts.denormals = floats & CL_FP_DENORM;
  facts.nonfinite = floats & CL_FP_INF_NAN;
  facts.clock_tick_ns =
      static_cast<double>(device_info<std::size_t>(device, CL_DEVICE_PROFILING_TIMER_RESOLUTION));
  return facts;
}

class ClMemory final : public DeviceMemory {
 public:
  ClMemory(cl_command_queue queue, cl_mem memory) : queue_(queue), memory_(memory) {}
  ~ClMemory() override { KF_CL(clReleaseMemObject)(memory_); }

  Result<void> write(std::size_t offset, std::span<const std::byte> from) override {
    KF_CL_TRY(clEnqueueWriteBuffer, queue_, memory_, CL_TRUE, offset, from.size(), from.data(), 0, nullptr,
              nullptr);
    return {};
  }
  Result<void> read(std::size_t offset, std::span<std::byte> to) const override {
    KF_CL_TRY(clEnqueueReadBuffer, queue_, memory_, CL_TRUE, offset, to.size(), to.data(), 0, nullptr,
              nullptr);
    return {};
  }
  cl_mem get() const { return memory_; }

 private:
  cl_command_queue queue_;
  cl_mem memory_;
};

cl_mem memory_of(const PlacedMemory& placed) { return static_cast<ClMemory*>(placed.memory)->get(); }

struct Argument {
  cl_mem memory = nullptr;        // or:
  std::vector<std::byte> scalar;  // or neither: local memory
  std::size_t local_bytes = 0;
};
struct Launch {
  cl_kernel kernel = nullptr;
  std::size_t global[3] = {}, local[3] = {};
  std::vector<Argument> arguments;
};
struct Fill {
  cl_mem memory = nullptr;
  std::size_t offset = 0, bytes = 0;
  std::vector<std::byte> pattern;
};
struct Copy {
  cl_mem from = nullptr, to = nullptr;
  std::size_t from_offset = 0, to_offset = 0, bytes = 0;
};

class ClCall final : public DeviceCall {
 public:
  ~ClCall() override {
    for (cl_mem part : parts) KF_CL(clReleaseMemObject)(part);
  }
  std::vector<std::variant<Launch, Fill, Copy>> steps;
  std::vector<cl_mem> parts;  // sub-buffers
};

class OpenCl final : public DeviceApi {
 public:
  OpenCl(cl_device_id device, cl_context context, cl_command_queue queue)
      : device_(device), context_(context), queue_(queue), facts_(facts_of(device)) {}

  const DeviceFacts& facts() const override { return facts_; }

  Step<std::string> build(DevicePackage& package, const LaunchPlan& plan, bool check) override {
    KF_STEP(std::string log, package.binaries.contains("") ? load(package.binaries[""]) : compile(package));
    kernels_.clear();
    for (const std::string& name : plan.kernels()) {
      cl_int error = CL_SUCCESS;
      cl_kernel kernel = KF_CL(clCreateKernel)(program_, name.c_str(), &error);
      if (error != CL_SUCCESS) return candidate_failed(CompileError{no_kernel(name)});
      kernels_[name] = kernel;
    }
    if (!check) return log;
    if (auto mistake = launch_mistake(plan)) return candidate_failed(CompileError{*mistake});
    if (auto binary = binary_of_program()) package.binaries[""] = std::move(*binary);
    return log + resources();
  }

  Result<std::unique_ptr<DeviceMemory>> allocate(std::size_t bytes) override {
    cl_int error = CL_SUCCESS;
    cl_mem memory = KF_CL(clCreateBuffer)(context_, CL_MEM_READ_WRITE, bytes, nullptr, &error);
    if (error != CL_SUCCESS) return fail("clCreateBuffer of {} bytes: {}", bytes, opencl_error(error));
    return std::make_unique<ClMemory>(queue_, memory);
  }

  Result<std::unique_ptr<DeviceMemory>> allocate_on(std::span<std::byte> pages) override {
    if (!facts_.this_processor()) return nullptr;
    cl_int error = CL_SUCCESS;
    cl_mem memory = KF_CL(clCreateBuffer)(context_, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, pages.size(),
                                          pages.data(), &error);
    if (error != CL_SUCCESS) return nullptr;
    return std::make_unique<ClMemory>(queue_, memory);
  }

  Result<std::unique_ptr<DeviceCall>> record(const LaunchPlan& plan, const std::vector<PlanStep>& steps,
                                             const std::vector<PlacedMemory>& memory) override {
    auto call = std::make_unique<ClCall>();
    std::map<std::pair<std::size_t, std::size_t>, cl_mem> parts;
    for (const PlanStep& step : steps) {
      if (const auto* launch = std::get_if<PlanLaunch>(&step)) {
        KF_TRY(Launch bound, bind(*launch, memory, parts));
        call->steps.emplace_back(std::move(bound));
      } else if (const auto* fill = std::get_if<PlanFill>(&step)) {
        const PlacedMemory& at = memory[fill->memory];
        call->steps.emplace_back(Fill{memory_of(at), at.offset, at.bytes,
                                      element_bytes(plan.memory[fill->memory].dtype, fill->value)});
      } else {
        const auto& copy = std::get<PlanCopy>(step);
        const PlacedMemory &from = memory[copy.from], &to = memory[copy.to];
        call->steps.emplace_back(Copy{memory_of(from), memory_of(to), from.offset, to.offset, copy.bytes});
      }
    }
    for (const auto& [place, part] : parts) call->parts.push_back(part);
    return call;
  }

  Result<void> submit(DeviceCall& call) override {
    const auto& steps = static_cast<ClCall&>(call).steps;
    for (const auto& step : steps) {
      cl_event event = nullptr;
      // Of the batch only the first start and the last end are looked at.
      const bool first = !first_, last = &step == &steps.back();
      cl_event* wanted = first || last ? &event : nullptr;
      KF_TRY_VOID(std::visit([&](const auto& one) { return enqueue(one, wanted); }, step));
      if (last) {
        if (last_ && last_ != first_) KF_CL(clReleaseEvent)(last_);
        last_ = event;
      }
      if (first) first_ = event;
    }
    KF_CL(clFlush)(queue_);
    return {};
  }

  Result<std::uint64_t> finish() override {
    KF_CL_TRY(clFinish, queue_);
    cl_ulong start = 0, end = 0;
    if (first_)
      KF_CL(clGetEventProfilingInfo)(first_, CL_PROFILING_COMMAND_START, sizeof start, &start, nullptr);
    if (last_) {
      cl_int status = CL_COMPLETE;
      KF_CL(clGetEventInfo)(last_, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr);
      if (status < 0) return fail("a step of the plan failed on the device: {}", opencl_error(status));
      KF_CL(clGetEventProfilingInfo)(last_, CL_PROFILING_COMMAND_END, sizeof end, &end, nullptr);
    }
    if (last_ && last_ != first_) KF_CL(clReleaseEvent)(last_);
    if (first_) KF_CL(clReleaseEvent)(first_);
    first_ = last_ = nullptr;
    return end > start ? end - start : 0;
  }

 private:
  Step<std::string> compile(const DevicePackage& package) {
    // OpenCL C 1.2 everywhere: it has no variables that live between launches. No relaxed mathematics.
    std::string options = "-cl-std=CL1.2 -cl-kernel-arg-info -cl-fp32-correctly-rounded-divide-sqrt";
    if (!(device_info<cl_device_fp_config>(device_, CL_DEVICE_SINGLE_FP_CONFIG) &
          CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT))
      options = "-cl-std=CL1.2 -cl-kernel-arg-info";
    if (package.files.size() > 1) {
      KF_TRY(const std::string folder, write_package_files(package, 1));  // what the main one includes
      options += " -I " + folder;
    }
    const std::string source = package.prelude() + package.files.front().content;
    const char* text = source.c_str();
    cl_int error = CL_SUCCESS;
    program_ = KF_CL(clCreateProgramWithSource)(context_, 1, &text, nullptr, &error);
    if (error != CL_SUCCESS) return fail("clCreateProgramWithSource: {}", opencl_error(error));
    error = KF_CL(clBuildProgram)(program_, 1, &device_, options.c_str(), nullptr, nullptr);
    std::string log = build_log();
    if (error == CL_BUILD_PROGRAM_FAILURE || error == CL_COMPILE_PROGRAM_FAILURE ||
        error == CL_LINK_PROGRAM_FAILURE)
      return candidate_failed(
          CompileError{log.empty() ? std::string("error: the device's compiler said nothing\n") : log});
    if (error != CL_SUCCESS) return fail("clBuildProgram: {}\n{}", opencl_error(error), log);
    return log;
  }

  Step<std::string> load(const std::string& binary) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t size = binary.size();
    cl_int status = CL_SUCCESS, error = CL_SUCCESS;
    program_ = KF_CL(clCreateProgramWithBinary)(context_, 1, &device_, &size, &bytes, &status, &error);
    if (error != CL_SUCCESS) return fail("clCreateProgramWithBinary: {}", opencl_error(error));
    KF_CL_TRY(clBuildProgram, program_, 1, &device_, "", nullptr, nullptr);
    return std::string();
  }

  std::string build_log() const {
    std::size_t bytes = 0;
    KF_CL(clGetProgramBuildInfo)(program_, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
    std::string log(bytes, '\0');
    KF_CL(clGetProgramBuildInfo)(program_, device_, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
    while (!log.empty() && log.back() == '\0') log.pop_back();
    return log;
  }

  std::optional<std::string> binary_of_program() const {
    std::size_t bytes = 0;
    if (KF_CL(clGetProgramInfo)(program_, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) !=
            CL_SUCCESS ||
        bytes == 0)
      return std::nullopt;
    std::string binary(bytes, '\0');
    auto* data = reinterpret_cast<unsigned char*>(binary.data());
    if (KF_CL(clGetProgramInfo)(program_, CL_PROGRAM_BINARIES, sizeof data, &data, nullptr) != CL_SUCCESS)
      return std::nullopt;
    return binary;
  }

  std::string no_kernel(const std::string& name) const {
    char text[8192] = {};
    KF_CL(clGetProgramInfo)(program_, CL_PROGRAM_KERNEL_NAMES, sizeof text - 1, text, nullptr);
    std::vector<std::string> names;
    std::string_view rest = text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      names.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return fmt::format("plan.json: error: the source has no kernel '{}'{}\n", name,
                       did_you_mean(name, names));
  }

  std::vector<KernelParameter> parameters(cl_kernel kernel) const {
    cl_uint count = 0;
    KF_CL(clGetKernelInfo)(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr);
    std::vector<KernelParameter> all(count);
    for (cl_uint i = 0; i < count; ++i) {
      cl_kernel_arg_address_qualifier space = CL_KERNEL_ARG_ADDRESS_PRIVATE;
      char type[256] = {}, name[256] = {};
      KF_CL(clGetKernelArgInfo)(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space, nullptr);
      KF_CL(clGetKernelArgInfo)(kernel, i, CL_KERNEL_ARG_TYPE_NAME, sizeof type - 1, type, nullptr);
      KF_CL(clGetKernelArgInfo)(kernel, i, CL_KERNEL_ARG_NAME, sizeof name - 1, name, nullptr);
      all[i].kind = space == CL_KERNEL_ARG_ADDRESS_PRIVATE ? KernelParameter::Kind::kScalar
                    : space == CL_KERNEL_ARG_ADDRESS_LOCAL ? KernelParameter::Kind::kLocal
                                                           : KernelParameter::Kind::kMemory;
      all[i].type = type;
      all[i].name = name;
    }
    return all;
  }

  template <class T>
  T work_group_info(cl_kernel kernel, cl_kernel_work_group_info what) const {
    T value{};
    KF_CL(clGetKernelWorkGroupInfo)(kernel, device_, what, sizeof value, &value, nullptr);
    return value;
  }

  std::optional<std::string> launch_mistake(const LaunchPlan& plan) const {
    for (const auto& [name, steps] : {std::pair{"prepare", &plan.prepare}, std::pair{"run", &plan.run}})
      for (const PlanStep& step : *steps) {
        const auto* launch = std::get_if<PlanLaunch>(&step);
        if (!launch) continue;
        cl_kernel kernel = kernels_.at(launch->kernel);
        auto mistake = signature_mistake(plan, *launch, parameters(kernel));
        if (!mistake) mistake = size_mistake(*launch, kernel);
        if (mistake) return fmt::format("plan.json: error: {}: {}\n", name, *mistake);
      }
    return std::nullopt;
  }

  std::optional<std::string> size_mistake(const PlanLaunch& launch, cl_kernel kernel) const {
    using Sizes = std::array<std::size_t, 3>;
    const auto required = work_group_info<Sizes>(kernel, CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
    const Sizes given{launch.block[0], launch.block[1], launch.block[2]};
    if (required[0] != 0 && required != given)
      return fmt::format(
          "kernel '{}' is compiled for blocks of {} x {} x {} (reqd_work_group_size), and the plan gives it "
          "{} x {} x {}",
          launch.kernel, required[0], required[1], required[2], given[0], given[1], given[2]);
    const auto most = work_group_info<std::size_t>(kernel, CL_KERNEL_WORK_GROUP_SIZE);
    if (most != 0 && given[0] * given[1] * given[2] > most)
      return fmt::format("kernel '{}' runs with at most {} threads in a block here, and the plan gives it {}",
                         launch.kernel, most, given[0] * given[1] * given[2]);
    const auto local = work_group_info<cl_ulong>(kernel, CL_KERNEL_LOCAL_MEM_SIZE) + launch.shared_bytes;
    if (local > facts_.shared_bytes)
      return fmt::format("kernel '{}' needs {} bytes of local memory, and a block has {}", launch.kernel,
                         local, facts_.shared_bytes);
    for (const PlanArgument& argument : launch.arguments)
      if (const auto* use = std::get_if<PlanUse>(&argument))
        if (facts_.alignment > 1 && use->offset % facts_.alignment != 0)
          return fmt::format("kernel '{}': the offset {} must be a multiple of {} bytes on this device",
                             launch.kernel, use->offset, facts_.alignment);
    return std::nullopt;
  }

  std::string resources() const {
    std::string text;
    for (const auto& [name, kernel] : kernels_)
      text += fmt::format("note: kernel '{}': {} bytes of local and {} of private memory\n", name,
                          work_group_info<cl_ulong>(kernel, CL_KERNEL_LOCAL_MEM_SIZE),
                          work_group_info<cl_ulong>(kernel, CL_KERNEL_PRIVATE_MEM_SIZE));
    return text;
  }

  Result<Launch> bind(const PlanLaunch& from, const std::vector<PlacedMemory>& memory,
                      std::map<std::pair<std::size_t, std::size_t>, cl_mem>& parts) const {
    Launch launch;
    launch.kernel = kernels_.at(from.kernel);
    for (int i = 0; i < 3; ++i) {
      launch.local[i] = from.block[static_cast<std::size_t>(i)];
      launch.global[i] = launch.local[i] * from.grid[static_cast<std::size_t>(i)];
    }
    for (const PlanArgument& argument : from.arguments) {
      if (const auto* scalar = std::get_if<PlanScalar>(&argument)) {
        launch.arguments.push_back({.scalar = scalar_bytes(*scalar)});
        continue;
      }
      const auto& use = std::get<PlanUse>(argument);
      cl_mem& part = parts[{use.memory, use.offset}];
      if (!part) {
        const PlacedMemory& placed = memory[use.memory];
        const cl_buffer_region region{placed.offset + use.offset, placed.bytes - use.offset};
        cl_int error = CL_SUCCESS;
        part = KF_CL(clCreateSubBuffer)(memory_of(placed), CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
                                        &region, &error);
        if (error != CL_SUCCESS) return fail("clCreateSubBuffer: {}", opencl_error(error));
      }
      launch.arguments.push_back({.memory = part});
    }
    if (from.shared_bytes > 0) launch.arguments.push_back({.local_bytes = from.shared_bytes});
    return launch;
  }

  Result<void> enqueue(const Launch& launch, cl_event* event) const {
    for (cl_uint i = 0; i < launch.arguments.size(); ++i) {
      const Argument& argument = launch.arguments[i];
      const void* value =
          argument.memory ? static_cast<const void*>(&argument.memory) : argument.scalar.data();
      const std::size_t bytes = argument.memory        ? sizeof argument.memory
                                : argument.local_bytes ? argument.local_bytes
                                                       : argument.scalar.size();
      KF_CL_TRY(clSetKernelArg, launch.kernel, i, bytes, argument.local_bytes ? nullptr : value);
    }
    KF_CL_TRY(clEnqueueNDRangeKernel, queue_, launch.kernel, 3, nullptr, launch.global, launch.local, 0,
              nullptr, event);
    return {};
  }
  Result<void> enqueue(const Fill& fill, cl_event* event) const {
    KF_CL_TRY(clEnqueueFillBuffer, queue_, fill.memory, fill.pattern.data(), fill.pattern.size(), fill.offset,
              fill.bytes, 0, nullptr, event);
    return {};
  }
  Result<void> enqueue(const Copy& copy, cl_event* event) const {
    KF_CL_TRY(clEnqueueCopyBuffer, queue_, copy.from, copy.to, copy.from_offset, copy.to_offset, copy.bytes,
              0, nullptr, event);
    return {};
  }

  cl_device_id device_;
  cl_context context_;
  cl_command_queue queue_;
  DeviceFacts facts_;
  cl_program program_ = nullptr;
  std::map<std::string, cl_kernel> kernels_;
  cl_event first_ = nullptr, last_ = nullptr;  // of the batch under way
};

}  // namespace

Result<std::unique_ptr<DeviceApi>> open_opencl() {
  if (!KF_CL(clGetPlatformIDs)) return fail("there is no libOpenCL.so.1");
  cl_platform_id platforms[16];
  cl_uint count = 0;
  if (KF_CL(clGetPlatformIDs)(16, platforms, &count) != CL_SUCCESS || count == 0)
    return fail("libOpenCL.so.1 finds no driver behind it");
  // A GPU before a processor, whichever driver is named first.
  cl_device_id device = nullptr;
  constexpr cl_device_type kBestFirst[] = {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR,
                                           CL_DEVICE_TYPE_ALL};
  for (const cl_device_type type : kBestFirst)
    for (cl_uint i = 0; i < std::min<cl_uint>(count, 16) && !device; ++i)
      if (KF_CL(clGetDeviceIDs)(platforms[i], type, 1, &device, nullptr) != CL_SUCCESS) device = nullptr;
  if (!device) return fail("no OpenCL driver has a device here");
  cl_int error = CL_SUCCESS;
  cl_context context = KF_CL(clCreateContext)(nullptr, 1, &device, nullptr, nullptr, &error);
  if (error != CL_SUCCESS) return fail("clCreateContext: {}", opencl_error(error));
  cl_command_queue queue = KF_CL(clCreateCommandQueue)(context, device, CL_QUEUE_PROFILING_ENABLE, &error);
  if (error != CL_SUCCESS) return fail("clCreateCommandQueue: {}", opencl_error(error));
  return std::make_unique<OpenCl>(device, context, queue);
}

}  // namespace kforge

#else
namespace kforge {
Result<std::unique_ptr<DeviceApi>> open_opencl() {
  return fail("this KForge was built without the OpenCL headers (package opencl-c-headers)");
}
}  // namespace kforge
#endif
