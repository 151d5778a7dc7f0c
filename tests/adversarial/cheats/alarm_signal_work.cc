// Arms a timer and returns; the signal handler does the work after the clock has stopped.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=wrong_value|rejected|crash
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>

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

static const float* pending_x;
static float* pending_y;

struct KernelSigaction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  unsigned long mask;
};
asm("alarm_restorer: mov $15, %eax; syscall");
extern "C" void alarm_restorer();

static void on_alarm(int) { relu(pending_x, pending_y); }

extern "C" void kernel(const float* x, float* y) {
  pending_x = x;
  pending_y = y;
  KernelSigaction action{on_alarm, 0x04000000, alarm_restorer, 0};
  itimerval soon{{0, 0}, {0, 2000}};
  raw(SYS_rt_sigaction, SIGALRM, reinterpret_cast<long>(&action), 0, 8);
  raw(SYS_setitimer, ITIMER_REAL, reinterpret_cast<long>(&soon), 0);
}
