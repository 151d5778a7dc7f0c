#version 450
// Reads a binding that the plan does not give it.
// task: core/relu
// on: vulkan
// expect: outcome=compile_error
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 1) buffer Y { float y[]; };
layout(std430, binding = 2) buffer Z { float z[]; };
void main() { y[gl_GlobalInvocationID.x] = z[gl_GlobalInvocationID.x]; }
