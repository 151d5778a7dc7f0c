// Kernels with one bug each; the line that must be named is marked. nvcc compiles every one of them.
#include <cuda_pipeline.h>
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

// Two stages: the copy of the second is under way when it is read.
__global__ void missing_wait(float* y) {
  __shared__ float stage[2][64];
  const int i = threadIdx.x;
  stage[0][i] = stage[1][i] = 0;
  __syncthreads();
  __pipeline_memcpy_async(&stage[0][i], &y[i], 4);
  __pipeline_commit();
  __pipeline_memcpy_async(&stage[1][i], &y[i], 4);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  const float sum = stage[0][63 - i] + stage[1][63 - i];  // here
  __pipeline_wait_prior(0);
  if (sum == 12345) y[i] = sum;
}

__device__ float partial_sums[2][2];
__device__ unsigned finished[2];

// The last block adds what the others left. Without a fence for all blocks nothing says that it sees it.
template <int way>
__device__ void last_block_adds(float* y) {
  if (threadIdx.x != 0) return;
  partial_sums[way][blockIdx.x] = y[blockIdx.x];
  if (way == 1) __threadfence_block();
  if (atomicAdd(&finished[way], 1) % gridDim.x == gridDim.x - 1) {
    __threadfence();
    const float sum = partial_sums[way][0] + partial_sums[way][1];
    if (sum == 12345) y[0] = sum;
  }
}
__global__ void missing_fence(float* y) {
  last_block_adds<0>(y);
}
__global__ void fence_of_the_block(float* y) {
  last_block_adds<1>(y);
}
