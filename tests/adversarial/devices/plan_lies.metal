// Gives fewer arguments than the kernel takes.
// task: core/relu
// on: metal
// expect: outcome=compile_error
// plan: {"run": [{"kernel": "k", "grid": [1], "block": [16], "args": ["x"]}]}
kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], uint at [[thread_position_in_grid]]) { y[at] = x[at]; }
