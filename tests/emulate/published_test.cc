// More good kernels: right under the fast variant, right and silent under the checks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "emulate/runtime/report.h"
#include "emulated_program.h"

namespace kforge {
namespace {

using emulate::Variant;

struct Published {
  std::vector<float> image = std::vector<float>(70 * 45), turned = image, edges = image;
  std::vector<float> a = std::vector<float>(128 * 32), b = std::vector<float>(32 * 64),
                     c = std::vector<float>(128 * 64);
  std::vector<int> whole = std::vector<int>(128), scanned = whole, sorted = whole;
  std::vector<float> rows = std::vector<float>(5 * 100), normed = rows;
  std::vector<_Float16> halves = std::vector<_Float16>(3 * 96), scaled = halves;
  std::vector<int> best = {0};
  std::vector<float> q = std::vector<float>(4 * 32), k = std::vector<float>(50 * 32), v = k, o = q;
  std::vector<int> long_row = std::vector<int>(64 * 6), sums = long_row;
  KfeReport report{};

  Published() {
    auto fill = [](auto& values, int step) {
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<std::decay_t<decltype(values[0])>>(
            static_cast<float>(static_cast<int>(i) * step % 31) / 8.0f - 2.0f);
    };
    fill(image, 7), fill(a, 5), fill(b, 3), fill(rows, 11), fill(halves, 13), fill(q, 3), fill(k, 7),
        fill(v, 5);
    for (std::size_t i = 0; i < 128; ++i) whole[i] = static_cast<int>(i * 37 % 101);
    for (std::size_t i = 0; i < long_row.size(); ++i) long_row[i] = static_cast<int>(i % 7);
    rows[77] = 9;
  }

  void call(Variant variant) {
    const auto f = DType::kFloat32, i = DType::kInt32;
    TestProgram p;
    p.source = test_file("cuda/published.cu");
    p.variant = variant;
    p.tensors = {{"image", f, 3150},
                 {"turned", f, 3150, true},
                 {"edges", f, 3150, true},
                 {"a", f, 4096},
                 {"b", f, 2048},
                 {"c", f, 8192, true},
                 {"whole", i, 128},
                 {"scanned", i, 128, true},
                 {"sorted", i, 128, true},
                 {"rows", f, 500},
                 {"normed", f, 500, true},
                 {"halves", DType::kFloat16, 288},
                 {"scaled", DType::kFloat16, 288, true},
                 {"best", i, 1, true},
                 {"q", f, 128},
                 {"k", f, 1600},
                 {"v", f, 1600},
                 {"o", f, 128, true},
                 {"long_row", i, 384},
                 {"sums", i, 384, true}};
    p.plan = R"({
      "buffers": {"totals": {"dtype": "int32", "shape": [6]}, "ready": {"dtype": "int32", "shape": [6]}},
      "run": [
        {"kernel": "transpose", "grid": [3, 2], "block": [32, 8], "args": ["image", "turned", {"i32": 70}, {"i32": 45}]},
        {"kernel": "product", "grid": [1, 2], "block": [256], "args": ["a", "b", "c", {"i32": 64}, {"i32": 32}]},
        {"kernel": "scan", "grid": [1], "block": [64], "shared_bytes": 512, "args": ["whole", "scanned", {"i32": 128}]},
        {"kernel": "sort", "grid": [1], "block": [128], "args": ["whole", "sorted"]},
        {"kernel": "layer_norm", "grid": [3], "block": [64], "args": ["rows", "normed", {"i32": 5}, {"i32": 100}]},
        {"kernel": "rms_norm", "grid": [3], "block": [64], "args": ["halves", "scaled", {"i32": 96}]},
        {"kernel": "laplace", "grid": [5, 6], "block": [16, 8], "args": ["image", "edges", {"i32": 70}, {"i32": 45}]},
        {"kernel": "arg_max", "grid": [1], "block": [32], "args": ["rows", "best", {"i32": 500}]},
        {"kernel": "attention", "grid": [4], "block": [32], "args": ["q", "k", "v", "o", {"i32": 50}]},
        {"fill": "ready", "value": 0},
        {"kernel": "running_sum", "grid": [6], "block": [64], "args": ["long_row", "sums", "totals", "ready"]}]})";
    LoadedProgram(p).call({image.data(),  turned.data(), edges.data(),   a.data(),        b.data(),
                           c.data(),      whole.data(),  scanned.data(), sorted.data(),   rows.data(),
                           normed.data(), halves.data(), scaled.data(),  best.data(),     q.data(),
                           k.data(),      v.data(),      o.data(),       long_row.data(), sums.data()},
                          &report);
  }

  void check() const;
};

void Published::check() const {
  for (std::size_t y = 0; y < 45; ++y)
    for (std::size_t x = 0; x < 70; ++x) {
      ASSERT_EQ(turned[x * 45 + y], image[y * 70 + x]);
      auto at = [&](std::size_t cx, std::size_t cy) {
        return cx < 70 && cy < 45 ? image[cy * 70 + cx] : 0.0f;
      };
      ASSERT_NEAR(edges[y * 70 + x], at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1) - 4 * at(x, y),
                  1e-5);
    }
  for (std::size_t i = 0; i < 128; ++i)
    for (std::size_t j = 0; j < 64; ++j) {
      double sum = 0;
      for (std::size_t l = 0; l < 32; ++l) sum += a[i * 32 + l] * b[l * 64 + j];
      ASSERT_NEAR(c[i * 64 + j], sum, 1e-4);
    }
  std::vector<int> expected(128);
  std::exclusive_scan(whole.begin(), whole.end(), expected.begin(), 0);
  EXPECT_EQ(scanned, expected);
  expected = whole;
  std::ranges::sort(expected);
  EXPECT_EQ(sorted, expected);
  for (std::size_t r = 0; r < 5; ++r) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < 100; ++i)
      mean += rows[r * 100 + i] / 100, square += rows[r * 100 + i] * rows[r * 100 + i] / 100;
    for (std::size_t i = 0; i < 100; ++i)
      ASSERT_NEAR(normed[r * 100 + i], (rows[r * 100 + i] - mean) / std::sqrt(square - mean * mean + 1e-5),
                  1e-4);
  }
  for (std::size_t r = 0; r < 3; ++r) {
    double square = 0;
    for (std::size_t i = 0; i < 96; ++i)
      square += static_cast<double>(halves[r * 96 + i]) * static_cast<double>(halves[r * 96 + i]) / 96;
    for (std::size_t i = 0; i < 96; ++i)
      ASSERT_NEAR(static_cast<double>(scaled[r * 96 + i]),
                  static_cast<double>(halves[r * 96 + i]) / std::sqrt(square), 2e-3);
  }
  EXPECT_EQ(best[0], 77);
  for (std::size_t n = 0; n < 4; ++n) {
    std::vector<double> p(50);
    double sum = 0;
    for (std::size_t j = 0; j < 50; ++j) {
      double dot = 0;
      for (std::size_t i = 0; i < 32; ++i) dot += q[n * 32 + i] * k[j * 32 + i];
      sum += p[j] = std::exp(dot * 0.17677669);
    }
    for (std::size_t i = 0; i < 32; ++i) {
      double out = 0;
      for (std::size_t j = 0; j < 50; ++j) out += p[j] / sum * v[j * 32 + i];
      ASSERT_NEAR(o[n * 32 + i], out, 1e-4);
    }
  }
  std::vector<int> running(long_row.size());
  std::partial_sum(long_row.begin(), long_row.end(), running.begin());
  EXPECT_EQ(sums, running);
}

TEST(EmulatedCuda, PublishedKernelsAreRight) {
  Published published;
  published.call(Variant::kFast);
  published.check();
}

TEST(EmulatedCuda, PublishedKernelsAreSilentUnderTheChecks) {
  Published published;
  published.call(Variant::kCheck);
  published.check();
  ASSERT_EQ(published.report.magic, KFE_REPORT_MAGIC);
  for (kfe_u32 i = 0; i < published.report.findings; ++i)
    ADD_FAILURE() << published.report.finding[i].kernel << ": " << published.report.finding[i].text;
}

}  // namespace
}  // namespace kforge
