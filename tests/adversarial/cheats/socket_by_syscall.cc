// syscall() may be imported, because std::barrier waits by it; what it asks for is refused all the same.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=rejected gate=sandbox
#include <sys/syscall.h>
#include <unistd.h>

#include "task.h"

extern "C" void kernel(const float* x, float* y) {
  if (syscall(SYS_socket, 2, 1, 0) < 0) __builtin_trap();
  for (long i = 0; i < task::B * task::D; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}
