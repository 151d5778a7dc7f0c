// Counts its calls in a buffer that prepare made and that lives between them.
// task: core/relu
// on: metal
// expect: outcome=wrong_value gate=bounds
// plan: {"buffers": {"kept": {"dtype": "int32", "shape": [4]}}, "prepare": [{"fill": "kept", "value": 0}], "run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y", "kept"]}]}
#include <metal_stdlib>
#include "task.h"
using namespace metal;
kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], device int* kept [[buffer(2)]], uint at [[thread_position_in_grid]]) {
  const int i = at;
  if (i < task::B * task::D) y[i] = fmax(x[i], 0.0f);
  if (i == 0) kept[0] += 1;
}
