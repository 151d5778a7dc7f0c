// Writes through a null pointer, and takes the driver's process with it; oclgrind sees it first.
// task: core/relu
// on: opencl
// expect: outcome=crash|wrong_value gate=bounds
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
kernel void k(global const float* x, volatile global float* y) {
  volatile global float* nowhere = (volatile global float*)(size_t)(x[0] > 1e30f ? (size_t)y : 8);
  *nowhere = x[0];
}
