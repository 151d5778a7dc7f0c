// Computes, and writes behind the output in the last work-group; where there is oclgrind, it sees it first.
// task: core/relu
// on: opencl
// expect: outcome=rejected|wrong_value gate=memory|bounds
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
kernel void k(global const float* x, global float* y) {
  const int i = get_global_id(0);
  if (i < B * D) y[i] = fmax(x[i], 0.0f);
  if (i == 0) y[B * D + 3] = 1;
}
