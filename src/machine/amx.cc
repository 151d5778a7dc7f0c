#include "machine/amx.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace kforge::amx {
namespace {
constexpr int kArchReqXcompPerm = 0x1023;  // ARCH_REQ_XCOMP_PERM of asm/prctl.h, absent from older headers
constexpr int kXfeatureXtiledata = 18;
constexpr long kRowBytes = 64;
}  // namespace

bool request_permission() { return ::syscall(SYS_arch_prctl, kArchReqXcompPerm, kXfeatureXtiledata) == 0; }

void configure_full_tiles() {
  TileConfig config;
  for (int tile = 0; tile < 8; ++tile) {
    config.row_bytes[tile] = kRowBytes;
    config.rows[tile] = 16;
  }
  asm volatile("ldtilecfg %0" : : "m"(config));
}

void release_tiles() { asm volatile("tilerelease"); }

void multiply_tile(float* c, const std::uint16_t* a, const std::uint16_t* b) {
  asm volatile(
      "tileloadd (%[c], %[stride], 1), %%tmm0\n\t"
      "tileloadd (%[a], %[stride], 1), %%tmm1\n\t"
      "tileloadd (%[b], %[stride], 1), %%tmm2\n\t"
      "tdpbf16ps %%tmm2, %%tmm1, %%tmm0\n\t"
      "tilestored %%tmm0, (%[c], %[stride], 1)"
      :
      : [c] "r"(c), [a] "r"(a), [b] "r"(b), [stride] "r"(kRowBytes)
      : "memory");
}

void multiply_rounds(const std::uint16_t* a, const std::uint16_t* b, long rounds, float* c) {
  // Two tiles of each operand and four accumulators: the 2 x 2 block that keeps the multiplier busy.
  asm volatile(
      "tilezero %%tmm0\n\t"
      "tilezero %%tmm1\n\t"
      "tilezero %%tmm2\n\t"
      "tilezero %%tmm3\n\t"
      "tileloadd (%[a], %[stride], 1), %%tmm4\n\t"
      "tileloadd 1024(%[a], %[stride], 1), %%tmm5\n\t"
      "tileloadd (%[b], %[stride], 1), %%tmm6\n\t"
      "tileloadd 1024(%[b], %[stride], 1), %%tmm7\n\t"
      "1:\n\t"
      "tdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\t"
      "tdpbf16ps %%tmm7, %%tmm4, %%tmm1\n\t"
      "tdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\t"
      "tdpbf16ps %%tmm7, %%tmm5, %%tmm3\n\t"
      "dec %[rounds]\n\t"
      "jnz 1b\n\t"
      "tilestored %%tmm0, (%[c], %[stride], 1)"
      : [rounds] "+r"(rounds)
      : [a] "r"(a), [b] "r"(b), [c] "r"(c), [stride] "r"(kRowBytes)
      : "memory", "cc");
}

}  // namespace kforge::amx
