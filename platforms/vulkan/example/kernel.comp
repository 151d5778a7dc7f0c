#version 450
// Softmax of rows:  y[b][d] = exp(x[b][d] - max_b) / sum_b,  max_b and sum_b over the row.
//
// kforge: general
//
// What limits it: memory, and each element's exp. A work-group has one row. Its invocations read it, and agree twice
// through shared memory: on the largest element, without which exp overflows, and on the sum. Both are combined as a
// tree: log2(BLOCK_X) barriers, a fixed order, the same bits in every run. Neighbouring invocations read neighbouring
// elements. The row is read twice and exp computed twice: a second read hits the cache, while a shared array as long
// as the row would limit D and how many groups run at once.
//
// B and D are the task's dimensions, BLOCK_X is the plan's block: all are macros here.
#ifdef KERNEL_row_softmax
layout(local_size_x = BLOCK_X) in;
layout(std430, binding = 0) readonly buffer X { float x[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };

shared float parts[BLOCK_X];

float largest_of_all(float own) {
  const uint lane = gl_LocalInvocationID.x;
  parts[lane] = own;
  for (uint half_of = BLOCK_X / 2; half_of > 0; half_of /= 2) {
    barrier();
    if (lane < half_of) parts[lane] = max(parts[lane], parts[lane + half_of]);
  }
  barrier();
  const float result = parts[0];
  barrier();  // everybody has read parts[0] before it is used again
  return result;
}

float sum_of_all(float own) {
  const uint lane = gl_LocalInvocationID.x;
  parts[lane] = own;
  for (uint half_of = BLOCK_X / 2; half_of > 0; half_of /= 2) {
    barrier();
    if (lane < half_of) parts[lane] += parts[lane + half_of];
  }
  barrier();
  return parts[0];
}

void main() {
  const uint lane = gl_LocalInvocationID.x;
  const uint first = gl_WorkGroupID.x * D;

  float largest = uintBitsToFloat(0xff800000u);  // minus infinity
  for (uint d = lane; d < D; d += BLOCK_X) largest = max(largest, x[first + d]);
  largest = largest_of_all(largest);

  float sum = 0.0;
  for (uint d = lane; d < D; d += BLOCK_X) sum += exp(x[first + d] - largest);
  const float scale = 1.0 / sum_of_all(sum);

  for (uint d = lane; d < D; d += BLOCK_X) y[first + d] = exp(x[first + d] - largest) * scale;
}
#endif
