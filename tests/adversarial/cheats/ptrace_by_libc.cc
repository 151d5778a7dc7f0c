// The same through libc: the import alone is enough to refuse it.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=rejected gate=symbols
#include <sys/ptrace.h>
#include <unistd.h>

#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

extern "C" void kernel(const float* x, float* y) {
  ptrace(PTRACE_ATTACH, getppid(), nullptr, nullptr);
  relu(x, y);
}
