// gemm_scale_leakyrelu
//
// y_tiles: 1 x 1 x 1 tiles, factors pass through 3072 bytes of shared memory

// y_tiles: 1 x 1 x 1 tiles, factors pass through 3072 bytes of shared memory
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void y_tiles(__global const float* restrict x, __global const float* restrict w, __global const float* restrict bias, __global float* restrict y) {
  __local float a_tile_[256];
  __local float b_tile_[512];
  // a tile of 16 x 32: 2 sums in every thread
  const int lane_ = (int)get_local_id(0), down_ = lane_ / 16, across_ = lane_ % 16;
  const int top_ = (int)get_group_id(1) * 16, left_ = (int)get_group_id(0) * 32;
  float sums_[2];
  for (int s_ = 0; s_ < 2; ++s_) sums_[s_] = 0.0f;
  for (int start_ = 0; start_ < 24; start_ += 16) {
    for (int e_ = lane_; e_ < 256; e_ += 256) {
      const int k_ = e_ % 16, side_ = e_ / 16;
      const int deep_ = start_ + k_, at_ = top_ + side_;
      float value_ = 0.0f;
      if (deep_ < 24) {
        const int r = deep_;
        const int i = at_;
        value_ = x[i * 24 + r];
      }
      a_tile_[k_ * 16 + side_] = value_;
    }
    for (int e_ = lane_; e_ < 512; e_ += 256) {
      const int k_ = e_ % 16, side_ = e_ / 16;
      const int deep_ = start_ + k_, at_ = left_ + side_;
      float value_ = 0.0f;
      if (deep_ < 24) {
        const int r = deep_;
        const int i_2 = at_;
        value_ = w[i_2 * 24 + r];
      }
      b_tile_[k_ * 32 + side_] = value_;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k_ = 0; k_ < 16; ++k_) {
      for (int i_ = 0; i_ < 1; ++i_) {
        const float a_ = a_tile_[k_ * 16 + down_ + 16 * i_];
        for (int j_ = 0; j_ < 2; ++j_) sums_[i_ * 2 + j_] += a_ * b_tile_[k_ * 32 + across_ + 16 * j_];
      }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int s_ = 0; s_ < 2; ++s_) {
    const int down_at_ = top_ + down_ + 16 * (s_ / 2), across_at_ = left_ + across_ + 16 * (s_ % 2);
    const int i = down_at_;
    const int i_2 = across_at_;
    float product_product;
    product_product = sums_[s_];
    const float t1_ = (product_product + bias[i_2]) * 2.0f;
    y[i * 32 + i_2] = ((t1_ < 0.0f) ? 0.1f * t1_ : t1_);
  }
}
