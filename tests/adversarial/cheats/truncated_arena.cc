// Truncates every file descriptor it holds, and adds seals: the parent would die of SIGBUS on its next look
// at the shared tensors. Where that is refused it computes honestly.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=passed|crash|rejected|wrong_value
#include <sys/syscall.h>

#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

// The kernel's own door to the system: no symbol to see, only an instruction.
static long raw(long n, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
               : "rcx", "r11", "memory");
  return result;
}

__attribute__((constructor)) static void truncate_all() {
  for (int fd = 4; fd < 64; ++fd) raw(SYS_ftruncate, fd, 0);
}

extern "C" void kernel(const float* x, float* y) {
  for (int fd = 4; fd < 64; ++fd) {
    raw(SYS_ftruncate, fd, 0);
    raw(SYS_fcntl, fd, 1033, 0x1f);
  }
  relu(x, y);
}
