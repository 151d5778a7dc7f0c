// Softmax of rows:  y[b][d] = exp(x[b][d] - max_b) / sum_b,  max_b and sum_b over the row.
//
// kforge: general
//
// What limits it: memory, and each element's exp. A threadgroup has one row. Its threads read it once from device memory and
// keep their part in threadgroup memory; they agree twice, on the largest element, without which exp overflows, and on the sum:
// threads of a simdgroup by simd_max and simd_sum, simdgroups through a few words of threadgroup memory, so that each agreement
// costs two barriers.
//
// B and D are the task's dimensions, THREADS comes from plan.json: all three are constants in namespace task.
#include <metal_stdlib>
#include "task.h"
using namespace metal;

kernel void row_softmax(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                        threadgroup float* row [[threadgroup(0)]], uint b [[threadgroup_position_in_grid]],
                        uint thread_index [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                        uint group [[simdgroup_index_in_threadgroup]]) {
  threadgroup float parts[32];
  const uint first = b * task::D;
  const int t = thread_index;

  float largest = -INFINITY;
  for (int d = t; d < task::D; d += task::THREADS) {
    row[d] = x[first + d];
    largest = max(largest, row[d]);
  }
  largest = simd_max(largest);
  if (lane == 0) parts[group] = largest;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  largest = parts[0];
  for (int i = 1; i < task::THREADS / 32; ++i) largest = max(largest, parts[i]);
  threadgroup_barrier(mem_flags::mem_threadgroup);  // everybody has read the parts before they are overwritten

  float sum = 0;
  for (int d = t; d < task::D; d += task::THREADS) {
    row[d] = precise::exp(row[d] - largest);  // its own elements: no barrier is needed
    sum += row[d];
  }
  sum = simd_sum(sum);
  if (lane == 0) parts[group] = sum;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  sum = 0;
  for (int i = 0; i < task::THREADS / 32; ++i) sum += parts[i];

  const float scale = 1 / sum;
  for (int d = t; d < task::D; d += task::THREADS) y[first + d] = row[d] * scale;
}
