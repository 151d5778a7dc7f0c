// Does not come back.
// task: core/relu
// on: opencl
// expect: outcome=timeout
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
kernel void k(global const float* x, volatile global float* y) {
  while (y[0] != 12345.0f) y[1] = x[0];
}
