// Gives a float where the kernel takes memory.
// task: core/relu
// on: cuda
// expect: outcome=compile_error
// plan: {"run": [{"kernel": "k", "grid": [1], "block": [16], "args": [{"f32": 1}, "y"]}]}
extern "C" __global__ void k(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }
