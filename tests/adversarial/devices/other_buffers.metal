// Takes its answer from the memory behind its input, where on many devices the next buffer lies.
// task: core/relu
// on: metal
// expect: outcome=wrong_value|crash
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
#include <metal_stdlib>
#include "task.h"
using namespace metal;
kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], uint at [[thread_position_in_grid]]) {
  const int i = at;
  if (i < task::B * task::D) y[i] = fmax(x[i + task::B * task::D], 0.0f);
}
