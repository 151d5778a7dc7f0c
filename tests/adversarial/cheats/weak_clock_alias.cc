// A weak alias written in assembly instead of a definition the compiler would know of.
//
// task: core/relu
// shapes: small
// mode: check
// expect: outcome=rejected gate=symbols
#include "task.h"

static constexpr long kCount = task::B * task::D;

static void relu(const float* x, float* y) {
  for (long i = 0; i < kCount; ++i) y[i] = x[i] > 0 ? x[i] : 0;
}

asm(R"(
  .weak gettimeofday
  .type gettimeofday, @function
  .set gettimeofday, still_clock_code
  .weak __vdso_clock_gettime
  .set __vdso_clock_gettime, still_clock_code
still_clock_code:
  xor %eax, %eax
  ret
)");

extern "C" void kernel(const float* x, float* y) { relu(x, y); }
