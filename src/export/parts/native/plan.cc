// The functions of the public header: a plan is a kernel made ready for one set of params and a number of
// threads. Compiled for any processor of the family; only the kernel's own file needs more, and it is entered
// after cpu_features.h has looked.
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>

#if defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__linux__) && defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "cpu_features.h"
#include "kernel_calls.h"  // API(name), Plan, Status, kNeeds, kParams, kTensors, kAlignment and the calls, made for this kernel

struct API(plan) {
  int threads;
  const void* params[kParams + 1];
  void* state;
};

namespace {

// A kernel may keep scratch of its own between calls, and was judged one call at a time.
std::mutex one_call;

bool aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % kAlignment == 0; }

bool tiles_allowed() {
#if defined(__linux__) && defined(__x86_64__)
  for (const char* const* need = kNeeds; *need; ++need)
    if (std::strcmp(*need, "amx") == 0)
      return syscall(SYS_arch_prctl, 0x1023, 18) == 0;  // ARCH_REQ_XCOMP_PERM
#endif
  return true;
}

// The number of threads that a kernel sees, for as long as this lives. What prepare() sized by it must fit.
class Threads {
 public:
  explicit Threads(int count) {
#if defined(_OPENMP)
    before_ = omp_get_max_threads();
    omp_set_num_threads(count);
#else
    (void)count;
#endif
  }
  ~Threads() {
#if defined(_OPENMP)
    omp_set_num_threads(before_);
#endif
  }

 private:
  [[maybe_unused]] int before_ = 1;
};

int default_threads() {
#if defined(_OPENMP)
  return omp_get_max_threads();
#else
  return 1;
#endif
}

}  // namespace

extern "C" {

const char* API(missing)(void) {
  if (const char* name = kforge_export::first_missing(kNeeds)) return name;
  return tiles_allowed() ? nullptr : "amx (the system refuses the tile registers)";
}

Status API(create_v)(Plan** plan, int threads, const void* const* params) {
  *plan = nullptr;
  if (API(missing)()) return API_VALUE(UNSUPPORTED);
  for (int i = 0; i < kParams; ++i)
    if (!aligned(params[i])) return API_VALUE(MISALIGNED);
  auto* made = new (std::nothrow) Plan{threads > 0 ? threads : default_threads(), {}, nullptr};
  if (!made) return API_VALUE(NO_MEMORY);
  for (int i = 0; i < kParams; ++i) made->params[i] = params[i];
  std::lock_guard<std::mutex> alone(one_call);
  Threads as_many(made->threads);
  made->state = prepare_kernel(made->params);
  *plan = made;
  return API_VALUE(OK);
}

Status API(run_v)(Plan* plan, void* const* tensors) {
  for (int i = 0; i < kTensors; ++i)
    if (!aligned(tensors[i])) return API_VALUE(MISALIGNED);
  std::lock_guard<std::mutex> alone(one_call);
  Threads as_many(plan->threads);
  call_kernel(plan->state, plan->params, tensors);
  return API_VALUE(OK);
}

void API(destroy)(Plan* plan) {
  if (!plan) return;
  std::lock_guard<std::mutex> alone(one_call);
  release_kernel(plan->state);
  delete plan;
}

const char* API(status_text)(Status status) {
  switch (status) {
    case API_VALUE(OK):
      return "done";
    case API_VALUE(UNSUPPORTED):
      return "this processor lacks instructions that the kernel was compiled for";
    case API_VALUE(MISALIGNED):
      return "a tensor does not begin at a multiple of 64 bytes";
    case API_VALUE(NO_MEMORY):
      return "no memory";
  }
  return "unknown status";
}

}  // extern "C"
