// The few AMX instructions KForge needs itself, as inline assembly: g++ 12's intrinsics declare too little of
// the memory they read (_tile_loadconfig only 8 of 64 bytes), so that the compiler may drop stores to the
// rest.
#pragma once

#include <cstdint>

namespace kforge::amx {

// Palette 1: eight tiles of up to 16 rows of 64 bytes.
struct alignas(64) TileConfig {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfig) == 64);

// Asks the kernel for the tile registers, once per process. False: it has none to give.
bool request_permission();

// All eight tiles 16 rows x 64 bytes. REQUIRES: permission granted.
void configure_full_tiles();
void release_tiles();

// c[16][16] += a[16][32] * b[16][16][2] with bf16 bits; b holds pairs of consecutive k per column.
void multiply_tile(float* c, const std::uint16_t* a, const std::uint16_t* b);

// `rounds` times four independent tile products in registers on the given tiles, as a GEMM's inner loop does:
// 4 * 2 * 16 * 16 * 32 flops a round.
inline constexpr double kFlopsPerRound = 4.0 * 2 * 16 * 16 * 32;
void multiply_rounds(const std::uint16_t* a, const std::uint16_t* b, long rounds, float* c);

}  // namespace kforge::amx
