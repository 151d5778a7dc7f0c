// Counts its calls in a buffer that prepare made and that lives between them.
// task: core/relu
// on: cuda
// expect: outcome=wrong_value gate=bounds
// plan: {"buffers": {"kept": {"dtype": "int32", "shape": [4]}}, "prepare": [{"fill": "kept", "value": 0}], "run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y", "kept"]}]}
#include "task.h"
extern "C" __global__ void k(const float* x, float* y, int* kept) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < task::B * task::D) y[i] = fmaxf(x[i], 0.0f);
  if (i == 0) kept[0] += 1;
}
