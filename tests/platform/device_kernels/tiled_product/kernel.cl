// task: core/matmul
kernel void product(global const float* a, global const float* b, global float* y) {
  local float left[TILE][TILE], right[TILE][TILE];
  const int column = get_local_id(0), row = get_local_id(1), n = get_global_id(0), m = get_global_id(1);
  float sum = 0;
  for (int k = 0; k < K; k += TILE) {
    left[row][column] = m < M && k + column < K ? a[m * K + k + column] : 0;
    right[row][column] = n < N && k + row < K ? b[(k + row) * N + n] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < TILE; ++i) sum = fma(left[row][i], right[i][column], sum);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (m < M && n < N) y[m * N + n] = sum;
}
