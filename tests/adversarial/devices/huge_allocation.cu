// Asks for a buffer of four terabytes.
// task: core/relu
// on: cuda
// expect: outcome=compile_error
// plan: {"buffers": {"huge": {"dtype": "float32", "shape": [1000000, 1000000]}}, "run": [{"kernel": "k", "grid": [1], "block": [16], "args": ["x", "huge"]}]}
extern "C" __global__ void k(const float* x, float* y) {}
