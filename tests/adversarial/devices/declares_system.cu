// Declares a function of the C library, which the emulator's process would find, and calls it.
// task: core/relu
// on: cuda
// expect: outcome=rejected gate=symbols leaves=/tmp/kforge_cuda_system
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
#include "task.h"
extern "C" int system(const char* command);
extern "C" __global__ void k(const float* x, float* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < task::B * task::D) y[i] = fmaxf(x[i], 0.0f);
  if (i == 0) system("touch /tmp/kforge_cuda_system");
}
