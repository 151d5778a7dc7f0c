#if __has_include(<vulkan/vulkan.h>)
#include "device/vulkan_device.h"

#include <dlfcn.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace kforge {
namespace {

constexpr std::size_t kStaging = std::size_t{4} << 20;

VkBufferCreateInfo buffer_info(std::size_t bytes) {
  VkBufferCreateInfo info{VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  return info;
}

}  // namespace

void* vulkan_function(const char* name) {
  static void* library = ::dlopen("libvulkan.so.1", RTLD_NOW | RTLD_GLOBAL);
  return library ? ::dlsym(library, name) : nullptr;
}

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

Result<void> VulkanDevice::open() {
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

Result<void> VulkanDevice::choose_device() {
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

Result<void> VulkanDevice::open_queue() {
  VkQueueFamilyProperties families[16];
  std::uint32_t count = 16;
  KF_VK(vkGetPhysicalDeviceQueueFamilyProperties)(physical_, &count, families);
  const auto all = std::span(families).first(count);
  const auto family =
      std::ranges::find_if(all, [](const auto& one) { return (one.queueFlags & VK_QUEUE_COMPUTE_BIT) != 0; });
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

bool VulkanDevice::has_extension(const char* name) const {
  std::uint32_t count = 0;
  KF_VK(vkEnumerateDeviceExtensionProperties)(physical_, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> all(count);
  KF_VK(vkEnumerateDeviceExtensionProperties)(physical_, nullptr, &count, all.data());
  return std::ranges::any_of(all, [&](const auto& one) { return std::strcmp(one.extensionName, name) == 0; });
}

void VulkanDevice::read_facts(const VkPhysicalDeviceFeatures& features,
                              const VkPhysicalDeviceVulkan12Features& f12, bool has_clock) {
  VkPhysicalDeviceDriverProperties driver{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceFloatControlsProperties floats{VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES,
                                                 &driver};
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

Result<VulkanBuffer> VulkanDevice::import_buffer(std::span<std::byte> pages) const {
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

Result<VulkanBuffer> VulkanDevice::make_buffer(std::size_t bytes, VkMemoryPropertyFlags wanted) const {
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

void VulkanDevice::free(const VulkanBuffer& buffer) const {
  KF_VK(vkDestroyBuffer)(device_, buffer.buffer, nullptr);
  KF_VK(vkFreeMemory)(device_, buffer.memory, nullptr);
}

Result<void> VulkanDevice::write(VkBuffer to, std::size_t offset, std::span<const std::byte> from) {
  for (std::size_t done = 0; done < from.size(); done += kStaging) {
    const std::size_t part = std::min(kStaging, from.size() - done);
    std::memcpy(mapped_, from.data() + done, part);
    KF_TRY_VOID(copy(staging_, 0, to, offset + done, part));
  }
  return {};
}

Result<void> VulkanDevice::read(VkBuffer from, std::size_t offset, std::span<std::byte> to) {
  for (std::size_t done = 0; done < to.size(); done += kStaging) {
    const std::size_t part = std::min(kStaging, to.size() - done);
    KF_TRY_VOID(copy(from, offset + done, staging_, 0, part));
    std::memcpy(to.data() + done, mapped_, part);
  }
  return {};
}

Result<void> VulkanDevice::copy(VkBuffer from, std::size_t from_offset, VkBuffer to, std::size_t to_offset,
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

Result<VkCommandBuffer> VulkanDevice::new_commands() const {
  const VkCommandBufferAllocateInfo allocate{VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO, nullptr, pool_,
                                             VK_COMMAND_BUFFER_LEVEL_PRIMARY, 1};
  VkCommandBuffer commands = VK_NULL_HANDLE;
  KF_VK_TRY(vkAllocateCommandBuffers, device_, &allocate, &commands);
  return commands;
}

void VulkanDevice::barrier(VkCommandBuffer commands) {
  constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  constexpr VkAccessFlags kAll = kWrites | VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
  constexpr VkPipelineStageFlags kStages =
      VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
  const VkMemoryBarrier memory{VK_STRUCTURE_TYPE_MEMORY_BARRIER, nullptr, kWrites,
                               kAll | VK_ACCESS_HOST_READ_BIT};
  KF_VK(vkCmdPipelineBarrier)
  (commands, kStages, kStages | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &memory, 0, nullptr, 0, nullptr);
}

Result<void> VulkanDevice::submit_commands(VkCommandBuffer commands) const {
  VkSubmitInfo submit{VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submit.commandBufferCount = 1;
  submit.pCommandBuffers = &commands;
  KF_VK_TRY(vkQueueSubmit, queue_, 1, &submit, VK_NULL_HANDLE);
  return {};
}

}  // namespace kforge

#endif
