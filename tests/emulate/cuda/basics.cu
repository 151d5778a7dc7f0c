// Kernels of the kind people publish, one of each: what the emulator has to get right.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

#define TILE 16
#define SHARED_TILE(name) __shared__ float name[TILE][TILE + 1]

__global__ void add(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

// Row softmax: dynamic shared memory, a tree of barriers.
extern __shared__ float scratch[];

extern "C" __global__ void __launch_bounds__(128) softmax(const float* x, float* y, int columns) {
  const float* row = x + blockIdx.x * columns;
  float best = -INFINITY;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) best = fmaxf(best, row[i]);
  scratch[threadIdx.x] = best;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) scratch[threadIdx.x] = fmaxf(scratch[threadIdx.x], scratch[threadIdx.x + half]);
    __syncthreads();
  }
  best = scratch[0];
  __syncthreads();
  float sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - best);
  scratch[threadIdx.x] = sum;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half >>= 1) {
    if (threadIdx.x < half) scratch[threadIdx.x] += scratch[threadIdx.x + half];
    __syncthreads();
  }
  for (int i = threadIdx.x; i < columns; i += blockDim.x) y[blockIdx.x * columns + i] = __expf(row[i] - best) / scratch[0];
}

// A tiled product with two shared arrays from a macro, and a template.
template <int kTile>
__device__ void product_of(const float* a, const float* b, float* c, int n) {
  SHARED_TILE(as);
  SHARED_TILE(bs);
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    as[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0;
    bs[threadIdx.y][threadIdx.x] = k + threadIdx.y < n && column < n ? b[(k + threadIdx.y) * n + column] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

__global__ void product(const float* a, const float* b, float* c, int n) { product_of<TILE>(a, b, c, n); }

// A block's sum by shuffles, then one atomic.
__inline__ __device__ float warp_sum(float value) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}
__global__ void reduce(const float* x, float* total, int n) {
  __shared__ float sums[32];
  float value = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += x[i];
  value = warp_sum(value);
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) sums[warp] = value;
  __syncthreads();
  value = threadIdx.x < blockDim.x / 32 ? sums[lane] : 0;
  if (warp == 0) value = warp_sum(value);
  if (threadIdx.x == 0) atomicAdd(total, value);
}

// Votes and matches; disjoint masks of one warp go their own ways.
__global__ void votes(const int* x, unsigned* out) {
  unsigned i = threadIdx.x;
  int value = x[i];
  out[i] = __ballot_sync(0xffffffffu, value > 3);
  unsigned half = i < 16 ? 0x0000ffffu : 0xffff0000u;
  if (i < 16)
    out[32 + i] = __reduce_add_sync(half, unsigned(value));
  else
    out[32 + i] = __shfl_xor_sync(half, value, 1);
  out[64 + i] = __match_any_sync(0xffffffffu, value);
  out[96 + i] = __any_sync(half, value == 7) * 2 + __all_sync(half, value >= 0);
  out[128 + i] = __shfl_sync(0xffffffffu, value, 5, 8);
  out[160 + i] = __shfl_up_sync(0xffffffffu, value, 2, 16);
  unsigned active = 0;
  if (i % 3 == 0) active = __activemask();
  __syncwarp();
  out[192 + i] = active;
}

__global__ void histogram(const int* x, unsigned* bins, int n) {
  __shared__ unsigned local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) atomicAdd(&local[x[i] & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// Cooperative groups: a tile's sum, a block's barrier.
__global__ void tiles(const float* x, float* y) {
  cg::thread_block block = cg::this_thread_block();
  cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
  float value = x[block.thread_rank()];
  for (int offset = tile.size() / 2; offset > 0; offset /= 2) value += tile.shfl_down(value, offset);
  __shared__ float kept[8];
  if (tile.thread_rank() == 0) kept[tile.meta_group_rank()] = value;
  block.sync();
  y[block.thread_rank()] = kept[tile.meta_group_rank()] + cg::reduce(tile, x[block.thread_rank()], cg::greater<float>());
}

// Halves, pairs of them, and vectors.
__global__ void halves(const half* a, const __nv_bfloat16* b, half* c, __nv_bfloat16* d, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (2 * i + 1 >= n) return;
  half2 v = reinterpret_cast<const half2*>(a)[i];
  v = __hfma2(v, __float2half2_rn(2.0f), __halves2half2(__float2half(1.0f), __float2half(-1.0f)));
  reinterpret_cast<half2*>(c)[i] = v;
  __nv_bfloat162 w = reinterpret_cast<const __nv_bfloat162*>(b)[i];
  d[2 * i] = w.x * w.y;
  d[2 * i + 1] = __float2bfloat16(__bfloat162float(w.x) + 0.5f);
}

__global__ void vectors(const float4* x, float4* y, int n) {
  dim3 gridDim(2);  // a kernel may have a variable of that name
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float4 v = __ldg(&x[i]);
  y[i] = make_float4(v.w, v.z, v.y * gridDim.x, max(v.x, 1.0f));
}

// The last block to finish adds up what the others left: fence and ticket.
__device__ unsigned tickets = 0;
__global__ void last_block(const float* x, float* parts, float* total, int n) {
  __shared__ bool last;
  __shared__ float sums[64];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += x[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < blockDim.x; ++i) sum += sums[i];
    parts[blockIdx.x] = sum;
    __threadfence();
    last = atomicInc(&tickets, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    float all = 0;
    for (int i = 0; i < gridDim.x; ++i) all += parts[i];
    *total = all;
  }
}
