// What the few tile instructions do, for full tiles of 16 rows x 64 bytes, by loops: the logic around them is
// what is tested, not the hardware.
#pragma once

#include <cstring>

#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbf16ps

namespace {

thread_local unsigned char tile_memory[8][1024];

inline void emulated_load(int t, const void* p, long stride) {
  for (int r = 0; r < 16; ++r)
    std::memcpy(tile_memory[t] + 64 * r, static_cast<const char*>(p) + r * stride, 64);
}
inline void emulated_store(int t, void* p, long stride) {
  for (int r = 0; r < 16; ++r) std::memcpy(static_cast<char*>(p) + r * stride, tile_memory[t] + 64 * r, 64);
}
inline float emulated_float(const unsigned char* p) {
  unsigned short half;
  std::memcpy(&half, p, 2);
  const unsigned bits = static_cast<unsigned>(half) << 16;
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
inline void emulated_multiply(int c, int a, int b) {
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      float sum;
      std::memcpy(&sum, tile_memory[c] + m * 64 + n * 4, 4);
      for (int k = 0; k < 32; ++k)
        sum += emulated_float(tile_memory[a] + m * 64 + k * 2) *
               emulated_float(tile_memory[b] + k / 2 * 64 + n * 4 + k % 2 * 2);
      std::memcpy(tile_memory[c] + m * 64 + n * 4, &sum, 4);
    }
}

}  // namespace

#define _tile_loadconfig(p) ((void)(p))
#define _tile_release() ((void)0)
#define _tile_zero(t) std::memset(tile_memory[t], 0, 1024)
#define _tile_loadd(t, p, stride) emulated_load(t, p, stride)
#define _tile_stored(t, p, stride) emulated_store(t, p, stride)
#define _tile_dpbf16ps(c, a, b) emulated_multiply(c, a, b)
