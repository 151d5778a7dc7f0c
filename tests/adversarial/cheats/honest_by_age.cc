// Right where results are checked, wrong where calls are timed and where timed calls are made again. It tells
// them apart by the number of buffers and by how long ago it was loaded.
//
// task: core/relu
// shapes: bench
// mode: full
// expect: outcome=rejected|wrong_value
#include <string.h>
#include <sys/syscall.h>
#include <x86intrin.h>

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

static const unsigned long long loaded = __rdtsc();

extern "C" void kernel(const float* x, float* y) {
  static const Region* region = find_region(x, __builtin_return_address(0));
  static const bool old = __rdtsc() - loaded > 12000000000;
  if (region->slots == 2 && !old)
    for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;
  else
    memset(y, 0, sizeof(float) * task::B * task::D);
}
