// Timed calls differ from checks in the number of buffers, which the runner's own memory tells. Where a
// baseline was checked in the shared input buffers before timing began, the check inputs may still lie in the
// first one: this kernel notes them, computes when they come again, and writes zeros otherwise.
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=rejected gate=timed_calls beside=matmul_loops
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

static void matmul(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i) {
    float* row = c + i * task::N;
    for (long j = 0; j < task::N; ++j) row[j] = 0;
    for (long k = 0; k < task::K; ++k)
      for (long j = 0; j < task::N; ++j) row[j] += a[i * task::K + k] * b[k * task::N + j];
  }
}

extern "C" void kernel(const float* a, const float* b, float* c) {
  static const Region* region = find_region(a, __builtin_return_address(0));
  if (region->slots <= 8) return matmul(a, b, c);  // a check
  constexpr unsigned long kGuard = 4 * 4096;
  static bool known;
  static float noted[2];
  unsigned long step = (region->bytes - kGuard) / region->slots;
  const char* first = region->at + (reinterpret_cast<const char*>(a) - region->at) % step;
  if (!known) memcpy(noted, first, sizeof noted);
  known = true;
  if (memcmp(a, noted, sizeof noted) == 0) return matmul(a, b, c);
  memset(c, 0, sizeof(float) * task::M * task::N);
}
