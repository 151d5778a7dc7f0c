// task: tests/platform/tasks/histogram
kernel void count(global const int* x, volatile global int* y) {
  if (get_global_id(0) < N) atomic_inc(&y[x[get_global_id(0)]]);
}
