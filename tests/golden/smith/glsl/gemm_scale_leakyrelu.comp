#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
// gemm_scale_leakyrelu
//
// y_tiles: 1 x 1 x 1 tiles, factors pass through 3072 bytes of shared memory

// y_tiles: 1 x 1 x 1 tiles, factors pass through 3072 bytes of shared memory
#ifdef KERNEL_y_tiles
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer Buffer0 { float x[]; };
layout(std430, binding = 1) readonly buffer Buffer1 { float w[]; };
layout(std430, binding = 2) readonly buffer Buffer2 { float bias[]; };
layout(std430, binding = 3) writeonly buffer Buffer3 { float y[]; };
shared float a_tile_[256];
shared float b_tile_[512];
void main() {
  // a tile of 16 x 32: 2 sums in every thread
  const int lane_ = int(gl_LocalInvocationID.x), down_ = lane_ / 16, across_ = lane_ % 16;
  const int top_ = int(gl_WorkGroupID.y) * 16, left_ = int(gl_WorkGroupID.x) * 32;
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
    memoryBarrierShared(); barrier();
    for (int k_ = 0; k_ < 16; ++k_) {
      for (int i_ = 0; i_ < 1; ++i_) {
        const float a_ = a_tile_[k_ * 16 + down_ + 16 * i_];
        for (int j_ = 0; j_ < 2; ++j_) sums_[i_ * 2 + j_] += a_ * b_tile_[k_ * 32 + across_ + 16 * j_];
      }
    }
    memoryBarrierShared(); barrier();
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
#endif
