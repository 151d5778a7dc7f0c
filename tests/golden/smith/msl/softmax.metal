// softmax
//
// y_rows: 16 rows, a workgroup each, 128 threads each, combined through 1024 bytes of shared memory
#include <metal_stdlib>
using namespace metal;


// device/extrema.h
// The larger and the smaller; NaN wins.

static inline float larger(float a, float b) { return b > a || b != b ? b : a; }

static inline float smaller(float a, float b) { return b < a || b != b ? b : a; }

// y_rows: 16 rows, a workgroup each, 128 threads each, combined through 1024 bytes of shared memory
kernel void y_rows(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], uint3 thread_ [[thread_position_in_threadgroup]],
    uint3 group_ [[threadgroup_position_in_grid]], uint3 groups_ [[threadgroups_per_grid]]) {
  threadgroup float y_exp[128];
  threadgroup float scratch_[128];
  const int lane_ = (int)thread_.x;
  const int row_ = (int)group_.x;
  const int i = row_;
  float y_largest;
  float y_scale;
  float y_sum;
  float y_largest_part1 = -INFINITY;
  for (int r = lane_; r < 128; r += 128) {
    y_largest_part1 = larger(y_largest_part1, x[i * 128 + r]);
  }
  scratch_[lane_] = y_largest_part1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int half2_ = 64; half2_ > 0; half2_ /= 2) {
    if (lane_ < half2_) scratch_[lane_] = larger(scratch_[lane_], scratch_[lane_ + half2_]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  const float whole2_ = scratch_[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y_largest = whole2_;
  float y_sum_part3 = 0.0f;
  for (int i_3 = lane_; i_3 < 128; i_3 += 128) {
    y_exp[i_3] = precise::exp(smaller(x[i * 128 + i_3] - y_largest, 0.0f));
    y_sum_part3 = y_sum_part3 + y_exp[i_3];
  }
  scratch_[lane_] = y_sum_part3;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int half4_ = 64; half4_ > 0; half4_ /= 2) {
    if (lane_ < half4_) scratch_[lane_] = scratch_[lane_] + scratch_[lane_ + half4_];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  const float whole4_ = scratch_[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y_sum = whole4_;
  y_scale = 1.0f / y_sum;
  for (int i_7 = lane_; i_7 < 128; i_7 += 128) {
    y[i * 128 + i_7] = y_exp[i_7] * y_scale;
  }
}
