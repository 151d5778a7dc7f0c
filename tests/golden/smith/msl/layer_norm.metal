// layer_norm
//
// y_rows: 16 rows, a workgroup each, 64 threads each, combined through 256 bytes of shared memory
#include <metal_stdlib>
using namespace metal;


// device/extrema.h
// The larger and the smaller; NaN wins.

static inline float larger(float a, float b) { return b > a || b != b ? b : a; }

static inline float smaller(float a, float b) { return b < a || b != b ? b : a; }

// y_rows: 16 rows, a workgroup each, 64 threads each, combined through 256 bytes of shared memory
kernel void y_rows(device const float* x [[buffer(0)]], device const float* scale [[buffer(1)]], device const float* bias [[buffer(2)]], device float* y [[buffer(3)]], uint3 thread_ [[thread_position_in_threadgroup]],
    uint3 group_ [[threadgroup_position_in_grid]], uint3 groups_ [[threadgroups_per_grid]]) {
  threadgroup float scratch_[64];
  const int lane_ = (int)thread_.x;
  const int row_ = (int)group_.x;
  const int i = row_;
  float y_centre;
  float y_drift;
  float y_inverse;
  float y_mean;
  float y_squares;
  float y_total;
  float y_total_part1 = 0.0f;
  for (int r = lane_; r < 64; r += 64) {
    y_total_part1 = y_total_part1 + x[i * 64 + r];
  }
  scratch_[lane_] = y_total_part1;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int half2_ = 32; half2_ > 0; half2_ /= 2) {
    if (lane_ < half2_) scratch_[lane_] = scratch_[lane_] + scratch_[lane_ + half2_];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  const float whole2_ = scratch_[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y_total = whole2_;
  y_centre = y_total / 64.0f;
  y_drift = 0.0f;
  float y_drift_part3 = 0.0f;
  float y_squares_part4 = 0.0f;
  for (int r_2 = lane_; r_2 < 64; r_2 += 64) {
    y_drift_part3 = y_drift_part3 + (x[i * 64 + r_2] - y_centre);
    const float t5_ = x[i * 64 + r_2] - y_centre;
    y_squares_part4 = y_squares_part4 + (t5_ * t5_);
  }
  scratch_[lane_] = y_drift_part3;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int half6_ = 32; half6_ > 0; half6_ /= 2) {
    if (lane_ < half6_) scratch_[lane_] = scratch_[lane_] + scratch_[lane_ + half6_];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  const float whole6_ = scratch_[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y_drift = y_drift + whole6_;
  scratch_[lane_] = y_squares_part4;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int half7_ = 32; half7_ > 0; half7_ /= 2) {
    if (lane_ < half7_) scratch_[lane_] = scratch_[lane_] + scratch_[lane_ + half7_];
    threadgroup_barrier(mem_flags::mem_threadgroup);
  }
  const float whole7_ = scratch_[0];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  y_squares = whole7_;
  y_mean = y_centre + (y_drift / 64.0f);
  const float t8_ = y_drift / 64.0f;
  y_inverse = 1.0f / precise::sqrt(larger((y_squares / 64.0f) - (t8_ * t8_), 0.0f) + (1e-05f));
  for (int i_8 = lane_; i_8 < 64; i_8 += 64) {
    y[i * 64 + i_8] = (((x[i * 64 + i_8] - y_mean) * y_inverse) * scale[i_8]) + bias[i_8];
  }
}
