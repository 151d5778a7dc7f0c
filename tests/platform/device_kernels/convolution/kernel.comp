#version 450
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer Weights { float w[]; };
layout(std430, binding = 2) writeonly buffer Y { float y[]; };
void main() {
  const uint column = gl_GlobalInvocationID.x, row = gl_WorkGroupID.y;
  const uint b = gl_WorkGroupID.z / F, f = gl_WorkGroupID.z % F;
  if (column >= OW) return;
  float sum = 0;
  for (uint c = 0; c < C; ++c)
    for (uint i = 0; i < 9; ++i)
      sum = fma(x[((b * C + c) * H + row + i / 3) * W + column + i % 3], w[(f * C + c) * 9 + i], sum);
  y[((b * F + f) * OH + row) * OW + column] = sum;
}
