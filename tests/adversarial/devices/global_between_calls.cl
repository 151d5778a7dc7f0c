// Keeps its answer in a variable of the program between calls.
// task: core/relu
// on: opencl
// expect: outcome=compile_error
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
global float kept[B * D];
kernel void k(global const float* x, global float* y) {
  const int i = get_global_id(0);
  if (i < B * D) y[i] = kept[i] = fmax(x[i], 0.0f);
}
