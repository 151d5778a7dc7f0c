// layer_norm
//
// y_rows: 16 rows, a workgroup each, 64 threads each, combined through 256 bytes of shared memory


// device/extrema.h
// The larger and the smaller; NaN wins.

static __device__ __forceinline__ float larger(float a, float b) { return b > a || b != b ? b : a; }

static __device__ __forceinline__ float smaller(float a, float b) { return b < a || b != b ? b : a; }

// y_rows: 16 rows, a workgroup each, 64 threads each, combined through 256 bytes of shared memory
extern "C" __global__ void __launch_bounds__(64)
y_rows(const float* __restrict__ x, const float* __restrict__ scale, const float* __restrict__ bias, float* __restrict__ y) {
  __shared__ float scratch_[64];
  const int lane_ = (int)threadIdx.x;
  const int row_ = (int)blockIdx.x;
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
  __syncthreads();
  for (int half2_ = 32; half2_ > 0; half2_ /= 2) {
    if (lane_ < half2_) scratch_[lane_] = scratch_[lane_] + scratch_[lane_ + half2_];
    __syncthreads();
  }
  const float whole2_ = scratch_[0];
  __syncthreads();
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
  __syncthreads();
  for (int half6_ = 32; half6_ > 0; half6_ /= 2) {
    if (lane_ < half6_) scratch_[lane_] = scratch_[lane_] + scratch_[lane_ + half6_];
    __syncthreads();
  }
  const float whole6_ = scratch_[0];
  __syncthreads();
  y_drift = y_drift + whole6_;
  scratch_[lane_] = y_squares_part4;
  __syncthreads();
  for (int half7_ = 32; half7_ > 0; half7_ /= 2) {
    if (lane_ < half7_) scratch_[lane_] = scratch_[lane_] + scratch_[lane_ + half7_];
    __syncthreads();
  }
  const float whole7_ = scratch_[0];
  __syncthreads();
  y_squares = whole7_;
  y_mean = y_centre + (y_drift / 64.0f);
  const float t8_ = y_drift / 64.0f;
  y_inverse = 1.0f / sqrt(larger((y_squares / 64.0f) - (t8_ * t8_), 0.0f) + (1e-05f));
  for (int i_8 = lane_; i_8 < 64; i_8 += 64) {
    y[i * 64 + i_8] = (((x[i * 64 + i_8] - y_mean) * y_inverse) * scale[i_8]) + bias[i_8];
  }
}
