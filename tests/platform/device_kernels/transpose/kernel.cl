// task: core/transpose
// Through a tile in local memory, so that both sides are read and written along memory; padded against bank conflicts.
kernel void transposed(global const float* x, global float* y) {
  local float tile[8][9];
  const int i = get_local_id(0), j = get_local_id(1), n0 = get_group_id(0) * 8, m0 = get_group_id(1) * 8;
  if (m0 + j < M && n0 + i < N) tile[j][i] = x[(m0 + j) * N + n0 + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (n0 + j < N && m0 + i < M) y[(n0 + j) * M + m0 + i] = tile[i][j];
}
