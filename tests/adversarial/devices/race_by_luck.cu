// Reads what a neighbour wrote to shared memory without a barrier: right within a warp of older GPUs, by luck.
// task: core/flip_rows
// on: cuda
// expect: outcome=wrong_value
// plan: {"run": [{"kernel": "k", "grid": ["B"], "block": ["D"], "args": ["x", "y"]}]}
#include "task.h"
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ float row[task::D];
  const int i = threadIdx.x;
  row[i] = x[blockIdx.x * task::D + i];
  y[blockIdx.x * task::D + i] = row[task::D - 1 - i];
}
