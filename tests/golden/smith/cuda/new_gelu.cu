// new_gelu
//
// y_threads: 1024 elements, a thread each


// device/sigmoid.h
// 1 / (1 + exp(-x)).

static __device__ __forceinline__ float sigmoid_of(float x) {
  const float e = exp(-fabs(x));
  return (x >= 0.0f ? 1.0f : e) / (e + 1.0f);
}

// y_threads: 1024 elements, a thread each
extern "C" __global__ void __launch_bounds__(256)
y_threads(const float* __restrict__ x, float* __restrict__ y) {
  const int item_ = (int)blockIdx.x * 256 + (int)threadIdx.x;
  const int i_2 = item_;
  const float t1_ = x[i_2];
  y[i_2] = t1_ * sigmoid_of(1.5957692f * (t1_ + (0.044715f * ((t1_ * t1_) * t1_))));
}
