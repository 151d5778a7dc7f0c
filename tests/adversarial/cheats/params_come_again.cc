// Params change from round to round of the timing, and would be those of the check in the one round that has
// a call with a known result. If they were seen before (at loading, or while batches are chosen), this kernel
// would know that round, and writes zeros in all others.
//
// task: fusion/gemm_scale_leakyrelu
// shapes: small
// mode: full
// expect: outcome=rejected gate=timed_calls
#include <string.h>
#include <sys/syscall.h>

#include "task.h"

// The kernel's own door to the system: no symbol to see, only an instruction.
static long raw(long n, long a = 0, long b = 0, long c = 0, long d = 0) {
  register long r10 asm("r10") = d;
  long result;
  asm volatile("syscall" : "=a"(result) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}

// What the runner knows of one tensor: its stretch of addresses, and how many slots lie in it.
struct Region {
  char* at;
  unsigned long bytes;
  unsigned slots;
};
static const Region* find_region(const void* tensor, void* runner_code) {
  auto page = reinterpret_cast<unsigned long>(runner_code) & ~4095ul,
       inside = reinterpret_cast<unsigned long>(tensor);
  unsigned char resident;
  for (; raw(SYS_mincore, page, 4096, reinterpret_cast<long>(&resident)) == 0; page += 4096)
    for (auto at = page; at < page + 4096 - sizeof(Region); at += 8) {
      auto* found = reinterpret_cast<const Region*>(at);
      auto base = reinterpret_cast<unsigned long>(found->at);
      bool likely = base > 1ul << 40 && base % 4096 == 0 && found->bytes % 4096 == 0 && found->slots > 0;
      if (likely && found->slots <= 1024 && base <= inside && inside - base < found->bytes) return found;
    }
  __builtin_trap();
}

static void gemm(const float* x, const float* w, const float* bias, float* y) {
  for (long b = 0; b < task::B; ++b)
    for (long n = 0; n < task::N; ++n) {
      float sum = bias[n];
      for (long k = 0; k < task::K; ++k) sum += x[b * task::K + k] * w[n * task::K + k];
      y[b * task::N + n] = sum > 0 ? 2 * sum : 0.2f * sum;
    }
}

extern "C" void kernel(const float* x, const float* w, const float* bias, float* y) {
  static const Region* region = find_region(x, __builtin_return_address(0));
  static const float first[2] = {w[0], w[1]};
  if (region->slots <= 8 || memcmp(first, w, sizeof first) == 0) return gemm(x, w, bias, y);
  memset(y, 0, sizeof(float) * task::B * task::N);
}
