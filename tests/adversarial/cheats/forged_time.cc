// Takes over the protocol: the first call never returns, answers every request itself, computes honestly
// and claims one nanosecond for each. (The tables it needs are learnt from the calls it saw: here it serves
// only the slots it knows.)
//
// task: core/matmul
// shapes: small
// mode: full
// expect: outcome=rejected|wrong_value|crash
#include <sys/syscall.h>

#include "task.h"

static void matmul(const float* a, const float* b, float* c) {
  for (long i = 0; i < task::M; ++i) {
    float* row = c + i * task::N;
    for (long j = 0; j < task::N; ++j) row[j] = 0;
    for (long k = 0; k < task::K; ++k)
      for (long j = 0; j < task::N; ++j) row[j] += a[i * task::K + k] * b[k * task::N + j];
  }
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

struct Message {
  unsigned type, payload;
  unsigned long value, nanoseconds;
  unsigned slots[1024];
};

extern "C" void kernel(const float* a, const float* b, float* c) {
  static int call;
  matmul(a, b, c);
  if (++call < 40) return;
  static Message message;
  Message done{10, 0, 0, 1, {}};
  raw(SYS_write, 3, reinterpret_cast<long>(&done), 24);
  for (;;) {
    if (raw(SYS_read, 3, reinterpret_cast<long>(&message), sizeof message) < 24) __builtin_trap();
    if (message.type == 6) raw(SYS_exit_group, 0);
    matmul(a, b, c);
    raw(SYS_write, 3, reinterpret_cast<long>(&done), 24);
  }
}
