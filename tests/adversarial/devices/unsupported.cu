// Uses the tensor memory accelerator, which the emulator has not: it may be right, and nobody can tell here.
// task: core/relu
// on: cuda
// expect: outcome=not_verifiable
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
#include "task.h"
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ alignas(16) float part[16];
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];\n" ::"r"(0), "l"(x), "r"(64), "r"(0));
  y[threadIdx.x] = part[threadIdx.x];
}
