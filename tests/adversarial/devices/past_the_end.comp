#version 450
// Computes, and writes behind the output.
// task: core/relu
// on: vulkan
// expect: outcome=rejected gate=memory
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
void main() {
  const uint i = gl_GlobalInvocationID.x;
  if (i < B * D) y[i] = max(x[i], 0.0);
  if (i == 0) y[B * D + 3] = 1;
}
