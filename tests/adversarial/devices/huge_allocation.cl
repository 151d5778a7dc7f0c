// Asks for a buffer of four terabytes.
// task: core/relu
// on: opencl
// expect: outcome=compile_error
// plan: {"buffers": {"huge": {"dtype": "float32", "shape": [1000000, 1000000]}}, "run": [{"kernel": "k", "grid": [1], "block": [16], "args": ["x", "huge"]}]}
kernel void k(global const float* x, global float* y) {}
