// Counts its calls in a buffer that prepare made and that lives between them.
// task: core/relu
// on: opencl
// expect: outcome=rejected gate=memory
// plan: {"buffers": {"kept": {"dtype": "int32", "shape": [4]}}, "prepare": [{"fill": "kept", "value": 0}], "run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y", "kept"]}]}
kernel void k(global const float* x, global float* y, global int* kept) {
  const int i = get_global_id(0);
  if (i < B * D) y[i] = fmax(x[i], 0.0f);
  if (i == 0) kept[0] += 1;
}
