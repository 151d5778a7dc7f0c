// NVIDIA's driver for tests: memory of the process for memory of the GPU, modules that are shared libraries,
// and launches on KForge's emulator, at once. As strict as the driver where KForge could be wrong.
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "module.h"

namespace {

enum : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNotInitialized = 3,
  kNoDevice = 100,
  kInvalidContext = 201,
  kNoBinary = 209,
  kInvalidHandle = 400,
  kNotFound = 500,
  kIllegalAddress = 700,
};

constexpr std::size_t kMemory = std::size_t{4} << 30;
constexpr int kCubin = 190;  // EM_CUDA: of NVIDIA's own compilers
constexpr int kShared = 48 << 10, kSharedOptIn = 227 << 10, kStaticShared = 1 << 10;

struct Module {
  void* library = nullptr;
  const FakeModule* content = nullptr;
};
struct Function {
  const Module* module = nullptr;
  const FakeKernel* kernel = nullptr;
  int dynamic_shared = kShared;
};
struct Event {
  std::chrono::steady_clock::time_point at;
  bool recorded = false;
};

bool initialized = false, current = false;
int context, stream;    // their addresses are the handles
int sticky = kSuccess;  // an error of a launch ends the context
std::map<unsigned long long, std::size_t> allocations;
std::map<std::pair<const Module*, std::string>, Function> functions;

int number(const char* name, int otherwise) {
  const char* text = ::getenv(name);
  return text ? std::atoi(text) : otherwise;
}

int ready() { return !initialized ? kNotInitialized : !current ? kInvalidContext : sticky; }

// Inside of one allocation.
bool valid(unsigned long long address, std::size_t bytes) {
  auto after = allocations.upper_bound(address);
  if (after == allocations.begin()) return false;
  const auto& [start, size] = *std::prev(after);
  return address - start <= size && bytes <= size - (address - start);
}

// A cubin is handed over without its size; its section headers stand last.
std::size_t size_of_elf(const void* image) {
  Elf64_Ehdr head;
  std::memcpy(&head, image, sizeof head);
  if (std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_machine == kCubin) return 0;
  return head.e_shoff + std::size_t{head.e_shnum} * head.e_shentsize;
}

template <class T>
int fill(unsigned long long to, T value, std::size_t count, std::size_t pitch) {
  if (const int code = ready()) return code;
  if (to % sizeof value != 0 || !valid(to, count == 0 ? 0 : (count - 1) * pitch + sizeof value))
    return kInvalidValue;
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(reinterpret_cast<char*>(to) + i * pitch, &value, sizeof value);
  return kSuccess;
}

}  // namespace

extern "C" {

int cuInit(unsigned flags) {
  if (flags != 0) return kInvalidValue;
  if (number("FAKE_CUDA_DEVICES", 1) == 0) return kNoDevice;
  // One address space for host and device: far more addresses than there is memory.
  if (::mmap(nullptr, std::size_t{512} << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
             0) == MAP_FAILED)
    return kOutOfMemory;
#if defined(__x86_64__)
  if (number("FAKE_CUDA_FLUSH", 0)) _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  initialized = true;
  return kSuccess;
}
int cuDriverGetVersion(int* version) { return *version = 12040, kSuccess; }
int cuDeviceGetCount(int* count) {
  if (!initialized) return kNotInitialized;
  return *count = number("FAKE_CUDA_DEVICES", 1), kSuccess;
}
int cuDeviceGet(int* device, int ordinal) {
  if (!initialized) return kNotInitialized;
  if (ordinal != 0) return kInvalidValue;
  return *device = 7, kSuccess;
}
int cuDeviceGetName(char* name, int size, int device) {
  if (device != 7 || size <= 0) return kInvalidValue;
  std::strncpy(name, "KForge's emulator behind a driver", static_cast<std::size_t>(size));
  return kSuccess;
}
int cuDeviceGetAttribute(int* value, int which, int device) {
  if (device != 7) return kInvalidValue;
  static const std::map<int, int> known = {{1, 1024},    {5, 2147483647},   {6, 65535}, {7, 65535},
                                           {8, kShared}, {10, 32},          {16, 2},    {75, 9},
                                           {76, 0},      {97, kSharedOptIn}};
  const auto found = known.find(which);
  if (found == known.end()) return kInvalidValue;
  return *value = found->second, kSuccess;
}
int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
  return device == 7 ? (*bytes = kMemory, kSuccess) : kInvalidValue;
}
int cuDevicePrimaryCtxRetain(int** made, int device) {
  if (device != 7) return kInvalidValue;
  return *made = &context, kSuccess;
}
int cuCtxSetCurrent(int* given) { return given == &context ? (current = true, kSuccess) : kInvalidContext; }
int cuCtxSynchronize() { return ready(); }

int cuModuleLoadDataEx(Module** made, const void* image, unsigned, int*, void**) {
  if (const int code = ready()) return code;
  const std::size_t size = size_of_elf(image);
  const int file = size ? ::memfd_create("cubin", 0) : -1;
  if (file < 0 || ::write(file, image, size) != static_cast<ssize_t>(size)) return kNoBinary;
  Module module;
  module.library = ::dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  ::close(file);
  if (!module.library) return kNoBinary;
  auto* entry = reinterpret_cast<const FakeModule* (*)()>(::dlsym(module.library, "fake_module"));
  if (!entry) return kNoBinary;
  module.content = entry();
  *made = new Module(module);
  return kSuccess;
}
int cuModuleUnload(Module* module) {
  if (const int code = ready()) return code;
  std::erase_if(functions, [&](const auto& one) { return one.first.first == module; });
  ::dlclose(module->library);
  delete module;
  return kSuccess;
}
int cuModuleGetFunction(Function** found, Module* module, const char* name) {
  if (const int code = ready()) return code;
  for (unsigned i = 0; i < module->content->count; ++i)
    if (const FakeKernel& kernel = module->content->kernels[i]; std::strcmp(kernel.name, name) == 0) {
      Function& function = functions[{module, name}];
      function = {module, &kernel};
      return *found = &function, kSuccess;
    }
  return kNotFound;
}
int cuFuncGetAttribute(int* value, int which, Function* function) {
  if (!function) return kInvalidHandle;
  static const std::map<int, int> known = {{0, 1024}, {1, kStaticShared}, {3, 0}, {4, 32}};
  const auto row = known.find(which);
  if (row == known.end()) return kInvalidValue;
  return *value = row->second, kSuccess;
}
int cuFuncSetAttribute(Function* function, int which, int value) {
  if (!function || which != 8 || value < 0 || value + kStaticShared > kSharedOptIn) return kInvalidValue;
  return function->dynamic_shared = value, kSuccess;
}
int cuFuncGetParamInfo(Function* function, std::size_t index, std::size_t* offset, std::size_t* size) {
  if (!function || index >= function->kernel->parameters) return kInvalidValue;
  *offset = 0;
  for (std::size_t i = 0; i < index; ++i) *offset += function->kernel->sizes[i];
  return *size = function->kernel->sizes[index], kSuccess;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function*, int threads, std::size_t) {
  if (threads <= 0) return kInvalidValue;
  return *blocks = 2048 / threads, kSuccess;
}

int cuMemAlloc_v2(unsigned long long* address, std::size_t bytes) {
  if (const int code = ready()) return code;
  if (bytes == 0) return kInvalidValue;
  void* memory = bytes <= kMemory ? std::aligned_alloc(256, (bytes + 255) / 256 * 256) : nullptr;
  if (!memory) return kOutOfMemory;
  *address = reinterpret_cast<unsigned long long>(memory);
  allocations[*address] = bytes;
  return kSuccess;
}
int cuMemFree_v2(unsigned long long address) {
  if (!allocations.erase(address)) return kInvalidValue;
  std::free(reinterpret_cast<void*>(address));
  return kSuccess;
}
int cuMemcpyHtoD_v2(unsigned long long to, const void* from, std::size_t bytes) {
  if (const int code = ready()) return code;
  if (!valid(to, bytes)) return kInvalidValue;
  return std::memcpy(reinterpret_cast<void*>(to), from, bytes), kSuccess;
}
int cuMemcpyDtoH_v2(void* to, unsigned long long from, std::size_t bytes) {
  if (const int code = ready()) return code;
  if (!valid(from, bytes)) return kInvalidValue;
  return std::memcpy(to, reinterpret_cast<const void*>(from), bytes), kSuccess;
}
int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, std::size_t bytes, int* given) {
  if (const int code = ready()) return code;
  if (given != &stream || !valid(to, bytes) || !valid(from, bytes)) return kInvalidValue;
  return std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes), kSuccess;
}
int cuMemsetD8Async(unsigned long long to, unsigned char value, std::size_t count, int*) {
  return fill(to, value, count, 1);
}
int cuMemsetD16Async(unsigned long long to, unsigned short value, std::size_t count, int*) {
  return fill(to, value, count, 2);
}
int cuMemsetD32Async(unsigned long long to, unsigned value, std::size_t count, int*) {
  return fill(to, value, count, 4);
}
int cuMemsetD2D32Async(unsigned long long to, std::size_t pitch, unsigned value, std::size_t width,
                       std::size_t height, int*) {
  return width == 1 && pitch >= 4 ? fill(to, value, height, pitch) : kInvalidValue;
}

int cuStreamCreate(int** made, unsigned flags) {
  if (const int code = ready()) return code;
  if (flags != 0) return kInvalidValue;  // others would not wait for transfers
  return *made = &stream, kSuccess;
}
int cuStreamSynchronize(int* given) { return given == &stream ? ready() : kInvalidHandle; }
int cuEventCreate(Event** made, unsigned) { return *made = new Event, kSuccess; }
int cuEventRecord(Event* event, int* given) {
  if (const int code = ready()) return code;
  if (given != &stream) return kInvalidHandle;
  return *event = {std::chrono::steady_clock::now(), true}, kSuccess;
}
int cuEventElapsedTime(float* milliseconds, Event* start, Event* end) {
  if (!start->recorded || !end->recorded) return kInvalidHandle;
  const char* factor = ::getenv("FAKE_CUDA_CLOCK");
  *milliseconds = std::chrono::duration<float, std::milli>(end->at - start->at).count() *
                  (factor ? std::strtof(factor, nullptr) : 1);
  return kSuccess;
}

int cuLaunchKernel(Function* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, int* given, void** arguments, void** extra) {
  if (const int code = ready()) return code;
  if (!function || given != &stream || extra) return kInvalidHandle;
  const unsigned long long threads = 1ull * bx * by * bz;
  if (threads == 0 || threads > 1024 || !gx || !gy || !gz || gy > 65535 || gz > 65535) return kInvalidValue;
  if (static_cast<int>(shared) > function->dynamic_shared ||
      (function->dynamic_shared == kShared && static_cast<int>(shared) + kStaticShared > kShared))
    return kInvalidValue;
  if (const int code = number("FAKE_CUDA_FAIL", 0))
    return sticky = code, kSuccess;  // seen when waiting for it
  const FakeKernel& kernel = *function->kernel;
  std::vector<KfePlanArgument> list(kernel.parameters + 1);
  for (unsigned i = 0; i < kernel.parameters; ++i) {
    list[i].memory = -1;
    std::memcpy(&list[i].value, arguments[i], kernel.sizes[i]);
  }
  KfeStep step{};
  step.kind = KfeStep::kLaunch;
  step.name = kernel.name;
  step.thunk = kernel.thunk;
  step.grid = {gx, gy, gz};
  step.block = {bx, by, bz};
  step.shared_bytes = shared;
  step.arguments = list.data();
  step.count = kernel.parameters;
  function->module->content->launch(&step);
  return kSuccess;
}

int cuGetErrorName(int code, const char** name) {
  static const std::map<int, const char*> known = {{kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
                                                   {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                   {kNoDevice, "CUDA_ERROR_NO_DEVICE"},
                                                   {kNoBinary, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
                                                   {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
  const auto found = known.find(code);
  if (found == known.end()) return kInvalidValue;
  return *name = found->second, kSuccess;
}

}  // extern "C"
