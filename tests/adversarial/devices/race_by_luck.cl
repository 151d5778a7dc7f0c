// Reads what a neighbour wrote to local memory without a barrier: right within a sub-group of a GPU, by luck.
// task: core/flip_rows
// on: opencl
// expect: outcome=wrong_value
// plan: {"run": [{"kernel": "k", "grid": ["B"], "block": ["D"], "args": ["x", "y"]}]}
kernel void k(global const float* x, global float* y) {
  local float row[D];
  const int i = get_local_id(0);
  row[i] = x[get_group_id(0) * D + i];
  y[get_group_id(0) * D + i] = row[D - 1 - i];
}
