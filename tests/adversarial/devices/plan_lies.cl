// Gives a kernel for blocks of 16 threads blocks of 32, so that half of them would compute nothing.
// task: core/relu
// on: opencl
// expect: outcome=compile_error
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 32)"], "block": [32], "args": ["x", "y"]}]}
__attribute__((reqd_work_group_size(16, 1, 1))) kernel void k(global const float* x, global float* y) {
  y[get_global_id(0)] = fmax(x[get_global_id(0)], 0.0f);
}
