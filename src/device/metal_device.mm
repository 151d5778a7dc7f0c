// Metal, for macOS: MSL is compiled when it is loaded, by the system's own compiler; buffers are memory that processor
// and GPU share. Checked for its syntax only (tests/metal_syntax): it has never been compiled by Apple's compiler, nor
// run.
#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "device/device_api.h"
#include "device/inline_includes.h"

namespace kforge {
namespace {

std::string text_of(NSString* text) { return text ? std::string([text UTF8String]) : std::string(); }
std::string text_of(NSError* error) {
  return error ? text_of([error localizedDescription]) : std::string("it said nothing");
}
NSString* string_of(const std::string& text) { return [NSString stringWithUTF8String:text.c_str()]; }
MTLSize size_of_grid(const std::array<std::uint32_t, 3>& size) { return MTLSizeMake(size[0], size[1], size[2]); }

class MetalMemory final : public DeviceMemory {
 public:
  explicit MetalMemory(id<MTLBuffer> buffer) : buffer_(buffer) {}
  Result<void> write(std::size_t offset, std::span<const std::byte> from) override {
    std::memcpy(static_cast<std::byte*>([buffer_ contents]) + offset, from.data(), from.size());
    return {};
  }
  Result<void> read(std::size_t offset, std::span<std::byte> to) const override {
    std::memcpy(to.data(), static_cast<const std::byte*>([buffer_ contents]) + offset, to.size());
    return {};
  }
  id<MTLBuffer> get() const { return buffer_; }

 private:
  id<MTLBuffer> buffer_;
};

id<MTLBuffer> buffer_of(const PlacedMemory& placed) { return static_cast<MetalMemory*>(placed.memory)->get(); }

struct MetalFill {
  PlacedMemory at;
  id<MTLBuffer> pattern;
};
struct MetalCopy {
  PlacedMemory from, to;
  std::size_t bytes = 0;
};
struct MetalCall final : DeviceCall {
  std::vector<PlacedMemory> memory;
  std::vector<std::variant<PlanLaunch, MetalFill, MetalCopy>> steps;
};

class Metal final : public DeviceApi {
 public:
  Result<void> open() {
    device_ = MTLCreateSystemDefaultDevice();
    if (!device_) return fail("Metal finds no GPU");
    queue_ = [device_ newCommandQueue];
    if (!queue_) return fail("Metal gives no command queue");
    facts_.api = "metal";
    facts_.name = text_of([device_ name]);
    facts_.version = "Metal 3";
    facts_.driver = text_of([[NSProcessInfo processInfo] operatingSystemVersionString]);
    facts_.type = "gpu";
    facts_.most_threads = static_cast<std::uint32_t>([device_ maxThreadsPerThreadgroup].width);
    facts_.shared_bytes = [device_ maxThreadgroupMemoryLength];
    facts_.memory_bytes = [device_ recommendedMaxWorkingSetSize];
    facts_.largest_buffer = [device_ maxBufferLength];
    facts_.alignment = 16;
    facts_.sub_groups = {32};
    facts_.fp16 = true;
    facts_.clock_tick_ns = 1;
    return {};
  }

  const DeviceFacts& facts() const override { return facts_; }

  Step<std::string> build(DevicePackage& package, const LaunchPlan& plan, bool check) override {
    @autoreleasepool {
      MTLCompileOptions* options = [[MTLCompileOptions alloc] init];
      options.fastMathEnabled = NO;  // NaN and infinities are judged
      NSError* error = nil;
      id<MTLLibrary> library = [device_ newLibraryWithSource:string_of(inline_includes(package))
                                                     options:options
                                                       error:&error];
      if (!library) return candidate_failed(CompileError{text_of(error) + "\n"});
      std::string log = error ? text_of(error) + "\n" : std::string();
      pipelines_.clear();
      for (const std::string& name : plan.kernels()) {
        KF_STEP(id<MTLComputePipelineState> pipeline, pipeline_of(library, name, plan));
        pipelines_[name] = pipeline;
      }
      if (!check) return log;
      for (const auto& [where, steps] : {std::pair{"prepare", &plan.prepare}, std::pair{"run", &plan.run}})
        for (const PlanStep& step : *steps)
          if (const auto* launch = std::get_if<PlanLaunch>(&step))
            if (auto mistake = launch_mistake(*launch))
              return candidate_failed(CompileError{fmt::format("plan.json: error: {}: {}\n", where, *mistake)});
      for (const auto& [name, pipeline] : pipelines_)
        log += fmt::format("note: kernel '{}': {} bytes of threadgroup memory, at most {} threads in a threadgroup\n",
                           name, static_cast<std::size_t>([pipeline staticThreadgroupMemoryLength]),
                           static_cast<std::size_t>([pipeline maxTotalThreadsPerThreadgroup]));
      return log;
    }
  }

  Result<std::unique_ptr<DeviceMemory>> allocate(std::size_t bytes) override {
    id<MTLBuffer> buffer = [device_ newBufferWithLength:bytes options:MTLResourceStorageModeShared];
    if (!buffer) return fail("Metal: no buffer of {} bytes", bytes);
    return std::make_unique<MetalMemory>(buffer);
  }

  Result<std::unique_ptr<DeviceCall>> record(const LaunchPlan& plan, const std::vector<PlanStep>& steps,
                                             const std::vector<PlacedMemory>& memory) override {
    auto call = std::make_unique<MetalCall>();
    call->memory = memory;
    for (const PlanStep& step : steps) {
      if (const auto* launch = std::get_if<PlanLaunch>(&step)) {
        call->steps.emplace_back(*launch);
      } else if (const auto* fill = std::get_if<PlanFill>(&step)) {
        const PlacedMemory& at = memory[fill->memory];
        const auto element = element_bytes(plan.memory[fill->memory].dtype, fill->value);
        // Metal fills with single bytes; elements are copied from memory that holds many.
        std::vector<std::byte> many(std::min(at.bytes, kPattern / element.size() * element.size()));
        for (std::size_t i = 0; i < many.size(); ++i) many[i] = element[i % element.size()];
        id<MTLBuffer> pattern = [device_ newBufferWithBytes:many.data()
                                                     length:many.size()
                                                    options:MTLResourceStorageModeShared];
        if (!pattern) return fail("Metal: no buffer for a fill");
        call->steps.emplace_back(MetalFill{at, pattern});
      } else {
        const auto& copy = std::get<PlanCopy>(step);
        call->steps.emplace_back(MetalCopy{memory[copy.from], memory[copy.to], copy.bytes});
      }
    }
    return call;
  }

  // One command buffer for each call: its encoders, and what is in them, run in order.
  Result<void> submit(DeviceCall& given) override {
    @autoreleasepool {
      const auto& call = static_cast<MetalCall&>(given);
      id<MTLCommandBuffer> commands = [queue_ commandBuffer];
      if (!commands) return fail("Metal gives no command buffer");
      for (const auto& step : call.steps)
        std::visit([&](const auto& one) { encode(one, call, commands); }, step);
      [commands commit];
      if (!first_) first_ = commands;
      last_ = commands;
      return {};
    }
  }

  Result<std::uint64_t> finish() override {
    @autoreleasepool {
      id<MTLCommandBuffer> first = first_, last = last_;
      first_ = last_ = nil;
      if (!last) return 0;
      [last waitUntilCompleted];
      for (id<MTLCommandBuffer> one : {first, last})
        if ([one status] == MTLCommandBufferStatusError)
          return fail("a step of the plan failed on the device: {}", text_of([one error]));
      const double seconds = [last GPUEndTime] - [first GPUStartTime];
      return seconds > 0 ? static_cast<std::uint64_t>(seconds * 1e9) : 0;
    }
  }

 private:
  static constexpr std::size_t kPattern = std::size_t{64} << 10;

  // Function constants have the values of the plan's defines, by name.
  Step<id<MTLComputePipelineState>> pipeline_of(id<MTLLibrary> library, const std::string& name,
                                                const LaunchPlan& plan) const {
    id<MTLFunction> function = [library newFunctionWithName:string_of(name)];
    if (function && [[function functionConstantsDictionary] count] > 0) {
      MTLFunctionConstantValues* values = [[MTLFunctionConstantValues alloc] init];
      for (NSString* constant in [function functionConstantsDictionary]) {
        const auto defined = plan.defines.find(text_of(constant));
        if (defined != plan.defines.end())
          set_constant(values, constant, [[function functionConstantsDictionary] objectForKey:constant].type,
                       defined->second);
      }
      NSError* error = nil;
      function = [library newFunctionWithName:string_of(name) constantValues:values error:&error];
      if (!function) return candidate_failed(CompileError{text_of(error) + "\n"});
    }
    if (!function)
      return candidate_failed(
          CompileError{fmt::format("plan.json: error: the source has no kernel '{}'\n", name)});
    NSError* error = nil;
    id<MTLComputePipelineState> pipeline = [device_ newComputePipelineStateWithFunction:function error:&error];
    if (!pipeline) return candidate_failed(CompileError{text_of(error) + "\n"});
    return pipeline;
  }

  static void set_constant(MTLFunctionConstantValues* values, NSString* name, MTLDataType type, std::int64_t value) {
    const auto narrow = static_cast<std::int32_t>(value);
    const auto real = static_cast<float>(value);
    const bool truth = value != 0;
    const void* bits = type == MTLDataTypeFloat ? static_cast<const void*>(&real)
                       : type == MTLDataTypeBool ? static_cast<const void*>(&truth)
                                                 : static_cast<const void*>(&narrow);
    [values setConstantValue:bits type:type withName:name];
  }

  std::optional<std::string> launch_mistake(const PlanLaunch& launch) const {
    id<MTLComputePipelineState> pipeline = pipelines_.at(launch.kernel);
    const std::size_t threads = std::size_t{launch.block[0]} * launch.block[1] * launch.block[2];
    const std::size_t most = [pipeline maxTotalThreadsPerThreadgroup];
    if (threads > most)
      return fmt::format("kernel '{}' runs with at most {} threads in a threadgroup here, and the plan gives it {}",
                         launch.kernel, most, threads);
    const std::size_t shared = [pipeline staticThreadgroupMemoryLength] + launch.shared_bytes;
    if (shared > facts_.shared_bytes)
      return fmt::format("kernel '{}' needs {} bytes of threadgroup memory, and a threadgroup has {}", launch.kernel,
                         shared, facts_.shared_bytes);
    return std::nullopt;
  }

  void encode(const PlanLaunch& launch, const MetalCall& call, id<MTLCommandBuffer> commands) const {
    id<MTLComputeCommandEncoder> encoder = [commands computeCommandEncoder];
    [encoder setComputePipelineState:pipelines_.at(launch.kernel)];
    for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
      if (const auto* use = std::get_if<PlanUse>(&launch.arguments[i])) {
        const PlacedMemory& placed = call.memory[use->memory];
        [encoder setBuffer:buffer_of(placed) offset:placed.offset + use->offset atIndex:i];
      } else {
        const auto bytes = scalar_bytes(std::get<PlanScalar>(launch.arguments[i]));
        [encoder setBytes:bytes.data() length:bytes.size() atIndex:i];
      }
    }
    // Lengths are multiples of 16.
    if (launch.shared_bytes > 0) [encoder setThreadgroupMemoryLength:(launch.shared_bytes + 15) / 16 * 16 atIndex:0];
    if (launch.threads[0] > 0)
      [encoder dispatchThreads:size_of_grid(launch.threads) threadsPerThreadgroup:size_of_grid(launch.block)];
    else
      [encoder dispatchThreadgroups:size_of_grid(launch.grid) threadsPerThreadgroup:size_of_grid(launch.block)];
    [encoder endEncoding];
  }
  void encode(const MetalFill& fill, const MetalCall&, id<MTLCommandBuffer> commands) const {
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    const std::size_t length = [fill.pattern length];
    for (std::size_t done = 0; done < fill.at.bytes; done += length)
      [encoder copyFromBuffer:fill.pattern
                 sourceOffset:0
                     toBuffer:buffer_of(fill.at)
            destinationOffset:fill.at.offset + done
                         size:std::min(length, fill.at.bytes - done)];
    [encoder endEncoding];
  }
  void encode(const MetalCopy& copy, const MetalCall&, id<MTLCommandBuffer> commands) const {
    id<MTLBlitCommandEncoder> encoder = [commands blitCommandEncoder];
    [encoder copyFromBuffer:buffer_of(copy.from)
               sourceOffset:copy.from.offset
                   toBuffer:buffer_of(copy.to)
          destinationOffset:copy.to.offset
                       size:copy.bytes];
    [encoder endEncoding];
  }

  id<MTLDevice> device_ = nil;
  id<MTLCommandQueue> queue_ = nil;
  DeviceFacts facts_;
  std::map<std::string, id<MTLComputePipelineState>> pipelines_;
  id<MTLCommandBuffer> first_ = nil, last_ = nil;  // of the batch under way
};

}  // namespace

Result<std::unique_ptr<DeviceApi>> open_metal() {
  auto made = std::make_unique<Metal>();
  KF_TRY_VOID(made->open());
  return made;
}

}  // namespace kforge
