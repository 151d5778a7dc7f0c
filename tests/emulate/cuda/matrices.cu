// A product of 16-bit matrices on tensor cores, by wmma and by hand: cp.async, ldmatrix, mma.sync.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <stdint.h>

using namespace nvcuda;

// One warp for each 16 x 16 tile of c (m x n), k a multiple of 16.
__global__ void by_wmma(const half* a, const half* b, float* c, int n, int k) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(sum, 0.0f);
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + column, n);
    wmma::mma_sync(sum, left, right, sum);
  }
  for (int i = 0; i < sum.num_elements; i++) sum.x[i] *= 2.0f;
  wmma::store_matrix_sync(c + row * n + column, sum, n, wmma::mem_row_major);
}

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// One warp for a 16 x 8 tile of c.
__global__ void by_hand(const half* a, const half* b, float* c, int n, int k) {
  __shared__ __align__(16) half as[16][16];
  __shared__ __align__(16) half bs[16][8];
  const int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 8;
  float d[4] = {0, 0, 0, 0};
  for (int i = 0; i < k; i += 16) {
    // 16 bytes for each lane of a's 16 x 16, and for half of the lanes of b's 16 x 8.
    const half* from = a + (row + lane / 2) * k + i + lane % 2 * 8;
    asm volatile("cp.async.cg.shared.global [%0], [%1], %2;\n" ::"r"(shared_address(&as[lane / 2][lane % 2 * 8])), "l"(from), "n"(16));
    if (lane < 16) __pipeline_memcpy_async(&bs[lane][0], b + (i + lane) * n + column, 16);
    asm volatile("cp.async.commit_group;\n" ::);
    asm volatile("cp.async.wait_group %0;\n" ::"n"(0));
    __syncthreads();
    uint32_t x[4], y[2];
    const uint32_t at = shared_address(&as[lane % 16][lane / 16 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                 : "r"(at));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\n"
                 : "=r"(y[0]), "=r"(y[1])
                 : "r"(shared_address(&bs[lane % 16][0])));
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};\n"
        : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])
        : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]));
    __syncthreads();
  }
  unsigned id;
  asm("mov.u32 %0, %%laneid;" : "=r"(id));
  c[(row + id / 4) * n + column + id % 4 * 2] = d[0];
  c[(row + id / 4) * n + column + id % 4 * 2 + 1] = d[1];
  c[(row + id / 4 + 8) * n + column + id % 4 * 2] = d[2];
  c[(row + id / 4 + 8) * n + column + id % 4 * 2 + 1] = d[3];
}
