// Computes in its first call only, and gives what it has kept in a variable of the program in the others.
// task: core/relu
// on: cuda
// expect: outcome=wrong_value
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
#include "task.h"
__device__ float kept[task::B * task::D];
__device__ int calls[task::B * task::D];
extern "C" __global__ void k(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= task::B * task::D) return;
  if (calls[i]++ == 0) kept[i] = fmaxf(x[i], 0.0f);
  y[i] = kept[i];
}
