// MSL kernels on the emulator: values against plain loops, in all variants.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "emulate/runtime/report.h"
#include "emulated_program.h"

namespace kforge {
namespace {

using emulate::Language;
using emulate::Variant;

constexpr int kCount = 100, kRows = 3, kColumns = 150, kSide = 32, kHalves = 32, kVectors = 37, kSamples = 64;

struct Basics {
  std::vector<float> x = std::vector<float>(kCount), y = std::vector<float>(kCount);
  std::vector<float> rows = std::vector<float>(kRows * kColumns), soft = rows;
  std::vector<float> left = std::vector<float>(kSide * kSide), right = left, made = left, by_matrix = left;
  std::vector<_Float16> half_in = std::vector<_Float16>(kHalves), half_out = half_in;
  std::vector<float> four = std::vector<float>(4 * kVectors), three = std::vector<float>(3 * kVectors);
  std::vector<int> samples = std::vector<int>(kSamples);
  std::vector<unsigned> bins = std::vector<unsigned>(8);
  std::vector<float> sum = std::vector<float>(1);
  KfeReport report{};

  Basics() {
    auto fill = [](std::vector<float>& values, int step) {
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<float>((static_cast<int>(i) * step) % 17) / 8.0f - 1.0f;
    };
    fill(x, 5), fill(rows, 7), fill(left, 3), fill(right, 11), fill(four, 5);
    for (std::size_t i = 0; i < kHalves; ++i)
      half_in[i] = static_cast<_Float16>(static_cast<float>(i) * 0.125f);
    for (std::size_t i = 0; i < kSamples; ++i) samples[i] = static_cast<int>(i * 5 % 13);
  }

  static TestProgram program(Variant variant) {
    const auto f = DType::kFloat32;
    TestProgram p;
    p.language = Language::kMetal;
    p.source = test_file("metal/basics.metal");
    p.variant = variant;
    p.tensors = {{"x", f, kCount},
                 {"y", f, kCount, true},
                 {"rows", f, kRows * kColumns},
                 {"soft", f, kRows * kColumns, true},
                 {"left", f, kSide * kSide},
                 {"right", f, kSide * kSide},
                 {"made", f, kSide * kSide, true},
                 {"by_matrix", f, kSide * kSide, true},
                 {"half_in", DType::kFloat16, kHalves},
                 {"half_out", DType::kFloat16, kHalves, true},
                 {"four", f, 4 * kVectors},
                 {"three", f, 3 * kVectors, true},
                 {"samples", DType::kInt32, kSamples},
                 {"bins", DType::kInt32, 8, true},
                 {"sum", f, 1, true}};
    p.plan = R"({
      "defines": {"negate": 1},
      "run": [
        {"kernel": "saxpy", "grid": [2], "block": [64], "args": ["x", "y", {"f32": 3}, {"u32": 100}]},
        {"kernel": "softmax", "grid": [3], "block": [96], "shared_bytes": 12, "args": ["rows", "soft", {"i32": 150}]},
        {"kernel": "product", "grid": [4, 4], "block": [8, 8], "args": ["left", "right", "made", {"i32": 32}]},
        {"kernel": "matrices", "grid": [4, 4], "block": [32], "args": ["left", "right", "by_matrix", {"u32": 32}]},
        {"kernel": "scaled_half", "grid": [1], "block": [32], "args": ["half_in", "half_out"]},
        {"kernel": "vectors", "threads": [37], "block": [32], "args": ["four", "three"]},
        {"fill": "bins", "value": 0}, {"fill": "sum", "value": 0},
        {"kernel": "histogram", "grid": [2], "block": [32], "args": ["samples", "bins", "sum"]}
      ]})";
    return p;
  }

  void call(Variant variant) {
    LoadedProgram loaded(program(variant));
    loaded.call({x.data(), y.data(), rows.data(), soft.data(), left.data(), right.data(), made.data(),
                 by_matrix.data(), half_in.data(), half_out.data(), four.data(), three.data(), samples.data(),
                 bins.data(), sum.data()},
                &report);
  }
  void check() const;
};

void Basics::check() const {
  for (std::size_t i = 0; i < kCount; ++i) ASSERT_FLOAT_EQ(y[i], -(3 * x[i] + 2)) << i;
  for (std::size_t r = 0; r < kRows; ++r) {
    double total = 0;
    for (std::size_t i = 0; i < kColumns; ++i) total += std::exp(rows[r * kColumns + i]);
    for (std::size_t i = 0; i < kColumns; ++i)
      ASSERT_NEAR(soft[r * kColumns + i], std::exp(rows[r * kColumns + i]) / total, 1e-6) << r << " " << i;
  }
  for (std::size_t i = 0; i < kSide; ++i)
    for (std::size_t j = 0; j < kSide; ++j) {
      double total = 0;
      for (std::size_t k = 0; k < kSide; ++k) total += left[i * kSide + k] * right[k * kSide + j];
      ASSERT_NEAR(made[i * kSide + j], total, 1e-5) << i << " " << j;
      ASSERT_NEAR(by_matrix[i * kSide + j], total, 1e-5) << i << " " << j;
    }
  for (std::size_t i = 0; i < kHalves; ++i)
    EXPECT_EQ(static_cast<float>(half_out[i]), static_cast<float>(half_in[i]) * 1.5f + 0.25f);
  for (std::size_t i = 0; i < kVectors; ++i) {
    const float* v = &four[4 * i];
    const float z = std::min(std::max(v[2], 0.0f), 1.0f);
    const float wide = i < 32 ? 32.0f : 5.0f;  // the last threadgroup is smaller
    const float expected[] = {v[1] * 2 + z, v[0] * 2 + z, 2 + z + 37.5f + wide};
    for (std::size_t e = 0; e < 3; ++e)
      ASSERT_EQ(three[3 * i + e], v[3] > 0 ? -1 : expected[e]) << i << " " << e;
  }
  std::vector<unsigned> counted(8);
  float expected = 0;
  for (std::size_t i = 0; i < kSamples; ++i) {
    ++counted[static_cast<std::size_t>(samples[i] & 7)];
    if (i % 32 < 4)
      expected += static_cast<float>(samples[i + 1] + samples[i ^ 1] + static_cast<int>(i % 32) +
                                     samples[i / 32 * 32 + 3]);
  }
  EXPECT_EQ(bins, counted);
  EXPECT_EQ(sum[0], expected);
}

TEST(EmulatedMetal, BasicsAreRight) {
  Basics basics;
  basics.call(Variant::kFast);
  basics.check();
}

TEST(EmulatedMetal, BasicsAreSilentUnderTheChecks) {
  Basics basics;
  basics.call(Variant::kCheck);
  basics.check();
  ASSERT_EQ(basics.report.magic, KFE_REPORT_MAGIC);
  for (kfe_u32 i = 0; i < basics.report.findings; ++i)
    ADD_FAILURE() << basics.report.finding[i].kernel << ": " << basics.report.finding[i].text;
}

// Vectors of bool from comparisons, packed vectors at odd addresses, shuffles within parts of a SIMD group.
TEST(EmulatedMetal, VectorsOfBoolPackedVectorsAndPartsOfAGroup) {
  TestProgram program;
  program.language = Language::kMetal;
  program.source = R"(#include <metal_stdlib>
using namespace metal;
kernel void k(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
              uint i [[thread_position_in_threadgroup]]) {
  const float2 a = float2(x[i], x[(i + 1) % 64]), b = float2(x[(i + 2) % 64]);
  const bool2 more = a > b;
  const bool2 take = more || ((a == b) && !more);
  const float2 best = select(b, a, take);
  const float4 four = float4(*(device const packed_float4*)(x + i % 32 + 1));
  const float up = simd_shuffle_and_fill_up(x[i], -1.0f, ushort(1), ushort(16));
  const float down = simd_shuffle_and_fill_down(x[i], x[i], ushort(3));
  y[i] = best.x + 2 * best.y + 4 * four.w + 8 * max3(four.x, four.y, four.z) + 16 * up + 32 * down +
         (any(take) ? 64 : 0) + (all(take) ? 128 : 0) + 256 * median3(four.x, four.y, four.z);
})";
  program.tensors = {{"x", DType::kFloat32, 64, false}, {"y", DType::kFloat32, 64, true}};
  program.plan = R"({"run": [{"kernel": "k", "grid": [1], "block": [64], "args": ["x", "y"]}]})";
  std::vector<float> x(64), y(64);
  for (std::size_t i = 0; i < 64; ++i) x[i] = static_cast<float>(i * 29 % 17);
  LoadedProgram(program).call({x.data(), y.data()}, nullptr);
  for (std::size_t i = 0; i < 64; ++i) {
    const float b = x[(i + 2) % 64], first = std::max(x[i], b), second = std::max(x[(i + 1) % 64], b);
    const bool takes[] = {x[i] >= b, x[(i + 1) % 64] >= b};
    const float* four = &x[i % 32 + 1];
    std::vector<float> three(four, four + 3);
    std::ranges::sort(three);
    const float up = i % 16 == 0 ? -1 : x[i - 1], down = x[i / 32 * 32 + (i + 3) % 32];
    const float any = takes[0] || takes[1] ? 64.0f : 0.0f, all = takes[0] && takes[1] ? 128.0f : 0.0f;
    EXPECT_EQ(y[i], first + 2 * second + 4 * four[3] + 8 * three[2] + 16 * up + 32 * down + any + all +
                        256 * three[1])
        << i;
  }
}

std::string failure_of(const std::string& source) {
  TestProgram program;
  program.language = Language::kMetal;
  program.source = source;
  program.tensors = {{"y", DType::kFloat32, 64, true}};
  program.plan = R"({"run": [{"kernel": "k", "grid": [1], "block": [64], "args": ["y"]}]})";
  auto step = emulate::build(request_for(program));
  if (!step) return step.error().text();
  return step->has_value() ? "built"
                           : fmt::format("{}: {}", outcome_name(step->error()), reason_text(step->error()));
}

TEST(EmulatedMetal, MistakesNameTheirPlace) {
  EXPECT_THAT(
      failure_of("#include <metal_stdlib>\nusing namespace metal;\n"
                 "kernel void k(device float* y [[buffer(0)]]) {\n  y[0] = wrong;\n}"),
      testing::HasSubstr("compile_error: kernel.metal:4:10: error: use of undeclared identifier 'wrong'"));
  EXPECT_EQ(failure_of("kernel void k(device float* y [[buffer(0)]], int n) {}"),
            "compile_error: kernel.metal:1: error: a parameter of kernel k has no attribute such as "
            "[[buffer(0)]]\n");
  EXPECT_EQ(failure_of("kernel void k(texture2d<float> t [[texture(0)]]) {}"),
            "not_verifiable: not verifiable here: textures, kernel.metal:1");
}

}  // namespace
}  // namespace kforge
