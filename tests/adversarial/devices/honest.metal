// Computes; stands for every Metal kernel that must pass, under both sandboxes.
// task: core/relu
// on: metal
// expect: outcome=passed
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
#include <metal_stdlib>
#include "task.h"
using namespace metal;
kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], uint at [[thread_position_in_grid]]) {
  const int i = at;
  if (i < task::B * task::D) y[i] = x[i] > 0 ? x[i] : x[i] != x[i] ? x[i] : 0;
}
