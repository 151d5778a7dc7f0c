#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
// new_gelu
//
// y_threads: 1024 elements, a thread each


// device/sigmoid.h
// 1 / (1 + exp(-x)).

float sigmoid_of(float x) {
  const float e = exp(-abs(x));
  return (x >= 0.0f ? 1.0f : e) / (e + 1.0f);
}

// y_threads: 1024 elements, a thread each
#ifdef KERNEL_y_threads
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer Buffer0 { float x[]; };
layout(std430, binding = 1) writeonly buffer Buffer1 { float y[]; };
void main() {
  const int item_ = int(gl_WorkGroupID.x) * 256 + int(gl_LocalInvocationID.x);
  const int i_2 = item_;
  const float t1_ = x[i_2];
  y[i_2] = t1_ * sigmoid_of(1.5957692f * (t1_ + (0.044715f * ((t1_ * t1_) * t1_))));
}
#endif
