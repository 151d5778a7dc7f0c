#version 450
// Computes in its first call only, and copies what it has kept in a private buffer in the others.
// task: core/relu
// on: vulkan
// expect: outcome=wrong_value
// plan: {"buffers": {"kept": {"dtype": "float32", "shape": ["B", "D"]}}, "run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y", "kept"]}]}
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
layout(std430, binding = 2) buffer Kept { float kept[]; };
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i >= B * D) return;
  y[i] = kept[i] > 0 ? kept[i] : 0;
  kept[i] = x[i];
}
