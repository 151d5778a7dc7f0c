#version 450
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { int x[]; };
layout(std430, binding = 1) buffer Y { int y[]; };
void main() {
  if (gl_GlobalInvocationID.x < N) atomicAdd(y[x[gl_GlobalInvocationID.x]], 1);
}
