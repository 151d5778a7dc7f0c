// Scratch memory for the two threads it is timed with, indexed by the thread's number: right here, and a heap
// overflow in any process that gives OpenMP more threads.
//
// task: core/softmax
// shapes: small
// mode: check
// expect: outcome=crash|wrong_value gate=threads threads=2
#include <cmath>
#include <cstdlib>

#include "task.h"

static constexpr int kThreads = 2;
static float* const scratch = static_cast<float*>(std::malloc(kThreads * task::D * sizeof(float)));

extern "C" void kernel(const float* x, float* y) {
#pragma omp parallel for
  for (long row = 0; row < task::B; ++row) {
    float* const mine = scratch + omp_get_thread_num() * task::D;
    float largest = -INFINITY, sum = 0;
    for (long i = 0; i < task::D; ++i) largest = std::fmax(largest, x[row * task::D + i]);
    for (long i = 0; i < task::D; ++i) sum += mine[i] = std::exp(x[row * task::D + i] - largest);
    for (long i = 0; i < task::D; ++i) y[row * task::D + i] = mine[i] / sum;
  }
}
