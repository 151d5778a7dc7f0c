// Softmax of rows:  y[b][d] = exp(x[b][d] - max_b) / sum_b,  max_b and sum_b over the row.
//
// kforge: general
//
// What limits it: memory, and each element's exp. A block has one row. Its threads read it once from global memory and keep
// their part in shared memory; they agree twice, on the largest element, without which exp overflows, and on the sum: lanes of
// a warp by shuffles, warps through 32 words of shared memory, so that each agreement costs two barriers. Neighbouring threads
// read neighbouring elements: a warp's request is four sectors of 32 bytes.
//
// B and D are the task's dimensions, THREADS comes from plan.json: all three are constants in namespace task.
#include "task.h"

constexpr unsigned kAll = 0xffffffffu;

struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

// One value of every thread becomes the same value in all of them.
template <class Combine>
__device__ float agree(float value, float* parts, Combine combine) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) value = combine(value, __shfl_xor_sync(kAll, value, offset));
  if (lane == 0) parts[warp] = value;
  __syncthreads();
  value = parts[0];
  for (int i = 1; i < task::THREADS / 32; ++i) value = combine(value, parts[i]);
  __syncthreads();  // everybody has read the parts before they are overwritten
  return value;
}

extern "C" __global__ void __launch_bounds__(task::THREADS) row_softmax(const float* __restrict__ x, float* __restrict__ y) {
  extern __shared__ float row[];
  __shared__ float parts[32];
  const size_t first = size_t(blockIdx.x) * task::D;

  float largest = -INFINITY;
  for (int d = threadIdx.x; d < task::D; d += task::THREADS) {
    row[d] = x[first + d];
    largest = fmaxf(largest, row[d]);
  }
  largest = agree(largest, parts, Larger());

  float sum = 0;
  for (int d = threadIdx.x; d < task::D; d += task::THREADS) {
    row[d] = expf(row[d] - largest);  // its own elements: no barrier is needed
    sum += row[d];
  }
  sum = agree(sum, parts, Sum());

  const float scale = 1 / sum;
  for (int d = threadIdx.x; d < task::D; d += task::THREADS) y[first + d] = row[d] * scale;
}
