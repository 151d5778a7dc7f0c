// More kernels of the kind people publish; all of them are right, and the checks must stay silent.
#include <cooperative_groups.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <float.h>

namespace cg = cooperative_groups;

// Transpose through a padded tile, 32 x 8 threads.
__global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// Register-tiled product: 64 x 64 tiles, 4 x 4 for each of 256 threads, vector loads. Sizes are multiples of 64 and 16.
__global__ void __launch_bounds__(256) product(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n,
                                               int k) {
  __shared__ float as[16][64], bs[16][64];
  const int t = threadIdx.x, row = blockIdx.y * 64, column = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int i = 0; i < k; i += 16) {
    float4 va = *reinterpret_cast<const float4*>(&a[(row + t / 4) * k + i + t % 4 * 4]);
    as[t % 4 * 4 + 0][t / 4] = va.x;
    as[t % 4 * 4 + 1][t / 4] = va.y;
    as[t % 4 * 4 + 2][t / 4] = va.z;
    as[t % 4 * 4 + 3][t / 4] = va.w;
    *reinterpret_cast<float4*>(&bs[t / 16][t % 16 * 4]) =
        *reinterpret_cast<const float4*>(&b[(i + t / 16) * n + column + t % 16 * 4]);
    __syncthreads();
#pragma unroll
    for (int l = 0; l < 16; ++l) {
      float x[4], y[4];
      for (int j = 0; j < 4; ++j) x[j] = as[l][t / 16 * 4 + j];
      for (int j = 0; j < 4; ++j) y[j] = bs[l][t % 16 * 4 + j];
      for (int j = 0; j < 4; ++j)
        for (int h = 0; h < 4; ++h) sum[j][h] += x[j] * y[h];
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j)
    *reinterpret_cast<float4*>(&c[(row + t / 16 * 4 + j) * n + column + t % 16 * 4]) =
        make_float4(sum[j][0], sum[j][1], sum[j][2], sum[j][3]);
}

// Blelloch's scan of one block.
__global__ void scan(const int* in, int* out, int n) {
  extern __shared__ int temp[];
  int t = threadIdx.x, offset = 1;
  temp[2 * t] = in[2 * t];
  temp[2 * t + 1] = in[2 * t + 1];
  for (int d = n >> 1; d > 0; d >>= 1) {
    __syncthreads();
    if (t < d) temp[offset * (2 * t + 2) - 1] += temp[offset * (2 * t + 1) - 1];
    offset *= 2;
  }
  if (t == 0) temp[n - 1] = 0;
  for (int d = 1; d < n; d *= 2) {
    offset >>= 1;
    __syncthreads();
    if (t < d) {
      int ai = offset * (2 * t + 1) - 1, bi = offset * (2 * t + 2) - 1, v = temp[ai];
      temp[ai] = temp[bi];
      temp[bi] += v;
    }
  }
  __syncthreads();
  out[2 * t] = temp[2 * t];
  out[2 * t + 1] = temp[2 * t + 1];
}

// Bitonic sort in shared memory.
__global__ void sort(const int* in, int* out) {
  __shared__ int keys[128];
  int t = threadIdx.x;
  keys[t] = in[t];
  for (int size = 2; size <= 128; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      int other = t ^ stride;
      if (other > t && ((t & size) == 0) == (keys[t] > keys[other])) {
        int k = keys[t];
        keys[t] = keys[other];
        keys[other] = k;
      }
    }
  __syncthreads();
  out[t] = keys[t];
}

// Layer norm, a warp for each row: mean and variance together, by Welford's merge of lanes.
__global__ void layer_norm(const float* x, float* y, int rows, int columns) {
  int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float mean = 0, m2 = 0, count = 0;
  for (int i = lane; i < columns; i += 32) {
    float v = x[row * columns + i], delta = v - mean;
    count += 1;
    mean += delta / count;
    m2 += delta * (v - mean);
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    float other_mean = __shfl_xor_sync(0xffffffff, mean, offset), other_m2 = __shfl_xor_sync(0xffffffff, m2, offset);
    float other_count = __shfl_xor_sync(0xffffffff, count, offset), all = count + other_count, delta = other_mean - mean;
    if (all > 0) {
      mean += delta * other_count / all;
      m2 += other_m2 + delta * delta * count * other_count / all;
    }
    count = all;
  }
  float scale = rsqrtf(m2 / columns + 1e-5f);
  for (int i = lane; i < columns; i += 32) y[row * columns + i] = (x[row * columns + i] - mean) * scale;
}

// RMS norm with vectors of halves, a block for each row.
__global__ void rms_norm(const half* x, half* y, int columns) {
  __shared__ float total;
  const half2* from = reinterpret_cast<const half2*>(x + blockIdx.x * columns);
  half2* to = reinterpret_cast<half2*>(y + blockIdx.x * columns);
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < columns / 2; i += blockDim.x) {
    float2 v = __half22float2(from[i]);
    sum += v.x * v.x + v.y * v.y;
  }
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
  for (int offset = 16; offset > 0; offset >>= 1) sum += warp.shfl_xor(sum, offset);
  if (warp.thread_rank() == 0) atomicAdd(&total, sum);
  __syncthreads();
  float scale = rsqrtf(total / columns + 1e-6f);
  for (int i = threadIdx.x; i < columns / 2; i += blockDim.x) {
    float2 v = __half22float2(from[i]);
    to[i] = __floats2half2_rn(v.x * scale, v.y * scale);
  }
}

// 3 x 3 convolution with a halo in shared memory and weights in constant memory.
__constant__ float weights[9] = {0, 1, 0, 1, -4, 1, 0, 1, 0};
__global__ void laplace(const float* in, float* out, int width, int height) {
  __shared__ float tile[10][18];
  int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 8 - 1;
  for (int i = threadIdx.y * 16 + threadIdx.x; i < 180; i += 128) {
    int x = x0 + i % 18, y = y0 + i / 18;
    tile[i / 18][i % 18] = x >= 0 && x < width && y >= 0 && y < height ? in[y * width + x] : 0;
  }
  __syncthreads();
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) sum += weights[3 * i + j] * tile[threadIdx.y + i][threadIdx.x + j];
  out[y * width + x] = sum;
}

// Index of the largest, by shuffles of pairs.
__global__ void arg_max(const float* x, int* out, int n) {
  float best = -FLT_MAX;
  int at = -1;
  for (int i = threadIdx.x; i < n; i += 32)
    if (x[i] > best) best = x[i], at = i;
  for (int offset = 16; offset > 0; offset /= 2) {
    float other = __shfl_down_sync(0xffffffffu, best, offset);
    int where = __shfl_down_sync(0xffffffffu, at, offset);
    if (other > best || (other == best && where < at)) best = other, at = where;
  }
  if (threadIdx.x == 0) *out = at;
}

// Attention of one head with a running maximum (online softmax): a block for each query, keys in tiles.
__global__ void attention(const float* q, const float* k, const float* v, float* o, int keys) {
  __shared__ float scores[32];
  __shared__ float best, sum, correction;
  const int t = threadIdx.x;  // one for each of 32 features
  float acc = 0;
  if (t == 0) best = -FLT_MAX, sum = 0;
  __syncthreads();
  for (int start = 0; start < keys; start += 32) {
    float dot = -FLT_MAX;
    if (start + t < keys) {
      dot = 0;
      for (int i = 0; i < 32; ++i) dot += q[blockIdx.x * 32 + i] * k[(start + t) * 32 + i];
      dot *= 0.17677669f;
    }
    scores[t] = dot;
    __syncthreads();
    if (t == 0) {
      float m = best;
      for (int i = 0; i < 32; ++i) m = fmaxf(m, scores[i]);
      correction = expf(best - m);
      best = m;
    }
    __syncthreads();
    float p = start + t < keys ? expf(scores[t] - best) : 0;
    __syncthreads();
    scores[t] = p;
    __syncthreads();
    if (t == 0) {
      float s = 0;
      for (int i = 0; i < 32; ++i) s += scores[i];
      sum = sum * correction + s;
    }
    acc *= correction;
    for (int i = 0; i < 32 && start + i < keys; ++i) acc += scores[i] * v[(start + i) * 32 + t];
    __syncthreads();
  }
  o[blockIdx.x * 32 + t] = acc / sum;
}

// Running sums over blocks by look-back: a block waits for the total of the one before it.
__global__ void running_sum(const int* in, int* out, int* totals, int* ready) {
  __shared__ int values[64];
  __shared__ int before;
  int t = threadIdx.x, i = blockIdx.x * 64 + t;
  values[t] = in[i];
  __syncthreads();
  for (int d = 1; d < 64; d *= 2) {
    int v = t >= d ? values[t - d] : 0;
    __syncthreads();
    values[t] += v;
    __syncthreads();
  }
  if (t == 0) {
    int sum = 0;
    if (blockIdx.x > 0) {
      while (atomicAdd(&ready[blockIdx.x - 1], 0) == 0) {
      }
      __threadfence();
      sum = totals[blockIdx.x - 1];
    }
    before = sum;
    totals[blockIdx.x] = sum + values[63];
    __threadfence();
    atomicExch(&ready[blockIdx.x], 1);
  }
  __syncthreads();
  out[i] = before + values[t];
}
