// Declares a function of the C library, which the emulator's process would find, and calls it.
// task: core/relu
// on: metal
// expect: outcome=rejected gate=symbols leaves=/tmp/kforge_metal_system
// plan: {"run": [{"kernel": "k", "grid": ["ceildiv(B*D, 16)"], "block": [16], "args": ["x", "y"]}]}
#include <metal_stdlib>
#include "task.h"
using namespace metal;
int system(constant const char* command);
kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], uint at [[thread_position_in_grid]]) {
  const int i = at;
  if (i < task::B * task::D) y[i] = fmax(x[i], 0.0f);
  if (i == 0) system("touch /tmp/kforge_metal_system");
}
