// task: core/sum_reduction
// Two launches: a quarter of the rows each, then the quarters. A launch is the only barrier between work-groups.
kernel void sum_parts(global const float* x, global float* parts) {
  const int n = get_global_id(0), part = get_group_id(1), b = get_group_id(2);
  if (n >= N) return;
  float sum = 0;
  for (int m = part; m < M; m += 4) sum += x[(b * M + m) * N + n];
  parts[(b * 4 + part) * N + n] = sum;
}
kernel void sum_all(global const float* parts, global float* y) {
  const int n = get_global_id(0), b = get_group_id(1);
  if (n >= N) return;
  float sum = 0;
  for (int part = 0; part < 4; ++part) sum += parts[(b * 4 + part) * N + n];
  y[b * N + n] = sum;
}
