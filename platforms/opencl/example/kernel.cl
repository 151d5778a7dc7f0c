// Softmax of rows:  y[b][d] = exp(x[b][d] - max_b) / sum_b,  max_b and sum_b over the row.
//
// kforge: general
//
// What limits it: memory, and each element's exp. A work-group has one row. Its threads read it once from global
// memory, keep their part in local memory, and agree twice: on the largest element, without which exp overflows,
// and on the sum. Both are combined as a tree in local memory: log2(THREADS) barriers, a fixed order, the same
// bits in every run. Neighbouring threads read neighbouring elements, so that a GPU loads whole cache lines.
//
// B and D are the task's dimensions, THREADS comes from plan.json: all three are macros here and symbols there.

// One value of every thread becomes the same value in all of them.
#define COMBINE(OPERATION)                                         \
  for (int half_of = THREADS / 2; half_of > 0; half_of /= 2) {     \
    barrier(CLK_LOCAL_MEM_FENCE);                                  \
    if (thread < half_of)                                          \
      parts[thread] = OPERATION(parts[thread], parts[thread + half_of]); \
  }                                                                \
  barrier(CLK_LOCAL_MEM_FENCE)

float plus(float a, float b) { return a + b; }

__attribute__((reqd_work_group_size(THREADS, 1, 1)))
kernel void row_softmax(global const float* restrict x, global float* restrict y, local float* restrict row) {
  local float parts[THREADS];
  const int thread = get_local_id(0);
  const size_t first = (size_t)get_group_id(0) * D;

  float largest = -INFINITY;
  for (int d = thread; d < D; d += THREADS) {
    row[d] = x[first + d];
    largest = fmax(largest, row[d]);
  }
  parts[thread] = largest;
  COMBINE(fmax);
  largest = parts[0];
  barrier(CLK_LOCAL_MEM_FENCE);  // everybody has read parts[0] before it is overwritten

  float sum = 0;
  for (int d = thread; d < D; d += THREADS) {
    row[d] = exp(row[d] - largest);  // its own elements: no barrier is needed
    sum += row[d];
  }
  parts[thread] = sum;
  COMBINE(plus);

  const float scale = 1 / parts[0];
  for (int d = thread; d < D; d += THREADS) y[first + d] = row[d] * scale;
}
