#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
// softmax
//
// y_rows: 16 rows, a workgroup each, 128 threads each, combined through 1024 bytes of shared memory


// device/extrema.h
// The larger and the smaller; NaN wins.

float larger(float a, float b) { return b > a || b != b ? b : a; }

float smaller(float a, float b) { return b < a || b != b ? b : a; }

// y_rows: 16 rows, a workgroup each, 128 threads each, combined through 1024 bytes of shared memory
#ifdef KERNEL_y_rows
layout(local_size_x = 128) in;
layout(std430, binding = 0) readonly buffer Buffer0 { float x[]; };
layout(std430, binding = 1) writeonly buffer Buffer1 { float y[]; };
shared float y_exp[128];
shared float scratch_[128];
void main() {
  const int lane_ = int(gl_LocalInvocationID.x);
  const int row_ = int(gl_WorkGroupID.x);
  const int i = row_;
  float y_largest;
  float y_scale;
  float y_sum;
  float y_largest_part1 = -uintBitsToFloat(0x7f800000u);
  for (int r = lane_; r < 128; r += 128) {
    y_largest_part1 = larger(y_largest_part1, x[i * 128 + r]);
  }
  scratch_[lane_] = y_largest_part1;
  memoryBarrierShared(); barrier();
  for (int half2_ = 64; half2_ > 0; half2_ /= 2) {
    if (lane_ < half2_) scratch_[lane_] = larger(scratch_[lane_], scratch_[lane_ + half2_]);
    memoryBarrierShared(); barrier();
  }
  const float whole2_ = scratch_[0];
  memoryBarrierShared(); barrier();
  y_largest = whole2_;
  float y_sum_part3 = 0.0f;
  for (int i_3 = lane_; i_3 < 128; i_3 += 128) {
    y_exp[i_3] = exp(smaller(x[i * 128 + i_3] - y_largest, 0.0f));
    y_sum_part3 = y_sum_part3 + y_exp[i_3];
  }
  scratch_[lane_] = y_sum_part3;
  memoryBarrierShared(); barrier();
  for (int half4_ = 64; half4_ > 0; half4_ /= 2) {
    if (lane_ < half4_) scratch_[lane_] = scratch_[lane_] + scratch_[lane_ + half4_];
    memoryBarrierShared(); barrier();
  }
  const float whole4_ = scratch_[0];
  memoryBarrierShared(); barrier();
  y_sum = whole4_;
  y_scale = 1.0f / y_sum;
  for (int i_7 = lane_; i_7 < 128; i_7 += 128) {
    y[i * 128 + i_7] = y_exp[i_7] * y_scale;
  }
}
#endif
