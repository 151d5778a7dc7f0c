#include "vulkan_device.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

#include <cstring>
#include <fstream>
#include <map>
#include <vector>

#include "base/files.h"
#include "base/subprocess.h"
#include "plan_of_design.h"

#if __has_include(<vulkan/vulkan.h>)
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

namespace kforge {
namespace {

void* library() {
  static void* handle = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_GLOBAL);
  return handle;
}
#define VK(function) (reinterpret_cast<PFN_##function>(dlsym(library(), #function)))

constexpr std::size_t kCanary = 64;

struct Buffer {
  VkBuffer buffer = nullptr;
  VkDeviceMemory memory = nullptr;
  char* mapped = nullptr;
  std::size_t bytes = 0;
};

struct Kernel {
  VkPipeline pipeline = nullptr;
  VkPipelineLayout layout = nullptr;
  VkDescriptorSetLayout set_layout = nullptr;
};

class Device : public VulkanDevice {
 public:
  VkInstance instance = nullptr;
  VkPhysicalDevice physical = nullptr;
  VkDevice device = nullptr;
  VkQueue queue = nullptr;
  VkCommandPool pool = nullptr;
  std::string device_name;

  std::string name() const override { return device_name; }

  Result<AnyCall> program(const smith::Problem& problem, const smith::DeviceDesign& design,
                          const std::string& folder) override {
    const std::string source = folder + "/kernel.comp", binary = folder + "/kernel.spv";
    std::ofstream(source) << design.source;
    KF_TRY(const LaunchPlan plan, plan_of_design(problem, design));
    std::map<std::string, Kernel> kernels;
    for (const auto* steps : {&plan.prepare, &plan.run})
      for (const PlanStep& step : *steps) {
        const auto& launch = std::get<PlanLaunch>(step);  // the smith's plans are launches
        if (kernels.contains(launch.kernel)) continue;
        const auto built = run_command(Command{{"glslangValidator", "-V", "--target-env", "vulkan1.1",
                                                "-DKERNEL_" + launch.kernel, "-o", binary, source}});
        if (!built || !built->ok())
          return fail("glslangValidator: {}", built ? built->out : built.error().message);
        KF_TRY(const std::string code, read_file(binary));
        KF_TRY(kernels[launch.kernel], kernel(code, launch.arguments.size()));
      }
    return AnyCall(
        [this, problem, plan, kernels](void** arguments) { run(problem, plan, kernels, arguments); });
  }

  Result<> start() {
    VkApplicationInfo application{VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo create{VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    create.pApplicationInfo = &application;
    if (VK(vkCreateInstance)(&create, nullptr, &instance) != VK_SUCCESS) return fail("no Vulkan instance");
    VkPhysicalDevice devices[8];
    std::uint32_t count = 8;
    VK(vkEnumeratePhysicalDevices)(instance, &count, devices);
    if (count == 0) return fail("no Vulkan device (package mesa-vulkan-drivers)");
    physical = devices[0];
    VkPhysicalDeviceProperties properties;
    VK(vkGetPhysicalDeviceProperties)(physical, &properties);
    device_name = properties.deviceName;
    // All that the device has: wide integers, narrow storage, double.
    VkPhysicalDeviceVulkan12Features f12{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
    VkPhysicalDevice16BitStorageFeatures f16{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES, &f12};
    VkPhysicalDeviceFeatures2 features{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2, &f16};
    VK(vkGetPhysicalDeviceFeatures2)(physical, &features);
    if (!features.features.shaderInt64) return fail("{} has no 64-bit integers", device_name);
    const float priority = 1;
    VkDeviceQueueCreateInfo queues{VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    VkDeviceCreateInfo info{VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO, &features};
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queues;
    if (VK(vkCreateDevice)(physical, &info, nullptr, &device) != VK_SUCCESS) return fail("no Vulkan device");
    VK(vkGetDeviceQueue)(device, 0, 0, &queue);
    VkCommandPoolCreateInfo pools{VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
    pools.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
    VK(vkCreateCommandPool)(device, &pools, nullptr, &pool);
    return {};
  }

 private:
  Result<Kernel> kernel(const std::string& code, std::size_t buffers) {
    Kernel made;
    VkShaderModuleCreateInfo module_info{VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    std::vector<std::uint32_t> words(code.size() / 4);
    std::memcpy(words.data(), code.data(), words.size() * 4);
    module_info.codeSize = words.size() * 4;
    module_info.pCode = words.data();
    VkShaderModule module = nullptr;
    if (VK(vkCreateShaderModule)(device, &module_info, nullptr, &module) != VK_SUCCESS)
      return fail("no shader module");
    std::vector<VkDescriptorSetLayoutBinding> bindings(buffers);
    for (std::uint32_t i = 0; i < buffers; ++i)
      bindings[i] = {i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo set{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    set.bindingCount = static_cast<std::uint32_t>(buffers);
    set.pBindings = bindings.data();
    VK(vkCreateDescriptorSetLayout)(device, &set, nullptr, &made.set_layout);
    VkPipelineLayoutCreateInfo layout{VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    layout.setLayoutCount = 1;
    layout.pSetLayouts = &made.set_layout;
    VK(vkCreatePipelineLayout)(device, &layout, nullptr, &made.layout);
    VkComputePipelineCreateInfo info{VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    info.stage = {VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  nullptr,
                  0,
                  VK_SHADER_STAGE_COMPUTE_BIT,
                  module,
                  "main",
                  nullptr};
    info.layout = made.layout;
    const VkResult built = VK(vkCreateComputePipelines)(device, nullptr, 1, &info, nullptr, &made.pipeline);
    VK(vkDestroyShaderModule)(device, module, nullptr);
    if (built != VK_SUCCESS) return fail("no pipeline: {}", static_cast<int>(built));
    return made;
  }

  Buffer buffer(std::size_t bytes) {
    Buffer made;
    made.bytes = bytes;
    VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = bytes + kCanary;
    info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    EXPECT_EQ(VK(vkCreateBuffer)(device, &info, nullptr, &made.buffer), VK_SUCCESS);
    VkMemoryRequirements needs;
    VK(vkGetBufferMemoryRequirements)(device, made.buffer, &needs);
    VkPhysicalDeviceMemoryProperties kinds;
    VK(vkGetPhysicalDeviceMemoryProperties)(physical, &kinds);
    VkMemoryAllocateInfo allocate{VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, nullptr, needs.size, 0};
    const VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    for (std::uint32_t i = 0; i < kinds.memoryTypeCount; ++i)
      if ((needs.memoryTypeBits >> i & 1) && (kinds.memoryTypes[i].propertyFlags & wanted) == wanted) {
        allocate.memoryTypeIndex = i;
        break;
      }
    EXPECT_EQ(VK(vkAllocateMemory)(device, &allocate, nullptr, &made.memory), VK_SUCCESS);
    VK(vkBindBufferMemory)(device, made.buffer, made.memory, 0);
    void* at = nullptr;
    VK(vkMapMemory)(device, made.memory, 0, VK_WHOLE_SIZE, 0, &at);
    made.mapped = static_cast<char*>(at);
    std::memset(made.mapped, 0xff, bytes);  // what nobody has written is NaN
    std::memset(made.mapped + bytes, 0xa5, kCanary);
    return made;
  }

  void run(const smith::Problem& problem, const LaunchPlan& plan,
           const std::map<std::string, Kernel>& kernels, void** arguments) {
    std::vector<Buffer> buffers;
    for (const PlanMemory& memory : plan.memory) buffers.push_back(buffer(memory.bytes));
    for (std::size_t i = 0; i < plan.tensors; ++i)
      if (problem.arguments[i].role != smith::ArgumentRole::kOutput)
        std::memcpy(buffers[i].mapped, arguments[i], buffers[i].bytes);
    for (const auto* steps : {&plan.prepare, &plan.run})
      for (const PlanStep& step : *steps) {
        const auto& one = std::get<PlanLaunch>(step);
        launch(one, kernels.at(one.kernel), buffers);
      }
    for (std::size_t i = 0; i < plan.tensors; ++i)
      std::memcpy(arguments[i], buffers[i].mapped, buffers[i].bytes);
    for (std::size_t at = 0; at < buffers.size(); ++at) {
      const Buffer& b = buffers[at];
      for (std::size_t i = 0; i < kCanary; ++i)
        EXPECT_EQ(static_cast<unsigned char>(b.mapped[b.bytes + i]), 0xa5)
            << "wrote behind '" << plan.memory[at].name << "'";
      VK(vkDestroyBuffer)(device, b.buffer, nullptr);
      VK(vkFreeMemory)(device, b.memory, nullptr);
    }
  }

  // One launch at a time, waited for: the plan's order is the order of effects.
  void launch(const PlanLaunch& step, const Kernel& kernel, const std::vector<Buffer>& buffers) {
    const auto count = static_cast<std::uint32_t>(step.arguments.size());
    VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, count};
    VkDescriptorPoolCreateInfo pools{VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO, nullptr, 0, 1, 1, &size};
    VkDescriptorPool sets = nullptr;
    VK(vkCreateDescriptorPool)(device, &pools, nullptr, &sets);
    VkDescriptorSetAllocateInfo wanted{VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO, nullptr, sets, 1,
                                       &kernel.set_layout};
    VkDescriptorSet set = nullptr;
    ASSERT_EQ(VK(vkAllocateDescriptorSets)(device, &wanted, &set), VK_SUCCESS);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Buffer& b = buffers[std::get<PlanUse>(step.arguments[i]).memory];
      const VkDescriptorBufferInfo info{b.buffer, 0, VK_WHOLE_SIZE};
      VkWriteDescriptorSet write{VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
      write.dstSet = set, write.dstBinding = i, write.descriptorCount = 1;
      write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, write.pBufferInfo = &info;
      VK(vkUpdateDescriptorSets)(device, 1, &write, 0, nullptr);
    }
    VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool,
                                         VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
    VkCommandBuffer commands = nullptr;
    VK(vkAllocateCommandBuffers)(device, &allocate, &commands);
    const VkCommandBufferBeginInfo begin{VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    VK(vkBeginCommandBuffer)(commands, &begin);
    VK(vkCmdBindPipeline)(commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.pipeline);
    VK(vkCmdBindDescriptorSets)
    (commands, VK_PIPELINE_BIND_POINT_COMPUTE, kernel.layout, 0, 1, &set, 0, nullptr);
    VK(vkCmdDispatch)(commands, step.grid[0], step.grid[1], step.grid[2]);
    VK(vkEndCommandBuffer)(commands);
    VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
    submit.commandBufferCount = 1;
    submit.pCommandBuffers = &commands;
    ASSERT_EQ(VK(vkQueueSubmit)(queue, 1, &submit, nullptr), VK_SUCCESS);
    ASSERT_EQ(VK(vkQueueWaitIdle)(queue), VK_SUCCESS);
    VK(vkFreeCommandBuffers)(device, pool, 1, &commands);
    VK(vkDestroyDescriptorPool)(device, sets, nullptr);
  }
};

}  // namespace

Result<std::shared_ptr<VulkanDevice>> VulkanDevice::open() {
  if (!library()) return fail("no Vulkan library (package libvulkan1)");
  auto made = std::make_shared<Device>();
  KF_TRY_VOID(made->start());
  return made;
}

}  // namespace kforge

#else
namespace kforge {
Result<std::shared_ptr<VulkanDevice>> VulkanDevice::open() {
  return fail("built without the Vulkan headers (package libvulkan-dev)");
}
}  // namespace kforge
#endif
