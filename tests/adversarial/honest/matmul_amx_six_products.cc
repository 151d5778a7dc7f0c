// Matrix units with full fp32 accuracy: every number as the sum of three bfloat16 parts, the six products
// that matter, small ones first. Padded to whole tiles.
//
// task: core/matmul
// shapes: odd
// mode: check
// expect: outcome=passed
// needs: amx
// kforge: general
// kforge: arithmetic bf16x6
#include <immintrin.h>
#include <string.h>

#include <vector>

#include "task.h"

namespace {

constexpr long round_up(long n, long to) { return (n + to - 1) / to * to; }
constexpr long kM = round_up(task::M, 16), kN = round_up(task::N, 16), kK = round_up(task::K, 32);

struct alignas(64) TileConfig {
  unsigned char palette = 1, start_row = 0, reserved[14] = {};
  unsigned short bytes_per_row[16] = {64, 64, 64};
  unsigned char rows[16] = {16, 16, 16};
};

// Takes the leading bfloat16 off a number and leaves the rest.
unsigned short take_part(float& value) {
  unsigned bits;
  memcpy(&bits, &value, 4);
  bits = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u;
  float part;
  memcpy(&part, &bits, 4);
  value -= part;
  return static_cast<unsigned short>(bits >> 16);
}

}  // namespace

extern "C" void kernel(const float* a, const float* b, float* c) {
  // a: rows of K; b: pairs of k beside each other, as the tile product wants them.
  std::vector<unsigned short> a_parts[3], b_parts[3];
  for (int p = 0; p < 3; ++p) {
    a_parts[p].resize(kM * kK);
    b_parts[p].resize(kK * kN);
  }
  for (long i = 0; i < task::M; ++i)
    for (long k = 0; k < task::K; ++k) {
      float rest = a[i * task::K + k];
      for (auto& part : a_parts) part[i * kK + k] = take_part(rest);
    }
  for (long k = 0; k < task::K; ++k)
    for (long j = 0; j < task::N; ++j) {
      float rest = b[k * task::N + j];
      for (auto& part : b_parts) part[k / 2 * (2 * kN) + 2 * j + k % 2] = take_part(rest);
    }
  const TileConfig config;
  asm volatile("" ::"r"(&config) : "memory");  // the whole of it must be in memory before it is loaded
  _tile_loadconfig(&config);
  constexpr int kPairs[6][2] = {{2, 0}, {0, 2}, {1, 1}, {1, 0}, {0, 1}, {0, 0}};
  alignas(64) float tile[16][16];
  for (long i = 0; i < kM; i += 16)
    for (long j = 0; j < kN; j += 16) {
      _tile_zero(0);
      for (const auto& pair : kPairs)
        for (long k = 0; k < kK; k += 32) {
          _tile_loadd(1, a_parts[pair[0]].data() + i * kK + k, kK * 2);
          _tile_loadd(2, b_parts[pair[1]].data() + k * kN + 2 * j, kN * 4);
          _tile_dpbf16ps(0, 1, 2);
        }
      _tile_stored(0, tile, 64);
      for (long r = 0; r < 16 && i + r < task::M; ++r)
        for (long q = 0; q < 16 && j + q < task::N; ++q) c[(i + r) * task::N + j + q] = tile[r][q];
    }
  _tile_release();
}
