// softmax
//
// y_rows: 16 rows, a workgroup each, 128 threads each, combined through 1024 bytes of shared memory


// device/extrema.h
// The larger and the smaller; NaN wins.

float larger(float a, float b) { return b > a || b != b ? b : a; }

float smaller(float a, float b) { return b < a || b != b ? b : a; }

// y_rows: 16 rows, a workgroup each, 128 threads each, combined through 1024 bytes of shared memory
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void y_rows(__global const float* restrict x, __global float* restrict y) {
  __local float y_exp[128];
  __local float scratch_[128];
  const int lane_ = (int)get_local_id(0);
  const int row_ = (int)get_group_id(0);
  const int i = row_;
  float y_largest;
  float y_scale;
  float y_sum;
  float y_largest_part1 = -INFINITY;
  for (int r = lane_; r < 128; r += 128) {
    y_largest_part1 = larger(y_largest_part1, x[i * 128 + r]);
  }
  scratch_[lane_] = y_largest_part1;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half2_ = 64; half2_ > 0; half2_ /= 2) {
    if (lane_ < half2_) scratch_[lane_] = larger(scratch_[lane_], scratch_[lane_ + half2_]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float whole2_ = scratch_[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  y_largest = whole2_;
  float y_sum_part3 = 0.0f;
  for (int i_3 = lane_; i_3 < 128; i_3 += 128) {
    y_exp[i_3] = exp(smaller(x[i * 128 + i_3] - y_largest, 0.0f));
    y_sum_part3 = y_sum_part3 + y_exp[i_3];
  }
  scratch_[lane_] = y_sum_part3;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int half4_ = 64; half4_ > 0; half4_ /= 2) {
    if (lane_ < half4_) scratch_[lane_] = scratch_[lane_] + scratch_[lane_ + half4_];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  const float whole4_ = scratch_[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  y_sum = whole4_;
  y_scale = 1.0f / y_sum;
  for (int i_7 = lane_; i_7 < 128; i_7 += 128) {
    y[i * 128 + i_7] = y_exp[i_7] * y_scale;
  }
}
