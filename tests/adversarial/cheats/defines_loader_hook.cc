// Defines dlsym, so that whoever asks for the kernel gets another answer.
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

extern "C" void* dlsym(void*, const char*) noexcept { return reinterpret_cast<void*>(relu); }

extern "C" void kernel(const float* x, float* y) { relu(x, y); }
