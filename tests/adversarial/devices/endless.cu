// Does not come back.
// task: core/relu
// on: cuda
// expect: outcome=timeout
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
extern "C" __global__ void k(const float* x, volatile float* y) {
  while (y[0] != 12345.0f) y[1] = x[0];
}
