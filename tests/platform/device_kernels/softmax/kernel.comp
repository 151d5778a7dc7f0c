#version 450
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Scalars { int row_length; };
shared float parts[BLOCK_X];
void main() {
  const int lane = int(gl_LocalInvocationID.x), row = int(gl_WorkGroupID.x) * row_length;
  float largest = uintBitsToFloat(0xff800000u), sum = 0;
  for (int d = lane; d < row_length; d += BLOCK_X) largest = max(largest, x[row + d]);
  parts[lane] = largest;
  barrier();
  for (int i = 0; i < BLOCK_X; ++i) largest = max(largest, parts[i]);
  barrier();
  for (int d = lane; d < row_length; d += BLOCK_X) sum += exp(x[row + d] - largest);
  parts[lane] = sum;
  barrier();
  sum = 0;
  for (int i = 0; i < BLOCK_X; ++i) sum += parts[i];
  for (int d = lane; d < row_length; d += BLOCK_X) y[row + d] = exp(x[row + d] - largest) / sum;
}
