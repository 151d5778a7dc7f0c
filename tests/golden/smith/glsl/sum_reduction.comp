#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
// sum_reduction
//
// y_threads: 48 elements, a thread each

// y_threads: 48 elements, a thread each
#ifdef KERNEL_y_threads
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer Buffer0 { float x[]; };
layout(std430, binding = 1) coherent buffer Buffer1 { float y[]; };
void main() {
  const int item_ = int(gl_WorkGroupID.x) * 256 + int(gl_LocalInvocationID.x);
  if (item_ < 48) {
    const int i = item_ / 24;
    const int i_2 = item_ % 24;
    float y_sum1 = 0.0f;
    for (int r = 0; r < 16; ++r) {
      y_sum1 = y_sum1 + x[i * 384 + r * 24 + i_2];
    }
    y[i * 24 + i_2] = y_sum1;
  }
}
#endif
