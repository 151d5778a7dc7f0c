// sum_reduction
//
// y_threads: 48 elements, a thread each
#include <metal_stdlib>
using namespace metal;

// y_threads: 48 elements, a thread each
kernel void y_threads(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], uint3 thread_ [[thread_position_in_threadgroup]],
    uint3 group_ [[threadgroup_position_in_grid]], uint3 groups_ [[threadgroups_per_grid]]) {
  const int item_ = (int)group_.x * 256 + (int)thread_.x;
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
