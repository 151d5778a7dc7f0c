// CUDA through NVIDIA's driver: no other library of theirs is needed to run, nvcc or NVRTC to compile. Calls
// go to one stream, which waits for the transfers before it. Never run on hardware so far:
// tests/platform/fake_cuda stands in for driver and compilers.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <utility>

#include "device/cuda_compile.h"
#include "device/cuda_library.h"
#include "device/device_api.h"

namespace kforge {
namespace {

class CudaMemory final : public DeviceMemory {
 public:
  CudaMemory(const CudaLibrary& cuda, CudaAddress address) : cuda_(cuda), address_(address) {}
  ~CudaMemory() override { cuda_.release(address_); }

  // The driver may return before the copy has ended, and it would end in the time of a call.
  Result<void> write(std::size_t offset, std::span<const std::byte> from) override {
    if (from.empty()) return {};
    KF_CUDA_TRY(cuda_, to_device, address_ + offset, from.data(), from.size());
    KF_CUDA_TRY(cuda_, synchronize);
    return {};
  }
  Result<void> read(std::size_t offset, std::span<std::byte> to) const override {
    if (to.empty()) return {};
    KF_CUDA_TRY(cuda_, to_host, to.data(), address_ + offset, to.size());
    return {};
  }
  CudaAddress address() const { return address_; }

 private:
  const CudaLibrary& cuda_;
  CudaAddress address_;
};

CudaAddress address_of(const PlacedMemory& placed, std::size_t offset = 0) {
  return static_cast<CudaMemory*>(placed.memory)->address() + placed.offset + offset;
}

struct CudaLaunch {
  CudaFunction function = nullptr;
  std::array<std::uint32_t, 3> grid{}, block{};
  unsigned shared_bytes = 0;
  std::vector<std::vector<std::byte>> values;  // of the arguments: addresses and scalars
};
struct CudaFill {
  CudaAddress at = 0;
  std::size_t bytes = 0;
  std::vector<std::byte> element;
};
struct CudaCopy {
  CudaAddress from = 0, to = 0;
  std::size_t bytes = 0;
};
struct CudaCall final : DeviceCall {
  std::vector<std::variant<CudaLaunch, CudaFill, CudaCopy>> steps;
};

template <class T>
T bits_as(const std::vector<std::byte>& bytes, std::size_t at = 0) {
  T value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

class Cuda final : public DeviceApi {
 public:
  explicit Cuda(const CudaLibrary& cuda) : cuda_(cuda) {}

  Result<void> open() {
    KF_CUDA_TRY(cuda_, init, 0);
    int count = 0;
    KF_CUDA_TRY(cuda_, device_count, &count);
    if (count == 0) return fail("libcuda.so.1 finds no GPU");
    KF_CUDA_TRY(cuda_, device_get, &device_, 0);
    KF_CUDA_TRY(cuda_, retain_context, &context_, device_);
    KF_CUDA_TRY(cuda_, set_context, context_);
    KF_CUDA_TRY(cuda_, create_stream, &stream_, 0);  // one that waits for transfers
    for (CudaEvent* event : {&start_, &end_}) KF_CUDA_TRY(cuda_, create_event, event, 0);
    return read_facts();
  }

  const DeviceFacts& facts() const override { return facts_; }

  Step<std::string> build(DevicePackage& package, const LaunchPlan& plan, bool check) override {
    std::string log;
    if (!package.binaries.contains("")) {
      KF_STEP(CudaObject object, compile_cuda(package, architecture_));
      log = std::move(object.log);
      package.binaries[""] = std::move(object.code);
    }
    if (module_) cuda_.unload_module(std::exchange(module_, nullptr));
    KF_CUDA_TRY(cuda_, load_module, &module_, package.binaries[""].c_str(), 0, nullptr, nullptr);
    functions_.clear();
    for (const std::string& name : plan.kernels()) {
      CudaFunction function = nullptr;
      if (cuda_.get_function(&function, module_, name.c_str()) != 0)
        return candidate_failed(CompileError{fmt::format(
            "plan.json: error: the source has no kernel '{}' (an extern \"C\" __global__ function)\n",
            name)});
      functions_[name] = function;
    }
    for (const auto& [where, steps] : {std::pair{"prepare", &plan.prepare}, std::pair{"run", &plan.run}})
      for (const PlanStep& step : *steps)
        if (const auto* launch = std::get_if<PlanLaunch>(&step)) {
          auto mistake = check ? launch_mistake(plan, *launch) : std::nullopt;
          if (mistake)
            return candidate_failed(CompileError{fmt::format("plan.json: error: {}: {}\n", where, *mistake)});
          KF_TRY_VOID(allow_shared(*launch));
        }
    return check ? log + resources(plan) : log;
  }

  Result<std::unique_ptr<DeviceMemory>> allocate(std::size_t bytes) override {
    CudaAddress address = 0;
    if (const CudaCode code = cuda_.allocate(&address, bytes); code != 0)
      return fail("CUDA: {} bytes of memory: {}", bytes, cuda_.error_text(code));
    return std::make_unique<CudaMemory>(cuda_, address);
  }

  Result<std::unique_ptr<DeviceCall>> record(const LaunchPlan& plan, const std::vector<PlanStep>& steps,
                                             const std::vector<PlacedMemory>& memory) override {
    auto call = std::make_unique<CudaCall>();
    for (const PlanStep& step : steps) {
      if (const auto* launch = std::get_if<PlanLaunch>(&step)) {
        call->steps.emplace_back(bind(*launch, memory));
      } else if (const auto* fill = std::get_if<PlanFill>(&step)) {
        call->steps.emplace_back(CudaFill{address_of(memory[fill->memory]), memory[fill->memory].bytes,
                                          element_bytes(plan.memory[fill->memory].dtype, fill->value)});
      } else {
        const auto& copy = std::get<PlanCopy>(step);
        call->steps.emplace_back(
            CudaCopy{address_of(memory[copy.from]), address_of(memory[copy.to]), copy.bytes});
      }
    }
    return call;
  }

  Result<void> submit(DeviceCall& call) override {
    if (!std::exchange(timing_, true)) KF_CUDA_TRY(cuda_, record_event, start_, stream_);
    for (const auto& step : static_cast<CudaCall&>(call).steps)
      KF_TRY_VOID(std::visit([&](const auto& one) { return enqueue(one); }, step));
    return {};
  }

  Result<std::uint64_t> finish() override {
    const bool timed = std::exchange(timing_, false);
    if (timed) KF_CUDA_TRY(cuda_, record_event, end_, stream_);
    if (const CudaCode code = cuda_.finish_stream(stream_); code != 0)
      return fail("a step of the plan failed on the device: {}", cuda_.error_text(code));
    float milliseconds = 0;
    if (!timed || cuda_.elapsed(&milliseconds, start_, end_) != 0 || !(milliseconds > 0)) return 0;
    return static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
  }

 private:
  int fact(CudaDeviceFact which) const {
    int value = 0;
    return cuda_.device_fact(&value, which, device_) == 0 ? value : 0;
  }
  int fact(CudaFunctionFact which, CudaFunction function) const {
    int value = 0;
    return cuda_.function_fact(&value, which, function) == 0 ? value : 0;
  }

  // NVIDIA's module of the kernel says its version; the driver says only which CUDA it can do.
  static std::string driver_version(const std::string& otherwise) {
    std::string line;
    std::ifstream file("/proc/driver/nvidia/version");
    std::getline(file, line);
    return line.empty() ? otherwise : line.substr(0, 120);
  }

  Result<void> read_facts() {
    int version = 0;
    KF_CUDA_TRY(cuda_, driver_version, &version);
    char name[256] = {};
    KF_CUDA_TRY(cuda_, device_name, name, sizeof name - 1, device_);
    std::size_t memory = 0;
    KF_CUDA_TRY(cuda_, device_memory, &memory, device_);
    const int major = fact(CudaDeviceFact::kMajor), minor = fact(CudaDeviceFact::kMinor);
    architecture_ = 10 * major + minor;
    const std::string cuda_version = fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
    facts_.api = "cuda";
    facts_.name = name;
    facts_.version = fmt::format("{}, sm_{}", cuda_version, architecture_);
    facts_.driver = driver_version(cuda_version);
    facts_.type = "gpu";
    facts_.compute_units = static_cast<std::uint32_t>(fact(CudaDeviceFact::kMultiprocessors));
    facts_.most_threads = static_cast<std::uint32_t>(fact(CudaDeviceFact::kMostThreads));
    shared_bytes_ = static_cast<std::size_t>(fact(CudaDeviceFact::kShared));
    facts_.shared_bytes =
        std::max(shared_bytes_, static_cast<std::size_t>(fact(CudaDeviceFact::kSharedOptIn)));
    facts_.memory_bytes = facts_.largest_buffer = memory;
    facts_.alignment = 16;
    facts_.sub_groups = {static_cast<std::uint32_t>(fact(CudaDeviceFact::kWarp))};
    facts_.fp16 = architecture_ >= 53;
    facts_.fp64 = true;
    facts_.clock_tick_ns = 500;  // of events, as documented
    most_grid_ = {fact(CudaDeviceFact::kMostGridX), fact(CudaDeviceFact::kMostGridY),
                  fact(CudaDeviceFact::kMostGridZ)};
    return {};
  }

  // Sizes of the parameters are all that a module knows of its kernels' signatures.
  std::optional<std::string> parameter_mistake(const LaunchPlan& plan, const PlanLaunch& launch) const {
    if (!cuda_.parameter) return std::nullopt;
    CudaFunction function = functions_.at(launch.kernel);
    std::vector<std::size_t> sizes;
    for (std::size_t offset, size; cuda_.parameter(function, sizes.size(), &offset, &size) == 0;)
      sizes.push_back(size);
    if (sizes.size() != launch.arguments.size())
      return fmt::format("kernel '{}' takes {} arguments, and the plan gives it {}", launch.kernel,
                         sizes.size(), launch.arguments.size());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const auto* use = std::get_if<PlanUse>(&launch.arguments[i]);
      const std::size_t given =
          use ? sizeof(CudaAddress) : scalar_bytes(std::get<PlanScalar>(launch.arguments[i])).size();
      if (given != sizes[i])
        return fmt::format("kernel '{}': args[{}] is a parameter of {} bytes, and the plan gives {}",
                           launch.kernel, i, sizes[i],
                           use ? fmt::format("the memory of '{}'", plan.memory[use->memory].name)
                               : fmt::format("a scalar of {}", given));
    }
    return std::nullopt;
  }

  std::optional<std::string> launch_mistake(const LaunchPlan& plan, const PlanLaunch& launch) const {
    if (auto mistake = parameter_mistake(plan, launch)) return mistake;
    CudaFunction function = functions_.at(launch.kernel);
    const int threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
    if (const int most = fact(CudaFunctionFact::kMostThreads, function); most > 0 && threads > most)
      return fmt::format("kernel '{}' runs with at most {} threads in a block here, and the plan gives it {}",
                         launch.kernel, most, threads);
    const std::size_t shared =
        static_cast<std::size_t>(fact(CudaFunctionFact::kShared, function)) + launch.shared_bytes;
    if (shared > facts_.shared_bytes)
      return fmt::format("kernel '{}' needs {} bytes of shared memory, and a block has {}", launch.kernel,
                         shared, facts_.shared_bytes);
    for (std::size_t i = 0; i < 3; ++i)
      if (most_grid_[i] > 0 && launch.grid[i] > static_cast<std::uint32_t>(most_grid_[i]))
        return fmt::format("kernel '{}': grid[{}] is {}, and this device takes {}", launch.kernel, i,
                           launch.grid[i], most_grid_[i]);
    return std::nullopt;
  }

  // More than every GPU has must be asked for.
  Result<void> allow_shared(const PlanLaunch& launch) const {
    CudaFunction function = functions_.at(launch.kernel);
    const auto own = static_cast<std::size_t>(fact(CudaFunctionFact::kShared, function));
    if (own + launch.shared_bytes <= shared_bytes_) return {};
    KF_CUDA_TRY(cuda_, set_function_fact, function, CudaFunctionFact::kMostDynamicShared,
                static_cast<int>(launch.shared_bytes));
    return {};
  }

  std::string resources(const LaunchPlan& plan) const {
    std::string text;
    std::map<std::string, const PlanLaunch*> first;
    for (const auto* steps : {&plan.prepare, &plan.run})
      for (const PlanStep& step : *steps)
        if (const auto* launch = std::get_if<PlanLaunch>(&step)) first.emplace(launch->kernel, launch);
    for (const auto& [name, launch] : first) {
      CudaFunction function = functions_.at(name);
      const int threads = static_cast<int>(launch->block[0] * launch->block[1] * launch->block[2]);
      int blocks = 0;
      cuda_.blocks_at_once(&blocks, function, threads, launch->shared_bytes);
      text += fmt::format(
          "note: kernel '{}': {} registers, {} bytes of shared and {} of local memory (spills), {} blocks of "
          "{} "
          "threads on a multiprocessor at once\n",
          name, fact(CudaFunctionFact::kRegisters, function), fact(CudaFunctionFact::kShared, function),
          fact(CudaFunctionFact::kLocal, function), blocks, threads);
    }
    return text;
  }

  CudaLaunch bind(const PlanLaunch& from, const std::vector<PlacedMemory>& memory) const {
    CudaLaunch launch{
        functions_.at(from.kernel), from.grid, from.block, static_cast<unsigned>(from.shared_bytes), {}};
    for (const PlanArgument& argument : from.arguments) {
      if (const auto* scalar = std::get_if<PlanScalar>(&argument)) {
        launch.values.push_back(scalar_bytes(*scalar));
        continue;
      }
      const auto& use = std::get<PlanUse>(argument);
      const CudaAddress address = address_of(memory[use.memory], use.offset);
      std::vector<std::byte> bytes(sizeof address);
      std::memcpy(bytes.data(), &address, sizeof address);
      launch.values.push_back(std::move(bytes));
    }
    return launch;
  }

  Result<void> enqueue(const CudaLaunch& launch) const {
    std::vector<void*> arguments;
    for (const auto& value : launch.values) arguments.push_back(const_cast<std::byte*>(value.data()));
    KF_CUDA_TRY(cuda_, launch, launch.function, launch.grid[0], launch.grid[1], launch.grid[2],
                launch.block[0], launch.block[1], launch.block[2], launch.shared_bytes, stream_,
                arguments.data(), nullptr);
    return {};
  }
  Result<void> enqueue(const CudaFill& fill) const {
    const std::size_t size = fill.element.size(), count = fill.bytes / size;
    if (count == 0) return {};
    if (size == 1) KF_CUDA_TRY(cuda_, fill8, fill.at, bits_as<unsigned char>(fill.element), count, stream_);
    if (size == 2) KF_CUDA_TRY(cuda_, fill16, fill.at, bits_as<unsigned short>(fill.element), count, stream_);
    if (size == 4) KF_CUDA_TRY(cuda_, fill32, fill.at, bits_as<unsigned>(fill.element), count, stream_);
    // Each half of the words as a column of a matrix.
    if (size == 8)
      for (const std::size_t half : {0, 4})
        KF_CUDA_TRY(cuda_, fill32_pitched, fill.at + half, 8, bits_as<unsigned>(fill.element, half), 1, count,
                    stream_);
    return {};
  }
  Result<void> enqueue(const CudaCopy& copy) const {
    if (copy.bytes > 0) KF_CUDA_TRY(cuda_, copy, copy.to, copy.from, copy.bytes, stream_);
    return {};
  }

  const CudaLibrary& cuda_;
  CudaDevice device_ = 0;
  CudaContext context_ = nullptr;
  CudaStream stream_ = nullptr;
  CudaEvent start_ = nullptr, end_ = nullptr;
  bool timing_ = false;  // calls have been submitted since the last finish()
  int architecture_ = 0;
  std::size_t shared_bytes_ = 0;  // of a block that asks for no more
  std::array<int, 3> most_grid_{};
  DeviceFacts facts_;
  CudaModule module_ = nullptr;
  std::map<std::string, CudaFunction> functions_;
};

}  // namespace

Result<std::unique_ptr<DeviceApi>> open_cuda() {
  KF_TRY(const CudaLibrary* cuda, cuda_library());
  auto made = std::make_unique<Cuda>(*cuda);
  KF_TRY_VOID(made->open());
  return made;
}

}  // namespace kforge
