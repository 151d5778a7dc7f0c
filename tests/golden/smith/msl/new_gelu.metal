// new_gelu
//
// y_threads: 1024 elements, a thread each
#include <metal_stdlib>
using namespace metal;


// device/sigmoid.h
// 1 / (1 + exp(-x)).

static inline float sigmoid_of(float x) {
  const float e = precise::exp(-fabs(x));
  return (x >= 0.0f ? 1.0f : e) / (e + 1.0f);
}

// y_threads: 1024 elements, a thread each
kernel void y_threads(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], uint3 thread_ [[thread_position_in_threadgroup]],
    uint3 group_ [[threadgroup_position_in_grid]], uint3 groups_ [[threadgroups_per_grid]]) {
  const int item_ = (int)group_.x * 256 + (int)thread_.x;
  const int i_2 = item_;
  const float t1_ = x[i_2];
  y[i_2] = t1_ * sigmoid_of(1.5957692f * (t1_ + (0.044715f * ((t1_ * t1_) * t1_))));
}
