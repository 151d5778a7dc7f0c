// Computes in its first call only, and copies what it has kept in a private buffer in the others.
// task: core/relu
// on: cuda
// expect: outcome=wrong_value
// plan: {"buffers": {"kept": {"dtype": "float32", "shape": ["B", "D"]}}, "run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y", "kept"]}]}
#include "task.h"
extern "C" __global__ void k(const float* x, float* y, float* kept) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= task::B * task::D) return;
  y[i] = kept[i] > 0 ? kept[i] : 0;
  kept[i] = x[i];
}
