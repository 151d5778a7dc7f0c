#version 450
// Reads what a neighbour wrote to shared memory without a barrier: right within a sub-group, by luck.
// task: core/flip_rows
// on: vulkan
// expect: outcome=wrong_value
// plan: {"run": [{"kernel": "k", "grid": ["B"], "block": ["D"], "args": ["x", "y"]}]}
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
shared float row[D];
void main() {
  const uint i = gl_LocalInvocationID.x, first = gl_WorkGroupID.x * D;
  row[i] = x[first + i];
  y[first + i] = row[D - 1 - i];
}
