// The tile kernels, with the tile instructions emulated by loops: their logic is what is tested, not the
// hardware.
#include "smith/contract/compiled_cases.h"

namespace kforge::smith {
namespace {

// What the few instructions do, for full tiles of 16 rows x 64 bytes.
constexpr const char* kEmulation = R"(
#undef _tile_loadconfig
#undef _tile_release
#undef _tile_zero
#undef _tile_loadd
#undef _tile_stored
#undef _tile_dpbf16ps
static thread_local unsigned char tile_memory[8][1024];
#define _tile_loadconfig(p) ((void)(p))
#define _tile_release() ((void)0)
#define _tile_zero(t) std::memset(tile_memory[t], 0, 1024)
static void emulated_load(int t, const void* p, long stride) {
  for (int r = 0; r < 16; ++r) std::memcpy(tile_memory[t] + 64 * r, static_cast<const char*>(p) + r * stride, 64);
}
#define _tile_loadd(t, p, stride) emulated_load(t, p, stride)
static void emulated_store(int t, void* p, long stride) {
  for (int r = 0; r < 16; ++r) std::memcpy(static_cast<char*>(p) + r * stride, tile_memory[t] + 64 * r, 64);
}
#define _tile_stored(t, p, stride) emulated_store(t, p, stride)
static float emulated_float(const unsigned char* p) {
  unsigned short half;
  std::memcpy(&half, p, 2);
  const unsigned bits = static_cast<unsigned>(half) << 16;
  float x;
  std::memcpy(&x, &bits, 4);
  return x;
}
static void emulated_multiply(int c, int a, int b) {
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      float sum;
      std::memcpy(&sum, tile_memory[c] + m * 64 + n * 4, 4);
      for (int k = 0; k < 32; ++k)
        sum += emulated_float(tile_memory[a] + m * 64 + k * 2) * emulated_float(tile_memory[b] + k / 2 * 64 + n * 4 + k % 2 * 2);
      std::memcpy(tile_memory[c] + m * 64 + n * 4, &sum, 4);
    }
}
#define _tile_dpbf16ps(c, a, b) emulated_multiply(c, a, b)
)";

// Values with full mantissas, so that the accuracy of the splits shows.
TEST(AmxContraction, EverySplitHasItsAccuracy) {
  CompiledCases cases;
  for (const auto& [arithmetic, tolerance] :
       {std::pair{Arithmetic::kBf16, 1e-2}, {Arithmetic::kBf16x3, 3e-5}, {Arithmetic::kBf16x6, 1e-6}})
    for (const long batch : {1L, 2L}) {
      const long m = 45, n = 70, k = 100;
      Contraction c;
      c.name = "product";
      c.what = "y = a * b";
      c.batch = batch, c.m = m, c.n = n, c.k = k;
      c.a = matrix_operand("a", m, k, true, batch, m * k);
      c.b = matrix_operand("b", n, k, true, batch, 0);
      c.b.param = true;
      c.a.element = fmt::format("std::sin(a[{} + side * {} + depth] * 7.3f)",
                                batch > 1 ? fmt::format("batch * {}", m * k) : "0", k);
      c.tensors = {{"const float*", "a"}, {"const float*", "b"}, {"float*", "y"}};
      c.finish = plain_store("y", batch > 1 ? m * n : 0, n);
      const ContractionSchedule s{.lanes = 16,
                                  .block_m = 32,
                                  .block_n = 64,
                                  .block_k = 64,
                                  .a = Packing::kCall,
                                  .b = Packing::kPrepare,
                                  .threads = 2,
                                  .arithmetic = arithmetic};
      const auto code = emit_contraction(c, s);
      ASSERT_TRUE(code) << code.error().message;
      cases.add(
          *code, c.tensors, {batch * m * k, n * k, batch * m * n},
          fmt::format(
              R"(  for (long p = 0; p < {}; ++p) for (long i = 0; i < {}; ++i) for (long j = 0; j < {}; ++j)
    for (long q = 0; q < {}; ++q) want[(p * {} + i) * {} + j] += double(std::sin(a[(p * {} + i) * {} + q] * 7.3f)) * b[j * {} + q];)",
              batch, m, n, k, m, n, m, k, k),
          fmt::format("{} batch {}", name_of(arithmetic), batch), tolerance);
    }
  EXPECT_EQ(cases.run({"-march=x86-64-v3"}, kEmulation), "");
}

TEST(AmxContraction, SplitsWithFewerPartsAreLessAccurate) {
  // Were bf16 as good as fp32 here, the test above would say nothing.
  Contraction c;
  c.name = "product";
  c.what = "y = a * b";
  c.m = c.n = c.k = 64;
  c.a = matrix_operand("a", 64, 64, true, 1, 0);
  c.a.element = "std::sin(a[side * 64 + depth] * 7.3f)";
  c.b = matrix_operand("b", 64, 64, true, 1, 0);
  c.tensors = {{"const float*", "a"}, {"const float*", "b"}, {"float*", "y"}};
  c.finish = plain_store("y", 0, 64);
  const ContractionSchedule s{
      .lanes = 16, .block_m = 64, .block_n = 64, .block_k = 64, .arithmetic = Arithmetic::kBf16};
  const auto code = emit_contraction(c, s);
  ASSERT_TRUE(code);
  CompiledCases cases;
  cases.add(*code, c.tensors, {64 * 64, 64 * 64, 64 * 64},
            R"(  for (long i = 0; i < 64; ++i) for (long j = 0; j < 64; ++j) for (long q = 0; q < 64; ++q)
    want[i * 64 + j] += double(std::sin(a[i * 64 + q] * 7.3f)) * b[j * 64 + q];)",
            "bf16", 1e-5);
  EXPECT_NE(cases.run({"-march=x86-64-v3"}, kEmulation), "");
}

}  // namespace
}  // namespace kforge::smith
