// Computes; stands for every CUDA kernel that must pass, under both sandboxes.
// task: core/relu
// on: cuda
// expect: outcome=passed
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
#include "task.h"
extern "C" __global__ void k(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < task::B * task::D) y[i] = x[i] > 0 ? x[i] : x[i] != x[i] ? x[i] : 0;
}
