// Vulkan: compute pipelines from SPIR-V that [build] made; lavapipe where there is no GPU. Each call is a
// command buffer, recorded outside the clock and submitted in it.
#include "device/device_api.h"

#if __has_include(<vulkan/vulkan.h>)
#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <map>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include "device/spirv.h"

namespace kforge {
namespace {

void* vulkan_function(const char* name) {
  static void* library = ::dlopen("libvulkan.so.1", RTLD_NOW | RTLD_GLOBAL);
  return library ? ::dlsym(library, name) : nullptr;
}
#define KF_VK(function) (reinterpret_cast<PFN_##function>(vulkan_function(#function)))
#define KF_VK_TRY(function, ...)                                                    \
  if (const VkResult kf_code = KF_VK(function)(__VA_ARGS__); kf_code != VK_SUCCESS) \
  return ::kforge::fail(#function ": {}", vulkan_error(kf_code))

std::string vulkan_error(VkResult code) {
  switch (code) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_DEVICE_LOST:
      return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "VK_ERROR_INCOMPATIBLE_DRIVER (no driver)";
    default:
      return fmt::format("error {}", static_cast<int>(code));
  }
}

constexpr std::size_t kStaging = std::size_t{4} << 20;

struct VulkanBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
};

struct VulkanKernel {
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkDescriptorSetLayout set = VK_NULL_HANDLE;
};

class Vulkan;

class VulkanMemory final : public DeviceMemory {
 public:
  VulkanMemory(Vulkan& vulkan, VulkanBuffer buffer) : vulkan_(vulkan), buffer_(buffer) {}
  ~VulkanMemory() override;
  Result<void> write(std::size_t offset, std::span<const std::byte> from) override;
  Result<void> read(std::size_t offset, std::span<std::byte> to) const override;
  VkBuffer get() const { return buffer_.buffer; }

 private:
  Vulkan& vulkan_;
  VulkanBuffer buffer_;
};

VkBuffer buffer_of(const PlacedMemory& placed) { return static_cast<VulkanMemory*>(placed.memory)->get(); }

struct VulkanCall final : DeviceCall {
  VkCommandBuffer commands = VK_NULL_HANDLE;
  VkQueryPool times = VK_NULL_HANDLE;
  std::vector<std::unique_ptr<DeviceMemory>> patterns;  // what fills copy from
};

// Scalars of a launch as its push block holds them.
std::vector<std::byte> push_block(const PlanLaunch& launch) {
  std::vector<std::byte> block;
  for (const PlanArgument& argument : launch.arguments) {
    const auto* scalar = std::get_if<PlanScalar>(&argument);
    if (!scalar) continue;
    const bool wide = scalar->type == PlanScalar::Type::kInt64;
    const std::size_t size = wide ? 8 : 4, at = (block.size() + size - 1) / size * size;
    block.resize(at + size);
    if (scalar->type == PlanScalar::Type::kFloat32)
      std::memcpy(block.data() + at, &scalar->real, size);
    else
      std::memcpy(block.data() + at, &scalar->integer,
                  size);  // little-endian: the low half where it is narrow
  }
  return block;
}

std::vector<std::uint32_t> memory_bindings(const PlanLaunch& launch) {
  std::vector<std::uint32_t> bindings;
  for (std::uint32_t i = 0; i < launch.arguments.size(); ++i)
    if (std::holds_alternative<PlanUse>(launch.arguments[i])) bindings.push_back(i);
  return bindings;
}

class Vulkan final : public DeviceApi {
 public:
  Result<void> open() {
    if (!KF_VK(vkCreateInstance)) return fail("there is no libvulkan.so.1");
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo create{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    create.pApplicationInfo = &application;
    KF_VK_TRY(vkCreateInstance, &create, nullptr, &instance_);
    KF_TRY_VOID(choose_device());
    KF_TRY_VOID(open_queue());
    KF_TRY(const VulkanBuffer staging,
           make_buffer(kStaging, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT));
    staging_ = staging.buffer;
    void* at = nullptr;
    KF_VK_TRY(vkMapMemory, device_, staging.memory, 0, VK_WHOLE_SIZE, 0, &at);
    mapped_ = static_cast<std::byte*>(at);
    return {};
  }

  const DeviceFacts& facts() const override { return facts_; }

  Step<std::string> build(DevicePackage& package, const LaunchPlan& plan, bool check) override {
    std::string log;
    kernels_.clear();
    for (const auto& [where, steps] : {std::pair{"prepare", &plan.prepare}, std::pair{"run", &plan.run}})
      for (const PlanStep& step : *steps) {
        const auto* launch = std::get_if<PlanLaunch>(&step);
        if (!launch) continue;
        const auto code = package.binaries.find(launch->kernel);
        if (code == package.binaries.end()) return fail("the package has no SPIR-V of '{}'", launch->kernel);
        KF_TRY(const SpirvFacts spirv, read_spirv(code->second));
        if (check)
          if (auto mistake = launch_mistake(*launch, spirv))
            return candidate_failed(CompileError{fmt::format("plan.json: error: {}: {}\n", where, *mistake)});
        if (kernels_.contains(launch->kernel)) continue;
        KF_TRY(kernels_[launch->kernel], make_kernel(code->second, *launch, package.macros));
        log += fmt::format("note: kernel '{}': {} bytes of SPIR-V\n", launch->kernel, code->second.size());
      }
    return log;
  }

  Result<std::unique_ptr<DeviceMemory>> allocate(std::size_t bytes) override {
    KF_TRY(const VulkanBuffer made, make_buffer(bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT));
    return std::make_unique<VulkanMemory>(*this, made);
  }

  Result<std::unique_ptr<DeviceMemory>> allocate_on(std::span<std::byte> pages) override {
    if (!imports_memory_ || !facts_.this_processor()) return nullptr;
    auto made = import_buffer(pages);
    if (!made) return nullptr;
    return std::make_unique<VulkanMemory>(*this, *made);
  }

  Result<std::unique_ptr<DeviceCall>> record(const LaunchPlan& plan, const std::vector<PlanStep>& steps,
                                             const std::vector<PlacedMemory>& memory) override {
    auto call = std::make_unique<VulkanCall>();
    KF_TRY(call->commands, new_commands());
    VkQueryPoolCreateInfo queries{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
    queries.queryCount = 2;
    KF_VK_TRY(vkCreateQueryPool, device_, &queries, nullptr, &call->times);
    KF_TRY(const VkDescriptorPool sets, descriptors_for(steps));
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    KF_VK_TRY(vkBeginCommandBuffer, call->commands, &begin);
    KF_VK(vkCmdResetQueryPool)(call->commands, call->times, 0, 2);
    KF_VK(vkCmdWriteTimestamp)(call->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, call->times, 0);
    for (const PlanStep& step : steps) {
      if (const auto* launch = std::get_if<PlanLaunch>(&step)) {
        KF_TRY_VOID(add(*call, *launch, memory, sets));
      } else if (const auto* fill = std::get_if<PlanFill>(&step)) {
        KF_TRY_VOID(
            add(*call, element_bytes(plan.memory[fill->memory].dtype, fill->value), memory[fill->memory]));
      } else {
        const auto& copy = std::get<PlanCopy>(step);
        const VkBufferCopy region{memory[copy.from].offset, memory[copy.to].offset, copy.bytes};
        KF_VK(vkCmdCopyBuffer)
        (call->commands, buffer_of(memory[copy.from]), buffer_of(memory[copy.to]), 1, &region);
      }
      barrier(call->commands);
    }
    KF_VK(vkCmdWriteTimestamp)(call->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, call->times, 1);
    KF_VK_TRY(vkEndCommandBuffer, call->commands);
    return call;
  }

  Result<void> submit(DeviceCall& call) override {
    auto& own = static_cast<VulkanCall&>(call);
    KF_TRY_VOID(submit_commands(own.commands));
    if (first_ == VK_NULL_HANDLE) first_ = own.times;
    last_ = own.times;
    return {};
  }

  Result<std::uint64_t> finish() override {
    KF_VK_TRY(vkQueueWaitIdle, queue_);
    std::uint64_t start = 0, end = 0;
    const bool timed = first_ != VK_NULL_HANDLE && facts_.clock_tick_ns > 0;
    auto read = [&](VkQueryPool pool, std::uint32_t which, std::uint64_t& value) {
      return KF_VK(vkGetQueryPoolResults)(device_, pool, which, 1, sizeof value, &value, sizeof value,
                                          VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT) == VK_SUCCESS;
    };
    const bool known = timed && read(first_, 0, start) && read(last_, 1, end);
    first_ = last_ = VK_NULL_HANDLE;
    if (!known || end <= start) return 0;
    return static_cast<std::uint64_t>(static_cast<double>(end - start) * facts_.clock_tick_ns);
  }

  // `bytes` of the staging memory to or from a buffer.
  Result<void> copy(VkBuffer from, std::size_t from_offset, VkBuffer to, std::size_t to_offset,
                    std::size_t bytes) {
    if (copies_ == VK_NULL_HANDLE) {
      KF_TRY(copies_, new_commands());
    }
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    KF_VK_TRY(vkBeginCommandBuffer, copies_, &begin);
    const VkBufferCopy region{from_offset, to_offset, bytes};
    KF_VK(vkCmdCopyBuffer)(copies_, from, to, 1, &region);
    barrier(copies_);
    KF_VK_TRY(vkEndCommandBuffer, copies_);
    KF_TRY_VOID(submit_commands(copies_));
    KF_VK_TRY(vkQueueWaitIdle, queue_);
    return {};
  }
  VkBuffer staging() const { return staging_; }
  std::byte* mapped() const { return mapped_; }
  void free(const VulkanBuffer& buffer) const {
    KF_VK(vkDestroyBuffer)(device_, buffer.buffer, nullptr);
    KF_VK(vkFreeMemory)(device_, buffer.memory, nullptr);
  }

 private:
  // A GPU before a processor.
  Result<void> choose_device() {
    VkPhysicalDevice devices[16];
    std::uint32_t count = 16;
    KF_VK(vkEnumeratePhysicalDevices)(instance_, &count, devices);
    if (count == 0) return fail("libvulkan.so.1 finds no driver behind it");
    auto rank = [](VkPhysicalDevice device) {
      VkPhysicalDeviceProperties properties;
      KF_VK(vkGetPhysicalDeviceProperties)(device, &properties);
      constexpr VkPhysicalDeviceType kBestFirst[] = {
          VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU,
          VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, VK_PHYSICAL_DEVICE_TYPE_OTHER, VK_PHYSICAL_DEVICE_TYPE_CPU};
      return std::ranges::find(kBestFirst, properties.deviceType) - std::begin(kBestFirst);
    };
    physical_ = *std::ranges::min_element(std::span(devices).first(count), {}, rank);
    return {};
  }

  Result<void> open_queue() {
    VkQueueFamilyProperties families[16];
    std::uint32_t count = 16;
    KF_VK(vkGetPhysicalDeviceQueueFamilyProperties)(physical_, &count, families);
    const auto all = std::span(families).first(count);
    const auto family = std::ranges::find_if(
        all, [](const auto& one) { return (one.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0; });
    if (family == all.end()) return fail("the Vulkan device has no queue for compute shaders");
    const auto index = static_cast<std::uint32_t>(family - all.begin());
    // All that the device has: wide integers, narrow storage, double.
    VkPhysicalDeviceVulkan12Features f12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDevice16BitStorageFeatures f16{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, &f12};
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f16};
    KF_VK(vkGetPhysicalDeviceFeatures2)(physical_, &features);
    features.features.robustBufferAccess = VK_FALSE;  // who reads past an end shall not be spared
    const float priority = 1;
    VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queues.queueFamilyIndex = index;
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    imports_memory_ = has_extension(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    const char* extensions[] = {VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME};
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features};
    info.enabledExtensionCount = imports_memory_ ? 1 : 0;
    info.ppEnabledExtensionNames = extensions;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queues;
    KF_VK_TRY(vkCreateDevice, physical_, &info, nullptr, &device_);
    KF_VK(vkGetDeviceQueue)(device_, index, 0, &queue_);
    VkCommandPoolCreateInfo pools{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pools.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    pools.queueFamilyIndex = index;
    KF_VK_TRY(vkCreateCommandPool, device_, &pools, nullptr, &pool_);
    read_facts(features.features, f12, family->timestampValidBits > 0);
    return {};
  }

  bool has_extension(const char* name) const {
    std::uint32_t count = 0;
    KF_VK(vkEnumerateDeviceExtensionProperties)(physical_, nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> all(count);
    KF_VK(vkEnumerateDeviceExtensionProperties)(physical_, nullptr, &count, all.data());
    return std::ranges::any_of(all,
                               [&](const auto& one) { return std::strcmp(one.extensionName, name) == 0; });
  }

  void read_facts(const VkPhysicalDeviceFeatures& features, const VkPhysicalDeviceVulkan12Features& f12,
                  bool has_clock) {
    VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceFloatControlsProperties floats{
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES, &driver};
    VkPhysicalDeviceSubgroupProperties groups{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, &floats};
    VkPhysicalDeviceProperties2 properties{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &groups};
    KF_VK(vkGetPhysicalDeviceProperties2)(physical_, &properties);
    const VkPhysicalDeviceProperties& own = properties.properties;
    limits_ = own.limits;
    facts_.api = "vulkan";
    facts_.name = own.deviceName;
    facts_.version = fmt::format("Vulkan {}.{}.{}", VK_API_VERSION_MAJOR(own.apiVersion),
                                 VK_API_VERSION_MINOR(own.apiVersion), VK_API_VERSION_PATCH(own.apiVersion));
    facts_.driver = fmt::format("{} {}", driver.driverName, driver.driverInfo);
    facts_.type = own.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU ? "cpu"
                  : own.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ||
                          own.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU
                      ? "gpu"
                      : "other";
    facts_.most_threads = limits_.maxComputeWorkGroupInvocations;
    facts_.shared_bytes = limits_.maxComputeSharedMemorySize;
    facts_.largest_buffer = limits_.maxStorageBufferRange;
    facts_.alignment = static_cast<std::uint32_t>(limits_.minStorageBufferOffsetAlignment);
    facts_.sub_groups = {groups.subgroupSize};
    facts_.fp16 = f12.shaderFloat16;
    facts_.fp64 = features.shaderFloat64;
    facts_.denormals = floats.shaderDenormPreserveFloat32;
    facts_.nonfinite = floats.shaderSignedZeroInfNanPreserveFloat32;
    facts_.clock_tick_ns = has_clock ? limits_.timestampPeriod : 0;
    KF_VK(vkGetPhysicalDeviceMemoryProperties)(physical_, &kinds_);
    for (const VkMemoryHeap& heap : std::span(kinds_.memoryHeaps).first(kinds_.memoryHeapCount))
      if (heap.flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
        facts_.memory_bytes = std::max<std::uint64_t>(facts_.memory_bytes, heap.size);
  }

  static VkBufferCreateInfo buffer_info(std::size_t bytes) {
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = bytes;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT;
    return info;
  }

  // On pages of the process.
  Result<VulkanBuffer> import_buffer(std::span<std::byte> pages) const {
    constexpr auto kHandle = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    const auto kinds_of = reinterpret_cast<PFN_vkGetMemoryHostPointerPropertiesEXT>(
        KF_VK(vkGetDeviceProcAddr)(device_, "vkGetMemoryHostPointerPropertiesEXT"));
    if (!kinds_of) return fail("there is no vkGetMemoryHostPointerPropertiesEXT");
    VkMemoryHostPointerPropertiesEXT kinds{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    if (kinds_of(device_, kHandle, pages.data(), &kinds) != VK_SUCCESS || kinds.memoryTypeBits == 0)
      return fail("the Vulkan device takes no memory of the process");
    const VkExternalMemoryBufferCreateInfo external{VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
                                                    nullptr, kHandle};
    VkBufferCreateInfo info = buffer_info(pages.size());
    info.pNext = &external;
    VulkanBuffer made;
    KF_VK_TRY(vkCreateBuffer, device_, &info, nullptr, &made.buffer);
    const VkImportMemoryHostPointerInfoEXT import{VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
                                                  nullptr, kHandle, pages.data()};
    const VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, &import, pages.size(),
                                        static_cast<std::uint32_t>(std::countr_zero(kinds.memoryTypeBits))};
    KF_VK_TRY(vkAllocateMemory, device_, &allocate, nullptr, &made.memory);
    KF_VK_TRY(vkBindBufferMemory, device_, made.buffer, made.memory, 0);
    return made;
  }

  Result<VulkanBuffer> make_buffer(std::size_t bytes, VkMemoryPropertyFlags wanted) const {
    VulkanBuffer made;
    const VkBufferCreateInfo info = buffer_info(bytes);
    KF_VK_TRY(vkCreateBuffer, device_, &info, nullptr, &made.buffer);
    VkMemoryRequirements needs;
    KF_VK(vkGetBufferMemoryRequirements)(device_, made.buffer, &needs);
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, needs.size, 0};
    bool found = false;
    for (std::uint32_t i = 0; i < kinds_.memoryTypeCount && !found; ++i) {
      found = (needs.memoryTypeBits >> i & 1) && (kinds_.memoryTypes[i].propertyFlags & wanted) == wanted;
      if (found) allocate.memoryTypeIndex = i;
    }
    if (!found) return fail("the Vulkan device has no memory of the kind that is needed");
    KF_VK_TRY(vkAllocateMemory, device_, &allocate, nullptr, &made.memory);
    KF_VK_TRY(vkBindBufferMemory, device_, made.buffer, made.memory, 0);
    return made;
  }

  std::optional<std::string> launch_mistake(const PlanLaunch& launch, const SpirvFacts& spirv) const {
    if (spirv.local_size != launch.block)
      return fmt::format(
          "kernel '{}' is compiled for blocks of {} x {} x {} (local_size in its layout), and the plan gives "
          "it "
          "{} x {} x {}: BLOCK_X, BLOCK_Y and BLOCK_Z are the plan's, as macros",
          launch.kernel, spirv.local_size[0], spirv.local_size[1], spirv.local_size[2], launch.block[0],
          launch.block[1], launch.block[2]);
    for (std::size_t i = 0; i < 3; ++i)
      if (launch.grid[i] > limits_.maxComputeWorkGroupCount[i])
        return fmt::format("kernel '{}': grid[{}] is {}, and the device takes {}", launch.kernel, i,
                           launch.grid[i], limits_.maxComputeWorkGroupCount[i]);
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      if (const auto* use = std::get_if<PlanUse>(&launch.arguments[i]))
        if (use->offset % std::max(facts_.alignment, 1u) != 0)
          return fmt::format("kernel '{}': the offset {} must be a multiple of {} bytes on this device",
                             launch.kernel, use->offset, facts_.alignment);
    const auto given = memory_bindings(launch);
    for (const std::uint32_t binding : spirv.bindings) {
      if (std::ranges::find(given, binding) != given.end()) continue;
      return fmt::format("kernel '{}' reads binding {}, and args[{}] of the plan is {}", launch.kernel,
                         binding, binding, binding < launch.arguments.size() ? "a scalar" : "not there");
    }
    const std::size_t pushed = push_block(launch).size();
    if (spirv.push_bytes > pushed)
      return fmt::format("kernel '{}' has a push block of {} bytes, and the plan's scalars have {}",
                         launch.kernel, spirv.push_bytes, pushed);
    return std::nullopt;
  }

  // Symbols of the plan that are named CONSTANT_<id> are specialization constants as well.
  static std::vector<std::pair<std::uint32_t, std::int32_t>> specialized(const PlanSymbols& symbols) {
    constexpr std::string_view kPrefix = "CONSTANT_";
    std::vector<std::pair<std::uint32_t, std::int32_t>> constants;
    for (const auto& [name, value] : symbols) {
      std::uint32_t id = 0;
      const char* end = name.data() + name.size();
      if (name.starts_with(kPrefix) && std::from_chars(name.data() + kPrefix.size(), end, id).ptr == end)
        constants.emplace_back(id, static_cast<std::int32_t>(value));
    }
    return constants;
  }

  Result<VulkanKernel> make_kernel(const std::string& code, const PlanLaunch& launch,
                                   const PlanSymbols& symbols) const {
    VulkanKernel made;
    const auto constants = specialized(symbols);
    std::vector<VkSpecializationMapEntry> entries;
    std::vector<std::int32_t> values;
    for (const auto& [id, value] : constants) {
      entries.push_back({id, static_cast<std::uint32_t>(4 * values.size()), 4});
      values.push_back(value);
    }
    const VkSpecializationInfo specialization{static_cast<std::uint32_t>(entries.size()), entries.data(),
                                              4 * values.size(), values.data()};
    VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    std::vector<std::uint32_t> words(code.size() / 4);
    std::memcpy(words.data(), code.data(), words.size() * 4);
    module_info.codeSize = words.size() * 4;
    module_info.pCode = words.data();
    VkShaderModule module = VK_NULL_HANDLE;
    KF_VK_TRY(vkCreateShaderModule, device_, &module_info, nullptr, &module);
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (const std::uint32_t binding : memory_bindings(launch))
      bindings.push_back(
          {binding, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
    VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set.bindingCount = static_cast<std::uint32_t>(bindings.size());
    set.pBindings = bindings.data();
    KF_VK_TRY(vkCreateDescriptorSetLayout, device_, &set, nullptr, &made.set);
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                    static_cast<std::uint32_t>(push_block(launch).size())};
    VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &made.set;
    layout.pushConstantRangeCount = range.size > 0 ? 1 : 0;
    layout.pPushConstantRanges = &range;
    KF_VK_TRY(vkCreatePipelineLayout, device_, &layout, nullptr, &made.layout);
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  nullptr,
                  0,
                  VK_SHADER_STAGE_COMPUTE_BIT,
                  module,
                  "main",
                  entries.empty() ? nullptr : &specialization};
    info.layout = made.layout;
    KF_VK_TRY(vkCreateComputePipelines, device_, VK_NULL_HANDLE, 1, &info, nullptr, &made.pipeline);
    KF_VK(vkDestroyShaderModule)(device_, module, nullptr);
    return made;
  }

  Result<VkCommandBuffer> new_commands() const {
    const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool_,
                                               VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    VkCommandBuffer commands = VK_NULL_HANDLE;
    KF_VK_TRY(vkAllocateCommandBuffers, device_, &allocate, &commands);
    return commands;
  }

  Result<VkDescriptorPool> descriptors_for(const std::vector<PlanStep>& steps) const {
    std::uint32_t sets = 0, buffers = 0;
    for (const PlanStep& step : steps)
      if (const auto* launch = std::get_if<PlanLaunch>(&step)) {
        ++sets;
        buffers += static_cast<std::uint32_t>(launch->arguments.size());
      }
    const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, std::max(buffers, 1u)};
    const VkDescriptorPoolCreateInfo info{
        VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, nullptr, 0, std::max(sets, 1u), 1, &size};
    VkDescriptorPool pool = VK_NULL_HANDLE;
    KF_VK_TRY(vkCreateDescriptorPool, device_, &info, nullptr, &pool);
    return pool;
  }

  Result<void> add(const VulkanCall& call, const PlanLaunch& launch, const std::vector<PlacedMemory>& memory,
                   VkDescriptorPool sets) const {
    const VulkanKernel& kernel = kernels_.at(launch.kernel);
    const VkDescriptorSetAllocateInfo wanted{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, sets, 1,
                                             &kernel.set};
    VkDescriptorSet set = VK_NULL_HANDLE;
    KF_VK_TRY(vkAllocateDescriptorSets, device_, &wanted, &set);
    for (const std::uint32_t binding : memory_bindings(launch)) {
      const auto& use = std::get<PlanUse>(launch.arguments[binding]);
      const PlacedMemory& placed = memory[use.memory];
      // To the end of the guard zone: drivers drop what lies outside of the range, and nobody would see it.
      const VkDescriptorBufferInfo info{buffer_of(placed), placed.offset + use.offset, VK_WHOLE_SIZE};
      VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
      write.dstSet = set, write.dstBinding = binding, write.descriptorCount = 1;
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, write.pBufferInfo = &info;
      KF_VK(vkUpdateDescriptorSets)(device_, 1, &write, 0, nullptr);
    }
    KF_VK(vkCmdBindPipeline)(call.commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline);
    KF_VK(vkCmdBindDescriptorSets)
    (call.commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout, 0, 1, &set, 0, nullptr);
    if (const auto block = push_block(launch); !block.empty()) KF_VK(vkCmdPushConstants)
    (call.commands, kernel.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, static_cast<std::uint32_t>(block.size()),
     block.data());
    KF_VK(vkCmdDispatch)(call.commands, launch.grid[0], launch.grid[1], launch.grid[2]);
    return {};
  }

  // A fill. Vulkan's own writes whole words of 32 bits; other elements are copied from memory that holds
  // many.
  Result<void> add(VulkanCall& call, const std::vector<std::byte>& element, const PlacedMemory& placed) {
    std::array<std::byte, 4> word{};
    for (std::size_t i = 0; i < word.size(); ++i) word[i] = element[i % element.size()];
    if (element.size() <= 4 && placed.bytes % 4 == 0) {
      std::uint32_t value;
      std::memcpy(&value, word.data(), sizeof value);
      KF_VK(vkCmdFillBuffer)(call.commands, buffer_of(placed), placed.offset, placed.bytes, value);
      return {};
    }
    std::vector<std::byte> block(std::min(placed.bytes, std::size_t{64} << 10));
    for (std::size_t i = 0; i < block.size(); ++i) block[i] = element[i % element.size()];
    KF_TRY(auto pattern, allocate(block.size()));
    KF_TRY_VOID(pattern->write(0, block));
    for (std::size_t done = 0; done < placed.bytes; done += block.size()) {
      const VkBufferCopy region{0, placed.offset + done, std::min(block.size(), placed.bytes - done)};
      KF_VK(vkCmdCopyBuffer)
      (call.commands, static_cast<VulkanMemory&>(*pattern).get(), buffer_of(placed), 1, &region);
    }
    call.patterns.push_back(std::move(pattern));
    return {};
  }

  // Everything after it sees what was done before it.
  static void barrier(VkCommandBuffer commands) {
    constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
    constexpr VkAccessFlags kAll = kWrites | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
    constexpr VkPipelineStageFlags kStages =
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
    const VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, kWrites,
                                 kAll | VK_ACCESS_HOST_READ_BIT};
    KF_VK(vkCmdPipelineBarrier)
    (commands, kStages, kStages | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &memory, 0, nullptr, 0, nullptr);
  }

  Result<void> submit_commands(VkCommandBuffer commands) const {
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    KF_VK_TRY(vkQueueSubmit, queue_, 1, &submit, VK_NULL_HANDLE);
    return {};
  }

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  bool imports_memory_ = false;  // of the process
  VkPhysicalDeviceLimits limits_{};
  VkPhysicalDeviceMemoryProperties kinds_{};
  VkBuffer staging_ = VK_NULL_HANDLE;
  std::byte* mapped_ = nullptr;
  VkCommandBuffer copies_ = VK_NULL_HANDLE;
  DeviceFacts facts_;
  std::map<std::string, VulkanKernel> kernels_;
  VkQueryPool first_ = VK_NULL_HANDLE, last_ = VK_NULL_HANDLE;  // of the batch under way
};

VulkanMemory::~VulkanMemory() { vulkan_.free(buffer_); }

Result<void> VulkanMemory::write(std::size_t offset, std::span<const std::byte> from) {
  for (std::size_t done = 0; done < from.size(); done += kStaging) {
    const std::size_t part = std::min(kStaging, from.size() - done);
    std::memcpy(vulkan_.mapped(), from.data() + done, part);
    KF_TRY_VOID(vulkan_.copy(vulkan_.staging(), 0, buffer_.buffer, offset + done, part));
  }
  return {};
}

Result<void> VulkanMemory::read(std::size_t offset, std::span<std::byte> to) const {
  for (std::size_t done = 0; done < to.size(); done += kStaging) {
    const std::size_t part = std::min(kStaging, to.size() - done);
    KF_TRY_VOID(vulkan_.copy(buffer_.buffer, offset + done, vulkan_.staging(), 0, part));
    std::memcpy(to.data() + done, vulkan_.mapped(), part);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<DeviceApi>> open_vulkan() {
  auto made = std::make_unique<Vulkan>();
  KF_TRY_VOID(made->open());
  return made;
}

}  // namespace kforge

#else
namespace kforge {
Result<std::unique_ptr<DeviceApi>> open_vulkan() {
  return fail("this KForge was built without the Vulkan headers (package libvulkan-dev)");
}
}  // namespace kforge
#endif
