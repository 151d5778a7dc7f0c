#version 450
layout(local_size_x = BLOCK_X, local_size_y = BLOCK_Y) in;
layout(std430, binding = 0) readonly buffer A { float a[]; };
layout(std430, binding = 1) readonly buffer B_ { float b[]; };
layout(std430, binding = 2) writeonly buffer Y { float y[]; };
shared float left[TILE][TILE], right[TILE][TILE];
void main() {
  const uint column = gl_LocalInvocationID.x, row = gl_LocalInvocationID.y;
  const uint n = gl_GlobalInvocationID.x, m = gl_GlobalInvocationID.y;
  float sum = 0;
  for (uint k = 0; k < K; k += TILE) {
    left[row][column] = m < M && k + column < K ? a[m * K + k + column] : 0.0;
    right[row][column] = n < N && k + row < K ? b[(k + row) * N + n] : 0.0;
    barrier();
    for (uint i = 0; i < TILE; ++i) sum = fma(left[row][i], right[i][column], sum);
    barrier();
  }
  if (m < M && n < N) y[m * N + n] = sum;
}
