// Vulkan: compute pipelines from SPIR-V that [build] made; lavapipe where there is no GPU. Each call is a
// command buffer, recorded outside the clock and submitted in it.
#include "device/device_api.h"

#if __has_include(<vulkan/vulkan.h>)
#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>

#include "device/spirv.h"
#include "device/vulkan_device.h"

namespace kforge {
namespace {

struct VulkanKernel {
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkDescriptorSetLayout set = VK_NULL_HANDLE;
};

class VulkanMemory final : public DeviceMemory {
 public:
  VulkanMemory(VulkanDevice& device, VulkanBuffer buffer) : device_(device), buffer_(buffer) {}
  ~VulkanMemory() override { device_.free(buffer_); }
  Result<void> write(std::size_t offset, std::span<const std::byte> from) override {
    return device_.write(buffer_.buffer, offset, from);
  }
  Result<void> read(std::size_t offset, std::span<std::byte> to) const override {
    return device_.read(buffer_.buffer, offset, to);
  }
  VkBuffer get() const { return buffer_.buffer; }

 private:
  VulkanDevice& device_;
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
  Result<void> open() { return device_.open(); }

  const DeviceFacts& facts() const override { return device_.facts(); }

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
    KF_TRY(const VulkanBuffer made, device_.make_buffer(bytes, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT));
    return std::make_unique<VulkanMemory>(device_, made);
  }

  Result<std::unique_ptr<DeviceMemory>> allocate_on(std::span<std::byte> pages) override {
    if (!device_.imports_memory() || !device_.facts().this_processor()) return nullptr;
    auto made = device_.import_buffer(pages);
    if (!made) return nullptr;
    return std::make_unique<VulkanMemory>(device_, *made);
  }

  Result<std::unique_ptr<DeviceCall>> record(const LaunchPlan& plan, const std::vector<PlanStep>& steps,
                                             const std::vector<PlacedMemory>& memory) override {
    auto call = std::make_unique<VulkanCall>();
    KF_TRY(call->commands, device_.new_commands());
    VkQueryPoolCreateInfo queries{VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    queries.queryType = VK_QUERY_TYPE_TIMESTAMP;
    queries.queryCount = 2;
    KF_VK_TRY(vkCreateQueryPool, device_.get(), &queries, nullptr, &call->times);
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
      VulkanDevice::barrier(call->commands);
    }
    KF_VK(vkCmdWriteTimestamp)(call->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, call->times, 1);
    KF_VK_TRY(vkEndCommandBuffer, call->commands);
    return call;
  }

  Result<void> submit(DeviceCall& call) override {
    auto& own = static_cast<VulkanCall&>(call);
    KF_TRY_VOID(device_.submit_commands(own.commands));
    if (first_ == VK_NULL_HANDLE) first_ = own.times;
    last_ = own.times;
    return {};
  }

  Result<std::uint64_t> finish() override {
    KF_VK_TRY(vkQueueWaitIdle, device_.queue());
    std::uint64_t start = 0, end = 0;
    const bool timed = first_ != VK_NULL_HANDLE && device_.facts().clock_tick_ns > 0;
    auto read = [&](VkQueryPool pool, std::uint32_t which, std::uint64_t& value) {
      return KF_VK(vkGetQueryPoolResults)(device_.get(), pool, which, 1, sizeof value, &value, sizeof value,
                                          VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT) == VK_SUCCESS;
    };
    const bool known = timed && read(first_, 0, start) && read(last_, 1, end);
    first_ = last_ = VK_NULL_HANDLE;
    if (!known || end <= start) return 0;
    return static_cast<std::uint64_t>(static_cast<double>(end - start) * device_.facts().clock_tick_ns);
  }

 private:
  std::optional<std::string> launch_mistake(const PlanLaunch& launch, const SpirvFacts& spirv) const {
    if (spirv.local_size != launch.block)
      return fmt::format(
          "kernel '{}' is compiled for blocks of {} x {} x {} (local_size in its layout), and the plan gives "
          "it "
          "{} x {} x {}: BLOCK_X, BLOCK_Y and BLOCK_Z are the plan's, as macros",
          launch.kernel, spirv.local_size[0], spirv.local_size[1], spirv.local_size[2], launch.block[0],
          launch.block[1], launch.block[2]);
    for (std::size_t i = 0; i < 3; ++i)
      if (launch.grid[i] > device_.limits().maxComputeWorkGroupCount[i])
        return fmt::format("kernel '{}': grid[{}] is {}, and the device takes {}", launch.kernel, i,
                           launch.grid[i], device_.limits().maxComputeWorkGroupCount[i]);
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      if (const auto* use = std::get_if<PlanUse>(&launch.arguments[i]))
        if (use->offset % std::max(device_.facts().alignment, 1u) != 0)
          return fmt::format("kernel '{}': the offset {} must be a multiple of {} bytes on this device",
                             launch.kernel, use->offset, device_.facts().alignment);
    const auto given = memory_bindings(launch);
    for (const std::uint32_t binding : spirv.bindings) {
      if (std::ranges::find(given, binding) != given.end()) continue;
      return fmt::format("kernel '{}' reads binding {}, and args[{}] of the plan is {}", launch.kernel,
                         binding, binding, binding < launch.arguments.size() ? "a scalar" : "not there");
    }
    if (given.size() > device_.limits().maxPerStageDescriptorStorageBuffers)
      return fmt::format("kernel '{}': args has {} buffers, and the device takes {} for a launch",
                         launch.kernel, given.size(), device_.limits().maxPerStageDescriptorStorageBuffers);
    const std::size_t pushed = push_block(launch).size();
    if (spirv.push_bytes > pushed)
      return fmt::format("kernel '{}' has a push block of {} bytes, and the plan's scalars have {}",
                         launch.kernel, spirv.push_bytes, pushed);
    if (pushed > device_.limits().maxPushConstantsSize)
      return fmt::format(
          "kernel '{}': its scalars take {} bytes of push constants, and the device has {}: sizes are macros "
          "already, and values can go into a buffer",
          launch.kernel, pushed, device_.limits().maxPushConstantsSize);
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
    KF_VK_TRY(vkCreateShaderModule, device_.get(), &module_info, nullptr, &module);
    std::vector<VkDescriptorSetLayoutBinding> bindings;
    for (const std::uint32_t binding : memory_bindings(launch))
      bindings.push_back(
          {binding, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr});
    VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set.bindingCount = static_cast<std::uint32_t>(bindings.size());
    set.pBindings = bindings.data();
    KF_VK_TRY(vkCreateDescriptorSetLayout, device_.get(), &set, nullptr, &made.set);
    const VkPushConstantRange range{VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                    static_cast<std::uint32_t>(push_block(launch).size())};
    VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &made.set;
    layout.pushConstantRangeCount = range.size > 0 ? 1 : 0;
    layout.pPushConstantRanges = &range;
    KF_VK_TRY(vkCreatePipelineLayout, device_.get(), &layout, nullptr, &made.layout);
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  nullptr,
                  0,
                  VK_SHADER_STAGE_COMPUTE_BIT,
                  module,
                  "main",
                  entries.empty() ? nullptr : &specialization};
    info.layout = made.layout;
    KF_VK_TRY(vkCreateComputePipelines, device_.get(), VK_NULL_HANDLE, 1, &info, nullptr, &made.pipeline);
    KF_VK(vkDestroyShaderModule)(device_.get(), module, nullptr);
    return made;
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
    KF_VK_TRY(vkCreateDescriptorPool, device_.get(), &info, nullptr, &pool);
    return pool;
  }

  Result<void> add(const VulkanCall& call, const PlanLaunch& launch, const std::vector<PlacedMemory>& memory,
                   VkDescriptorPool sets) const {
    const VulkanKernel& kernel = kernels_.at(launch.kernel);
    const VkDescriptorSetAllocateInfo wanted{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, sets, 1,
                                             &kernel.set};
    VkDescriptorSet set = VK_NULL_HANDLE;
    KF_VK_TRY(vkAllocateDescriptorSets, device_.get(), &wanted, &set);
    for (const std::uint32_t binding : memory_bindings(launch)) {
      const auto& use = std::get<PlanUse>(launch.arguments[binding]);
      const PlacedMemory& placed = memory[use.memory];
      // To the end of the guard zone: drivers drop what lies outside of the range, and nobody would see it.
      const VkDescriptorBufferInfo info{buffer_of(placed), placed.offset + use.offset, VK_WHOLE_SIZE};
      VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
      write.dstSet = set, write.dstBinding = binding, write.descriptorCount = 1;
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, write.pBufferInfo = &info;
      KF_VK(vkUpdateDescriptorSets)(device_.get(), 1, &write, 0, nullptr);
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

  VulkanDevice device_;
  std::map<std::string, VulkanKernel> kernels_;
  VkQueryPool first_ = VK_NULL_HANDLE, last_ = VK_NULL_HANDLE;  // of the batch under way
};

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
