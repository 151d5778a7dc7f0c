#version 450
layout(local_size_x = BLOCK_X) in;
#ifdef KERNEL_pack
layout(std430, binding = 0) readonly buffer S { float scale[]; };
layout(std430, binding = 1) readonly buffer O { float bias[]; };
layout(std430, binding = 2) writeonly buffer P { float packed[]; };
void main() {
  const uint d = gl_GlobalInvocationID.x;
  packed[2 * d] = scale[d];
  packed[2 * d + 1] = bias[d];
}
#endif
#ifdef KERNEL_normalise
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) readonly buffer P { float packed[]; };
layout(std430, binding = 2) writeonly buffer Y { float y[]; };
shared float parts[BLOCK_X];
float total(float own) {
  barrier();
  parts[gl_LocalInvocationID.x] = own;
  barrier();
  float sum = 0;
  for (int i = 0; i < BLOCK_X; ++i) sum += parts[i];
  return sum;
}
void main() {
  const uint lane = gl_LocalInvocationID.x, row = gl_WorkGroupID.x * D;
  float sum = 0, squares = 0;
  for (uint d = lane; d < D; d += BLOCK_X) sum += x[row + d];
  const float mean = total(sum) / D;
  for (uint d = lane; d < D; d += BLOCK_X) squares += (x[row + d] - mean) * (x[row + d] - mean);
  const float scale = 1 / sqrt(total(squares) / D + 1e-5);
  for (uint d = lane; d < D; d += BLOCK_X)
    y[row + d] = (x[row + d] - mean) * scale * packed[2 * d] + packed[2 * d + 1];
}
#endif
