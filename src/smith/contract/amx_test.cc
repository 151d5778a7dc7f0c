// The tile kernels, with the tile instructions emulated by loops: their logic is what is tested, not the
// hardware.
#include "smith/contract/compiled_cases.h"

namespace kforge::smith {
namespace {

// What the few instructions do, as code that other tests use too.
constexpr const char* kEmulation = "#include \"" KFORGE_EMULATED_ISA "/tiles.h\"\n";

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
