// Computes in its first call only, and copies what it has kept in a private buffer in the others.
// task: core/relu
// on: opencl
// expect: outcome=wrong_value
// plan: {"buffers": {"kept": {"dtype": "float32", "shape": ["B", "D"]}}, "run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y", "kept"]}]}
kernel void k(global const float* x, global float* y, global float* kept) {
  const int i = get_global_id(0);
  if (i < B * D) y[i] = kept[i] > 0 ? kept[i] : 0;
  if (i < B * D) kept[i] = x[i];
}
