// new_gelu
//
// y_threads: 1024 elements, a thread each


// device/sigmoid.h
// 1 / (1 + exp(-x)).

float sigmoid_of(float x) {
  const float e = exp(-fabs(x));
  return (x >= 0.0f ? 1.0f : e) / (e + 1.0f);
}

// y_threads: 1024 elements, a thread each
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void y_threads(__global const float* restrict x, __global float* restrict y) {
  const int item_ = (int)get_group_id(0) * 256 + (int)get_local_id(0);
  const int i_2 = item_;
  const float t1_ = x[i_2];
  y[i_2] = t1_ * sigmoid_of(1.5957692f * (t1_ + (0.044715f * ((t1_ * t1_) * t1_))));
}
