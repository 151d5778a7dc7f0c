// CUDA kernels on the emulator: values against plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "emulate/runtime/report.h"
#include "emulated_program.h"

namespace kforge {
namespace {

using emulate::Variant;

constexpr int kAdd = 1000, kRows = 6, kColumns = 300, kSide = 40, kSum = 5000, kHalves = 130, kVectors = 37;

std::vector<float> numbers(std::size_t count, int seed) {
  std::vector<float> values(count);
  unsigned state = 12345u + static_cast<unsigned>(seed);
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1.0f;
  }
  return values;
}

// Every kernel of basics.cu, launched once.
struct Basics {
  std::vector<float> a = numbers(kAdd, 1), b = numbers(kAdd, 2), c = std::vector<float>(kAdd);
  std::vector<float> rows = numbers(kRows * kColumns, 3), soft = std::vector<float>(kRows * kColumns);
  std::vector<float> left = numbers(kSide * kSide, 4), right = numbers(kSide * kSide, 5),
                     made = std::vector<float>(kSide * kSide);
  std::vector<float> summed = numbers(kSum, 6), total = std::vector<float>(1);
  std::vector<int> codes = std::vector<int>(32);
  std::vector<unsigned> voted = std::vector<unsigned>(224), bins = std::vector<unsigned>(16);
  std::vector<int> samples = std::vector<int>(kSum);
  std::vector<float> tile_in = numbers(128, 7), tile_out = std::vector<float>(128);
  std::vector<_Float16> half_in = std::vector<_Float16>(kHalves), half_out = std::vector<_Float16>(kHalves);
  std::vector<std::uint16_t> brain_in = std::vector<std::uint16_t>(kHalves),
                             brain_out = std::vector<std::uint16_t>(kHalves);
  std::vector<float> four_in = numbers(4 * kVectors, 8), four_out = std::vector<float>(4 * kVectors);
  std::vector<float> whole = std::vector<float>(1);
  KfeReport report{};

  Basics() {
    for (int i = 0; i < 32; ++i) codes[static_cast<std::size_t>(i)] = i * 5 % 9;
    for (int i = 0; i < kSum; ++i) samples[static_cast<std::size_t>(i)] = i * 7 % 23;
    for (int i = 0; i < kHalves; ++i) {
      half_in[static_cast<std::size_t>(i)] = static_cast<_Float16>(0.25f * static_cast<float>(i) - 9);
      brain_in[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(0x3F80 + i);
    }
  }

  static TestProgram program(Variant variant) {
    const auto f = DType::kFloat32;
    TestProgram p;
    p.source = test_file("cuda/basics.cu");
    p.variant = variant;
    p.tensors = {{"a", f, kAdd},
                 {"b", f, kAdd},
                 {"c", f, kAdd, true},
                 {"rows", f, kRows * kColumns},
                 {"soft", f, kRows * kColumns, true},
                 {"left", f, kSide * kSide},
                 {"right", f, kSide * kSide},
                 {"made", f, kSide * kSide, true},
                 {"summed", f, kSum},
                 {"total", f, 1, true},
                 {"codes", DType::kInt32, 32},
                 {"voted", DType::kInt32, 224, true},
                 {"samples", DType::kInt32, kSum},
                 {"bins", DType::kInt32, 16, true},
                 {"tile_in", f, 128},
                 {"tile_out", f, 128, true},
                 {"half_in", DType::kFloat16, kHalves},
                 {"brain_in", DType::kBFloat16, kHalves},
                 {"half_out", DType::kFloat16, kHalves, true},
                 {"brain_out", DType::kBFloat16, kHalves, true},
                 {"four_in", f, 4 * kVectors},
                 {"four_out", f, 4 * kVectors, true},
                 {"whole", f, 1, true}};
    p.plan = R"({
      "buffers": {"parts": {"dtype": "float32", "shape": [5]}},
      "run": [
        {"kernel": "add", "grid": [4], "block": [256], "args": ["a", "b", "c", {"i32": 1000}]},
        {"kernel": "softmax", "grid": [6], "block": [128], "shared_bytes": 512, "args": ["rows", "soft", {"i32": 300}]},
        {"kernel": "product", "grid": [3, 3], "block": [16, 16], "args": ["left", "right", "made", {"i32": 40}]},
        {"fill": "total", "value": 0},
        {"kernel": "reduce", "grid": [3], "block": [128], "args": ["summed", "total", {"i32": 5000}]},
        {"kernel": "votes", "grid": [1], "block": [32], "args": ["codes", "voted"]},
        {"fill": "bins", "value": 0},
        {"kernel": "histogram", "grid": [3], "block": [64], "args": ["samples", "bins", {"i32": 5000}]},
        {"kernel": "tiles", "grid": [1], "block": [128], "args": ["tile_in", "tile_out"]},
        {"kernel": "halves", "grid": [2], "block": [64], "args": ["half_in", "brain_in", "half_out", "brain_out", {"i32": 130}]},
        {"kernel": "vectors", "grid": [2], "block": [32], "args": ["four_in", "four_out", {"i32": 37}]},
        {"kernel": "last_block", "grid": [5], "block": [64], "args": ["summed", "parts", "whole", {"i32": 5000}]}
      ]})";
    return p;
  }

  void call(Variant variant) {
    LoadedProgram loaded(program(variant));
    loaded.call(
        {a.data(),        b.data(),         c.data(),       rows.data(),     soft.data(),    left.data(),
         right.data(),    made.data(),      summed.data(),  total.data(),    codes.data(),   voted.data(),
         samples.data(),  bins.data(),      tile_in.data(), tile_out.data(), half_in.data(), brain_in.data(),
         half_out.data(), brain_out.data(), four_in.data(), four_out.data(), whole.data()},
        &report);
  }

  void check() const;
};

float bfloat(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

void Basics::check() const {
  for (std::size_t i = 0; i < kAdd; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i;
  for (std::size_t r = 0; r < kRows; ++r) {
    double sum = 0;
    for (std::size_t i = 0; i < kColumns; ++i) sum += std::exp(rows[r * kColumns + i]);
    for (std::size_t i = 0; i < kColumns; ++i)
      ASSERT_NEAR(soft[r * kColumns + i], std::exp(rows[r * kColumns + i]) / sum, 1e-6) << r << " " << i;
  }
  for (std::size_t i = 0; i < kSide; ++i)
    for (std::size_t j = 0; j < kSide; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < kSide; ++k) sum += left[i * kSide + k] * right[k * kSide + j];
      ASSERT_NEAR(made[i * kSide + j], sum, 1e-5) << i << " " << j;
    }
  const double sum = std::accumulate(summed.begin(), summed.end(), 0.0);
  EXPECT_NEAR(total[0], sum, 1e-3);
  EXPECT_NEAR(whole[0], sum, 1e-3);
  for (unsigned i = 0; i < 32; ++i) {
    unsigned ballot = 0, same = 0, low = 0;
    bool any = false;
    for (unsigned j = 0; j < 32; ++j) {
      ballot |= static_cast<unsigned>(codes[j] > 3) << j;
      same |= static_cast<unsigned>(codes[j] == codes[i]) << j;
      if (j < 16) low += static_cast<unsigned>(codes[j]);
      any |= j / 16 == i / 16 && codes[j] == 7;
    }
    EXPECT_EQ(voted[i], ballot);
    EXPECT_EQ(voted[32 + i], i < 16 ? low : static_cast<unsigned>(codes[i ^ 1]));
    EXPECT_EQ(voted[64 + i], same);
    EXPECT_EQ(voted[96 + i], any * 2u + 1u);
    EXPECT_EQ(voted[128 + i], static_cast<unsigned>(codes[i / 8 * 8 + 5]));
    EXPECT_EQ(voted[160 + i], static_cast<unsigned>(codes[i % 16 < 2 ? i : i - 2]));
    EXPECT_EQ(voted[192 + i], i % 3 == 0 ? 0x49249249u : 0u);
  }
  std::vector<unsigned> counted(16);
  for (int sample : samples) ++counted[static_cast<std::size_t>(sample & 15)];
  EXPECT_EQ(bins, counted);
  for (std::size_t i = 0; i < 128; ++i) {
    float tile = 0, most = -10;
    for (std::size_t j = i / 16 * 16; j < i / 16 * 16 + 16; ++j)
      tile += tile_in[j], most = std::max(most, tile_in[j]);
    ASSERT_NEAR(tile_out[i], tile + most, 1e-5) << i;
  }
  for (std::size_t i = 0; i < kHalves; ++i) {
    EXPECT_EQ(static_cast<float>(half_out[i]), static_cast<float>(half_in[i]) * 2 + (i % 2 ? -1.0f : 1.0f))
        << i;
    const float x = bfloat(brain_in[i / 2 * 2]), y = bfloat(brain_in[i / 2 * 2 + 1]);
    EXPECT_NEAR(bfloat(brain_out[i]), i % 2 ? x + 0.5f : x * y, (i % 2 ? x + 0.5f : x * y) / 256) << i;
  }
  for (std::size_t i = 0; i < kVectors; ++i) {
    EXPECT_EQ(four_out[4 * i], four_in[4 * i + 3]);
    EXPECT_EQ(four_out[4 * i + 2], four_in[4 * i + 1] * 2);
    EXPECT_EQ(four_out[4 * i + 3], std::max(four_in[4 * i], 1.0f));
  }
}

TEST(EmulatedCuda, BasicsAreRight) {
  Basics basics;
  basics.call(Variant::kFast);
  basics.check();
}

// The same kernels under the checks: as right, and silent.
TEST(EmulatedCuda, BasicsAreSilentUnderTheChecks) {
  for (const Variant variant : {Variant::kCheck, Variant::kAsan}) {
    Basics basics;
    basics.call(variant);
    basics.check();
    ASSERT_EQ(basics.report.magic, KFE_REPORT_MAGIC);
    for (kfe_u32 i = 0; i < basics.report.findings; ++i)
      ADD_FAILURE() << basics.report.finding[i].kernel << ": " << basics.report.finding[i].text;
    EXPECT_GT(basics.report.accesses_checked, 10'000u);
    if (variant == Variant::kCheck)
      EXPECT_GT(basics.report.traffics, 20u);
    else
      EXPECT_EQ(basics.report.traffics, 0u) << "nobody reads them there";
  }
}

// Tensor cores by wmma and by inline PTX: every lane's share of the matrices must be where the hardware has
// it.
TEST(EmulatedCuda, TensorCoresAreRight) {
  constexpr std::size_t m = 32, n = 32, k = 48;
  for (const Variant variant : {Variant::kFast, Variant::kCheck}) {
    TestProgram program;
    program.variant = variant;
    program.source = test_file("cuda/matrices.cu");
    program.tensors = {{"a", DType::kFloat16, m * k},
                       {"b", DType::kFloat16, k * n},
                       {"c", DType::kFloat32, m * n, true},
                       {"d", DType::kFloat32, m * n, true}};
    program.plan = R"({"run": [
      {"kernel": "by_wmma", "grid": [2, 2], "block": [32], "args": ["a", "b", "c", {"i32": 32}, {"i32": 48}]},
      {"kernel": "by_hand", "grid": [4, 2], "block": [32], "args": ["a", "b", "d", {"i32": 32}, {"i32": 48}]}]})";
    std::vector<_Float16> a(m * k), b(k * n);
    for (std::size_t i = 0; i < a.size(); ++i)
      a[i] = static_cast<_Float16>(static_cast<float>(i * 7 % 19) / 8 - 1);
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = static_cast<_Float16>(static_cast<float>(i * 5 % 23) / 8 - 1);
    std::vector<float> c(m * n), d(m * n);
    KfeReport report{};
    LoadedProgram(program).call({a.data(), b.data(), c.data(), d.data()}, &report);
    for (kfe_u32 i = 0; i < report.findings; ++i)
      ADD_FAILURE() << report.finding[i].kernel << ": " << report.finding[i].text;
    for (std::size_t i = 0; i < m; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        float sum = 0;
        for (std::size_t l = 0; l < k; ++l)
          sum += static_cast<float>(a[i * k + l]) * static_cast<float>(b[l * n + j]);
        ASSERT_NEAR(c[i * n + j], 2 * sum, 1e-3) << i << " " << j;
        ASSERT_NEAR(d[i * n + j], sum, 1e-3) << i << " " << j;
      }
  }
}

// One kernel `k` on a float tensor `y` of 64 elements, through the sandbox as for a candidate.
Step<emulate::Library> built(const std::string& source, const std::string& args = R"(["y"])") {
  TestProgram program;
  program.source = source;
  program.tensors = {{"y", DType::kFloat32, 64, true}};
  program.plan = R"({"run": [{"kernel": "k", "grid": [1], "block": [64], "args": )" + args + "}]}";
  emulate::Request request = request_for(program);
  KF_TRY(request.tier, strongest_tier());
  return emulate::build(request);
}
std::string failure_of(const std::string& source, const std::string& args = R"(["y"])") {
  auto step = built(source, args);
  if (!step) return step.error().text();
  return step->has_value() ? "built"
                           : fmt::format("{}: {}", outcome_name(step->error()), reason_text(step->error()));
}

TEST(EmulatedCuda, IsBuiltInTheSandbox) {
  EXPECT_EQ(failure_of("__global__ void k(float* y) { y[threadIdx.x] = 1; }"), "built");
  // A kernel called as the contract's own function.
  EXPECT_EQ(failure_of("extern \"C\" __device__ float kernel(float x) { return x; }\n"
                       "__global__ void k(float* y) { y[threadIdx.x] = kernel(1); }"),
            "built");
}

TEST(EmulatedCuda, MistakesNameTheirPlace) {
  EXPECT_THAT(
      failure_of("__global__ void k(float* y) {\n  y[0] = wrong;\n}"),
      testing::AllOf(
          testing::HasSubstr("compile_error: kernel.cu:2:10: error: use of undeclared identifier 'wrong'"),
          testing::Not(testing::HasSubstr("../src"))));
  EXPECT_EQ(failure_of("__global__ void other(float* y) {}"),
            "compile_error: plan.json: error: run[0].kernel: the source has no kernel 'k'; it has: other\n");
  EXPECT_EQ(failure_of("\n__global__ void k(float* y, int n) {}"),
            "compile_error: plan.json: error: run[0].args: kernel 'k' (line 2) takes 2 arguments, the plan "
            "gives 1\n");
  EXPECT_THAT(failure_of("__global__ void k(float* y, float n) {}", R"(["y", {"i32": 3}])"),
              testing::HasSubstr("run[0].args[1]: int for a parameter of another type"));
}

TEST(EmulatedCuda, OnlyDeviceCodeIsTaken) {
  EXPECT_EQ(
      failure_of(
          "extern \"C\" int system(const char*);\n__global__ void k(float* y) { y[0] = system(\"ls\"); }"),
      "rejected: the device code calls system, which is no function of the device");
  EXPECT_EQ(failure_of("\n__attribute__((constructor)) void f() {}\n__global__ void k(float* y) {}"),
            "rejected: device code may not have attribute constructor (kernel.cu:2)");
  // A line marker of its own would pass off code as a header's.
  EXPECT_THAT(failure_of("# 1 \"/usr/include/x.h\" 1 3\n__attribute__((constructor)) void f() {}\n__global__ "
                         "void k(float* y) {}"),
              testing::HasSubstr(
                  "compile_error: kernel.cu:1:5: error: this style of line directive is a GNU extension"));
}

TEST(EmulatedCuda, WhatIsNotThereIsNotVerifiable) {
  EXPECT_EQ(failure_of("#include <cuda/barrier>\n__global__ void k(float* y) {}"),
            "not_verifiable: not verifiable here: libcu++ (<cuda/...>), kernel.cu:1");
  EXPECT_EQ(failure_of("__global__ void k(float* y) {\n  asm volatile(\"cp.async.bulk.commit_group;\");\n}"),
            "not_verifiable: not verifiable here: inline PTX cp.async.bulk.commit_group, kernel.cu:2");
}

}  // namespace
}  // namespace kforge
