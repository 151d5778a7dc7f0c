// Reads what a neighbour wrote to threadgroup memory without a barrier: right within a simdgroup of a GPU, by luck.
// task: core/flip_rows
// on: metal
// expect: outcome=wrong_value
// plan: {"run": [{"kernel": "k", "grid": ["B"], "block": ["D"], "args": ["x", "y"]}]}
#include <metal_stdlib>
#include "task.h"
using namespace metal;
kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], uint i [[thread_position_in_threadgroup]], uint b [[threadgroup_position_in_grid]]) {
  threadgroup float row[task::D];
  row[i] = x[b * task::D + i];
  y[b * task::D + i] = row[task::D - 1 - i];
}
