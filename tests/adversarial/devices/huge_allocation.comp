#version 450
// Asks for a buffer of four terabytes.
// task: core/relu
// on: vulkan
// expect: outcome=compile_error
// plan: {"buffers": {"huge": {"dtype": "float32", "shape": [1000000, 1000000]}}, "run": [{"kernel": "k", "grid": [1], "block": [16], "args": ["x", "huge"]}]}
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) buffer Y { float y[]; };
void main() {}
