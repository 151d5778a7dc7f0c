// Kernels with one bug each; the line that must be named is marked. nvcc compiles every one of them.
#include <cuda_runtime.h>

__global__ void shared_overrun(float* y) {
  __shared__ float a[64];
  float* p = a;
  p[threadIdx.x] = 1;
  if (threadIdx.x == 5) p[threadIdx.x + 59] = 2;  // here
  __syncthreads();
  y[threadIdx.x] = a[threadIdx.x];
}

extern __shared__ float pool[];
__global__ void dynamic_overrun(float* y) {
  pool[threadIdx.x] = 1;
  if (threadIdx.x == 63) pool[threadIdx.x + 1] = 2;  // here
  __syncthreads();
  y[threadIdx.x] = pool[threadIdx.x];
}

__global__ void global_overrun(float* y) {
  int i = threadIdx.x + 1;
  y[i] = 3;  // here
}

__global__ void missing_barrier(float* y) {
  __shared__ float a[64];
  a[threadIdx.x] = y[threadIdx.x];
  y[threadIdx.x] = a[63 - threadIdx.x] + 1;  // here
}

__global__ void write_race(float* y) {
  y[threadIdx.x] = blockIdx.x;  // here
}

__global__ void divergent_barriers(float* y) {
  if (threadIdx.x < 32) {
    y[threadIdx.x] = 1;
    __syncthreads();  // here
  } else {
    y[threadIdx.x] = 2;
    __syncthreads();
  }
}

__global__ void early_exit(float* y, int n) {
  __shared__ float a[64];
  if (threadIdx.x >= n) return;
  a[threadIdx.x] = y[threadIdx.x];
  __syncthreads();  // here
  y[threadIdx.x] = a[n - 1 - threadIdx.x];
}

__global__ void waits_for_each_other(float* y) {
  if (threadIdx.x % 2)
    __syncthreads();
  else
    y[threadIdx.x] = __shfl_xor_sync(0xffffffffu, y[threadIdx.x], 1);  // here
}

__global__ void absent_lanes(float* y) {
  if (threadIdx.x >= 40) return;
  float v = y[threadIdx.x];
  v += __shfl_down_sync(0xffffffffu, v, 16);  // here
  y[threadIdx.x] = v;
}

__global__ void never_written(float* y) {
  __shared__ float a[64];
  if (threadIdx.x < 60) a[threadIdx.x] = 1;
  __syncthreads();
  y[threadIdx.x] = a[threadIdx.x];  // here
}

// An array of the thread's own.
__global__ void private_overrun(float* y, int n) {
  float a[8];
  for (int i = 0; i <= n; ++i) a[i] = y[i];  // here
  for (int i = 0; i < n; ++i) y[threadIdx.x] += a[i];
}
