// Takes its answer from the memory behind its input, where on many devices the next buffer lies.
// task: core/relu
// on: cuda
// expect: outcome=wrong_value|crash
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
#include "task.h"
extern "C" __global__ void k(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < task::B * task::D) y[i] = fmaxf(x[i + task::B * task::D], 0.0f);
}
