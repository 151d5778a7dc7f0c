#version 450
// Counts its calls in a buffer that prepare made and that lives between them.
// task: core/relu
// on: vulkan
// expect: outcome=rejected gate=memory
// plan: {"buffers": {"kept": {"dtype": "int32", "shape": [4]}}, "prepare": [{"fill": "kept", "value": 0}], "run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y", "kept"]}]}
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
layout(std430, binding = 2) buffer Kept { int kept[]; };
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < B * D) y[i] = max(x[i], 0.0);
  if (i == 0) kept[0] += 1;
}
