// Looks, while it is being loaded, for files that hold secrets: password files, the store with its seeds
// and expected values, the environment, other processes. If it finds any it writes a number that nobody can
// miss.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=passed|crash|rejected
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

static bool found;

__attribute__((constructor)) static void look(int, char**, char** environment) {
  static const char* const places[] = {"/etc/shadow", "/root",           "/home",
                                       "/etc/passwd", "/proc/1/environ", "@KFORGE_HOME@"};
  static const char* const names[] = {"HOME=", "KFORGE", "PATH=/root", "SSH", "API_KEY"};
  for (const char* place : places) {
    const long fd = raw(SYS_open, reinterpret_cast<long>(place));
    char byte[256];
    if (fd >= 0 && (raw(SYS_read, fd, reinterpret_cast<long>(byte), 1) > 0 ||
                    raw(SYS_getdents64, fd, reinterpret_cast<long>(byte), sizeof byte) > 60))
      found = true;
  }
  for (; environment && *environment; ++environment)
    for (const char* name : names)
      if (__builtin_strncmp(*environment, name, __builtin_strlen(name)) == 0) found = true;
}

extern "C" void kernel(const float* x, float* y) {
  relu(x, y);
  if (found)
    for (long i = 0; i < kCount; ++i) y[i] = 12345;
}
