// sum_reduction
//
// y_threads: 48 elements, a thread each

// y_threads: 48 elements, a thread each
extern "C" __global__ void __launch_bounds__(256)
y_threads(const float* __restrict__ x, float* __restrict__ y) {
  const int item_ = (int)blockIdx.x * 256 + (int)threadIdx.x;
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
