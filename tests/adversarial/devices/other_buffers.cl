// Takes its answer from the memory behind its input, where on many devices the next buffer lies.
// task: core/relu
// on: opencl
// expect: outcome=wrong_value|crash
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
kernel void k(global const float* x, global float* y) {
  const int i = get_global_id(0);
  if (i < B * D) y[i] = x[i + B * D];
}
