// sum_reduction
//
// y_threads: 48 elements, a thread each

// y_threads: 48 elements, a thread each
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void y_threads(__global const float* restrict x, __global float* restrict y) {
  const int item_ = (int)get_group_id(0) * 256 + (int)get_local_id(0);
  if (item_ < 48) {
    const int i = item_ / 24;
    const int i_2 = item_ % 24;
    float y_sum1 = 0.0f;
    for (int r = 0; r < 16; ++r) {
      y_sum1 = y_sum1 + x[i * 384 + r * 24 + i_2];
    }
    y[i * 24 + i_2] = y_sum1;
  }
}
