#version 450
layout(local_size_x = BLOCK_X) in;
#ifdef KERNEL_sum_parts
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer P { float parts[]; };
void main() {
  const uint n = gl_GlobalInvocationID.x, part = gl_WorkGroupID.y, b = gl_WorkGroupID.z;
  if (n >= N) return;
  float sum = 0;
  for (uint m = part; m < M; m += 4) sum += x[(b * M + m) * N + n];
  parts[(b * 4 + part) * N + n] = sum;
}
#endif
#ifdef KERNEL_sum_all
layout(std430, binding = 0) readonly buffer P { float parts[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
void main() {
  const uint n = gl_GlobalInvocationID.x, b = gl_WorkGroupID.y;
  if (n >= N) return;
  float sum = 0;
  for (uint part = 0; part < 4; ++part) sum += parts[(b * 4 + part) * N + n];
  y[b * N + n] = sum;
}
#endif
