#version 450
// Takes its answer from the memory behind its input, where on many devices the next buffer lies.
// task: core/relu
// on: vulkan
// expect: outcome=wrong_value|crash
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < B * D) y[i] = max(x[i + B * D], 0.0);
}
