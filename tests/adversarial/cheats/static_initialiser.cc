// A static initialiser runs before any call and outside any clock: it finds the tensors in the memory map
// of the process, multiplies what lies there, and the kernel only copies.
//
// task: core/matmul
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected|crash
#include <string.h>
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

static float answer[task::M * task::N];

static long parse_hex(const char*& p) {
  long value = 0;
  for (;; ++p) {
    if (*p >= '0' && *p <= '9')
      value = value * 16 + (*p - '0');
    else if (*p >= 'a' && *p <= 'f')
      value = value * 16 + (*p - 'a' + 10);
    else
      return value;
  }
}

__attribute__((constructor)) static void precompute() {
  static char text[1 << 16];
  const long fd = raw(SYS_open, reinterpret_cast<long>("/proc/self/maps"));
  if (fd < 0) return;
  long size = 0;
  for (long n; (n = raw(SYS_read, fd, reinterpret_cast<long>(text + size), sizeof text - 1 - size)) > 0;)
    size += n;
  raw(SYS_close, fd);
  const float* tensors[2] = {};
  int found = 0;
  for (const char* line = text; *line && found < 2;) {
    const char* end = strchr(line, '\n');
    if (!end) break;
    const char* p = line;
    const long from = parse_hex(p);
    if (memmem(line, end - line, "memfd", 5) && memmem(line, end - line, " r--s", 5))
      tensors[found++] = reinterpret_cast<const float*>(from);
    line = end + 1;
  }
  if (found == 2) matmul(tensors[0], tensors[1], answer);
}

extern "C" void kernel(const float* a, const float* b, float* c) {
  (void)a;
  (void)b;
  memcpy(c, answer, sizeof answer);
}
