// Computes, and writes behind the output.
// task: core/relu
// on: cuda
// expect: outcome=wrong_value gate=bounds
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
#include "task.h"
extern "C" __global__ void k(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < task::B * task::D) y[i] = fmaxf(x[i], 0.0f);
  if (i == 0) y[task::B * task::D + 3] = 1;
}
