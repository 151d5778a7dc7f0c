#version 450
layout(local_size_x = BLOCK_X, local_size_y = BLOCK_Y) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
shared float tile[8][9];
void main() {
  const uint i = gl_LocalInvocationID.x, j = gl_LocalInvocationID.y;
  const uint n0 = gl_WorkGroupID.x * 8, m0 = gl_WorkGroupID.y * 8;
  if (m0 + j < M && n0 + i < N) tile[j][i] = x[(m0 + j) * N + n0 + i];
  barrier();
  if (n0 + j < N && m0 + i < M) y[(n0 + j) * M + m0 + i] = tile[i][j];
}
