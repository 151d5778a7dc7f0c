// Does not come back.
// task: core/relu
// on: metal
// expect: outcome=timeout
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
kernel void k(device const float* x [[buffer(0)]], device volatile float* y [[buffer(1)]]) {
  while (y[0] != 12345.0f) y[1] = x[0];
}
