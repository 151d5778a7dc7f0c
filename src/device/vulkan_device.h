// A Vulkan device as compute programs need it: the driver loaded by name, one queue, buffers, copies through
// staging memory, command buffers. What a plan makes of them is vulkan_api.cc.
#pragma once

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"
#include "device/device_facts.h"

namespace kforge {

// Null: there is no libvulkan.so.1, or it has no such function.
void* vulkan_function(const char* name);
std::string vulkan_error(VkResult code);

#define KF_VK(function) (reinterpret_cast<PFN_##function>(::kforge::vulkan_function(#function)))
#define KF_VK_TRY(function, ...)                                                    \
  if (const VkResult kf_code = KF_VK(function)(__VA_ARGS__); kf_code != VK_SUCCESS) \
  return ::kforge::fail(#function ": {}", ::kforge::vulkan_error(kf_code))

struct VulkanBuffer {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
};

class VulkanDevice {
 public:
  // The best device there is: a GPU before a processor.
  Result<void> open();

  VkDevice get() const { return device_; }
  VkQueue queue() const { return queue_; }
  const VkPhysicalDeviceLimits& limits() const { return limits_; }
  const DeviceFacts& facts() const { return facts_; }
  bool imports_memory() const { return imports_memory_; }  // of the process

  Result<VulkanBuffer> make_buffer(std::size_t bytes, VkMemoryPropertyFlags wanted) const;
  // On pages of the process.
  Result<VulkanBuffer> import_buffer(std::span<std::byte> pages) const;
  void free(const VulkanBuffer& buffer) const;
  // From and to memory of this process, through the staging memory.
  Result<void> write(VkBuffer to, std::size_t offset, std::span<const std::byte> from);
  Result<void> read(VkBuffer from, std::size_t offset, std::span<std::byte> to);

  Result<VkCommandBuffer> new_commands() const;
  Result<void> submit_commands(VkCommandBuffer commands) const;
  // Everything after it sees what was done before it.
  static void barrier(VkCommandBuffer commands);

 private:
  Result<void> choose_device();
  Result<void> open_queue();
  bool has_extension(const char* name) const;
  void read_facts(const VkPhysicalDeviceFeatures& features, const VkPhysicalDeviceVulkan12Features& f12,
                  bool has_clock);
  Result<void> copy(VkBuffer from, std::size_t from_offset, VkBuffer to, std::size_t to_offset,
                    std::size_t bytes);

  VkInstance instance_ = VK_NULL_HANDLE;
  VkPhysicalDevice physical_ = VK_NULL_HANDLE;
  VkDevice device_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  bool imports_memory_ = false;
  VkPhysicalDeviceLimits limits_{};
  VkPhysicalDeviceMemoryProperties kinds_{};
  VkBuffer staging_ = VK_NULL_HANDLE;
  std::byte* mapped_ = nullptr;
  VkCommandBuffer copies_ = VK_NULL_HANDLE;
  DeviceFacts facts_;
};

}  // namespace kforge
