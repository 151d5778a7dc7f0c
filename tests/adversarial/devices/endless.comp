#version 450
// Does not come back in time: the driver cuts endless loops, so the plan asks for more work-groups than end today.
// task: core/relu
// on: vulkan
// expect: outcome=timeout
// plan: {"run": [{"kernel": "k", "grid": [65535, 65535], "block": [16], "args": ["x", "y"]}]}
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) volatile buffer Y { float y[]; };
void main() {
  for (uint i = 0; i < 1000; ++i) y[gl_LocalInvocationID.x] += x[i % 64];
}
