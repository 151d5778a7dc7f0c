// Convolutions, poolings and products against loops written out from their definitions, on odd sizes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/one_node.h"

namespace kforge {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;

using Ints = std::vector<std::int64_t>;

// Values that differ everywhere, exact in float.
TestTensor ramp(Shape shape, int salt) {
  std::vector<double> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<double>((i * 7 + static_cast<std::size_t>(salt) * 13) % 29) - 14;
  return floats(std::move(shape), std::move(values));
}

struct Case {
  std::int64_t n, c, h, w, m, kh, kw, groups;
  Ints strides, pads, dilations;
};

const std::vector<Case> kCases = {
    {2, 3, 7, 9, 4, 3, 3, 1, {1, 1}, {1, 1, 1, 1}, {1, 1}},
    {1, 4, 8, 5, 6, 3, 2, 2, {2, 1}, {0, 1, 2, 0}, {1, 2}},
    {2, 5, 11, 13, 5, 3, 3, 5, {2, 3}, {1, 2, 0, 1}, {2, 1}},
    {1, 40, 6, 6, 33, 3, 3, 1, {1, 1}, {1, 1, 1, 1}, {1, 1}},
    {3, 2, 4, 4, 3, 1, 1, 1, {1, 1}, {0, 0, 0, 0}, {1, 1}},
    {1, 1, 3, 300, 1, 2, 5, 1, {1, 2}, {0, 4, 1, 4}, {1, 1}},
};

std::map<std::string, Attribute> attributes_of(const Case& k) {
  return {{"strides", k.strides}, {"pads", k.pads}, {"dilations", k.dilations}, {"group", k.groups}};
}

TEST(Conv, MatchesItsDefinition) {
  for (const Case& k : kCases) {
    const TestTensor x = ramp({k.n, k.c, k.h, k.w}, 1), w = ramp({k.m, k.c / k.groups, k.kh, k.kw}, 2);
    const OneNode node{"Conv", {x, w}, attributes_of(k)};
    const Shape shape = run_shape(node);
    ASSERT_EQ(shape.size(), 4u);
    std::vector<double> wanted;
    const std::int64_t per_group = k.c / k.groups, out_per_group = k.m / k.groups;
    for (std::int64_t n = 0; n < k.n; ++n)
      for (std::int64_t m = 0; m < k.m; ++m)
        for (std::int64_t oy = 0; oy < shape[2]; ++oy)
          for (std::int64_t ox = 0; ox < shape[3]; ++ox) {
            double sum = 0;
            for (std::int64_t c = 0; c < per_group; ++c)
              for (std::int64_t ky = 0; ky < k.kh; ++ky)
                for (std::int64_t kx = 0; kx < k.kw; ++kx) {
                  const std::int64_t y = oy * k.strides[0] - k.pads[0] + ky * k.dilations[0];
                  const std::int64_t xx = ox * k.strides[1] - k.pads[1] + kx * k.dilations[1];
                  if (y < 0 || y >= k.h || xx < 0 || xx >= k.w) continue;
                  const std::int64_t channel = m / out_per_group * per_group + c;
                  sum += x.values[static_cast<std::size_t>(((n * k.c + channel) * k.h + y) * k.w + xx)] *
                         w.values[static_cast<std::size_t>(((m * per_group + c) * k.kh + ky) * k.kw + kx)];
                }
            wanted.push_back(sum);
          }
    EXPECT_EQ(run_values(node), wanted);
    EXPECT_EQ(run_values(node, 0, Precision::kFp32), wanted);  // small whole numbers are exact
  }
}

TEST(Conv, TransposedMatchesItsDefinition) {
  for (const Case& k : kCases) {
    const TestTensor x = ramp({k.n, k.c, k.h, k.w}, 3), w = ramp({k.c, k.m / k.groups, k.kh, k.kw}, 4);
    auto attributes = attributes_of(k);
    attributes["output_padding"] = Ints{k.strides[0] - 1, 0};
    const OneNode node{"ConvTranspose", {x, w}, attributes};
    const Shape shape = run_shape(node);
    ASSERT_EQ(shape.size(), 4u);
    EXPECT_EQ(shape[2],
              (k.h - 1) * k.strides[0] + (k.kh - 1) * k.dilations[0] + k.strides[0] - k.pads[0] - k.pads[2]);
    std::vector<double> wanted(static_cast<std::size_t>(element_count(shape)));
    const std::int64_t in_per_group = k.c / k.groups, out_per_group = k.m / k.groups;
    for (std::int64_t n = 0; n < k.n; ++n)
      for (std::int64_t c = 0; c < k.c; ++c)
        for (std::int64_t y = 0; y < k.h; ++y)
          for (std::int64_t xx = 0; xx < k.w; ++xx)
            for (std::int64_t m = 0; m < out_per_group; ++m)
              for (std::int64_t ky = 0; ky < k.kh; ++ky)
                for (std::int64_t kx = 0; kx < k.kw; ++kx) {
                  const std::int64_t oy = y * k.strides[0] - k.pads[0] + ky * k.dilations[0];
                  const std::int64_t ox = xx * k.strides[1] - k.pads[1] + kx * k.dilations[1];
                  if (oy < 0 || oy >= shape[2] || ox < 0 || ox >= shape[3]) continue;
                  const std::int64_t channel = c / in_per_group * out_per_group + m;
                  wanted[static_cast<std::size_t>(((n * k.m + channel) * shape[2] + oy) * shape[3] + ox)] +=
                      x.values[static_cast<std::size_t>(((n * k.c + c) * k.h + y) * k.w + xx)] *
                      w.values[static_cast<std::size_t>(((c * out_per_group + m) * k.kh + ky) * k.kw + kx)];
                }
    EXPECT_EQ(run_values(node), wanted);
  }
}

TEST(Conv, OneAndThreeDimensionsAndBias) {
  const OneNode one{"Conv",
                    {floats({1, 1, 4}, {1, 2, 3, 4}), floats({1, 1, 2}, {1, 10}), floats({1}, {100})}};
  EXPECT_THAT(run_values(one), ElementsAre(121, 132, 143));
  const OneNode three{
      "Conv",
      {floats({1, 1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), floats({1, 1, 2, 2, 2}, {1, 1, 1, 1, 1, 1, 1, 1})}};
  EXPECT_THAT(run_values(three), ElementsAre(36));
}

TEST(Conv, ShapesThatDoNotFitAreRefused) {
  const TestTensor x = ramp({1, 4, 5, 5}, 1);
  EXPECT_THAT(refusal_of({"Conv", {x, ramp({2, 3, 3, 3}, 1)}}), HasSubstr("weights of shape [2,3,3,3]"));
  EXPECT_THAT(refusal_of({"Conv", {x, ramp({3, 2, 3, 3}, 1)}, {{"group", std::int64_t{2}}}}),
              HasSubstr("2 groups"));
  EXPECT_THAT(refusal_of({"Conv", {x, ramp({2, 4, 3, 3}, 1)}, {{"strides", Ints{0, 1}}}}),
              HasSubstr("strides"));
  EXPECT_THAT(refusal_of({"Conv", {x, ramp({2, 4, 3, 3}, 1)}, {{"pads", Ints{1, 1}}}}), HasSubstr("pads"));
  EXPECT_THAT(refusal_of({"Conv", {x, ramp({2, 4, 3, 3}, 1), floats({3}, {1, 2, 3})}}), HasSubstr("bias"));
  EXPECT_THAT(refusal_of({"Conv", {x, ramp({2, 4, 3, 3}, 1)}, {{"pads", Ints(4, std::int64_t{1} << 30)}}}),
              HasSubstr("too large"));
  EXPECT_THAT(refusal_of({"Conv", {floats({2}, {1, 2}), floats({2}, {1, 2})}}), HasSubstr("spatial"));
  EXPECT_THAT(refusal_of({"ConvTranspose", {x, ramp({4, 2, 3, 3}, 1)}, {{"pads", Ints{9, 9, 9, 9}}}}),
              HasSubstr("negative"));
  EXPECT_EQ(run_shape({"Conv", {x, ramp({2, 4, 7, 7}, 1)}}), (Shape{1, 2, 0, 0}));
}

TEST(Pool, NaNAndPaddingInMaxima) {
  const std::map<std::string, Attribute> window = {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}};
  const auto values = run_values({"MaxPool", {floats({1, 1, 3}, {-5, kNaN, -7})}, window});
  ASSERT_EQ(values.size(), 4u);
  EXPECT_EQ(values[0], -5);  // padding is lower than everything
  EXPECT_TRUE(std::isnan(values[1]) && std::isnan(values[2]));
  EXPECT_EQ(values[3], -7);
}

TEST(Pool, CeilModeAndCountedPadding) {
  const TestTensor x = floats({1, 1, 5}, {1, 2, 3, 4, 5});
  std::map<std::string, Attribute> window = {
      {"kernel_shape", Ints{2}}, {"strides", Ints{2}}, {"ceil_mode", std::int64_t{1}}};
  EXPECT_THAT(run_values({"AveragePool", {x}, window}), ElementsAre(1.5, 3.5, 5));
  window["ceil_mode"] = std::int64_t{0};
  EXPECT_THAT(run_values({"AveragePool", {x}, window}), ElementsAre(1.5, 3.5));
  const std::map<std::string, Attribute> padded = {
      {"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}, {"count_include_pad", std::int64_t{1}}};
  EXPECT_THAT(run_values({"AveragePool", {x}, padded}), ElementsAre(1, 2, 3, 4, 3));
  EXPECT_THAT(refusal_of({"MaxPool", {x}}), HasSubstr("kernel_shape"));
}

TEST(Product, MatMulBroadcastsBatchesAndTakesVectors) {
  EXPECT_THAT(run_values({"MatMul", {floats({2}, {1, 2}), floats({2}, {3, 4})}}), ElementsAre(11));
  const OneNode node{"MatMul", {ramp({2, 1, 3, 4}, 1), ramp({5, 4, 2}, 2)}};
  EXPECT_EQ(run_shape(node), (Shape{2, 5, 3, 2}));
  EXPECT_THAT(refusal_of({"MatMul", {ramp({2, 3}, 1), ramp({2, 3}, 1)}}), HasSubstr("cannot be multiplied"));
  EXPECT_THAT(refusal_of({"MatMul", {floats({}, {1}), floats({1}, {1})}}), HasSubstr("scalar"));
  EXPECT_THAT(run_values({"MatMul", {floats({1, 0}, {}), floats({0, 2}, {})}}), ElementsAre(0, 0));
  EXPECT_THAT(run_values({"MatMul", {int64s({1, 2}, {1, 2}), int64s({2, 1}, {3, 4})}}), ElementsAre(11));
}

TEST(Product, GemmScalesTransposesAndAdds) {
  const std::map<std::string, Attribute> all = {
      {"transA", std::int64_t{1}}, {"transB", std::int64_t{1}}, {"alpha", 2.0f}, {"beta", 0.5f}};
  const OneNode node{
      "Gemm", {floats({2, 1}, {1, 2}), floats({3, 2}, {1, 1, 2, 2, 3, 3}), floats({3}, {10, 20, 30})}, all};
  EXPECT_THAT(run_values(node), ElementsAre(11, 22, 33));
  EXPECT_THAT(refusal_of({"Gemm", {floats({1, 1}, {1}), floats({1, 1}, {1}), floats({2, 1}, {1, 2})}}),
              HasSubstr("broadcast"));
  EXPECT_THAT(refusal_of({"Gemm", {floats({1}, {1}), floats({1, 1}, {1})}}), HasSubstr("matrix"));
}

TEST(Product, EinsumOfManyForms) {
  auto equation = [](const char* text) {
    return std::map<std::string, Attribute>{{"equation", std::string(text)}};
  };
  const TestTensor a = floats({2, 3}, {1, 2, 3, 4, 5, 6}), b = floats({3, 2}, {1, 0, 0, 1, 1, 1}),
                   c = floats({2}, {10, 100});
  EXPECT_THAT(run_values({"Einsum", {a, b}, equation("ij,jk->ik")}), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(run_values({"Einsum", {a, b}, equation("ij,jk")}), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(run_values({"Einsum", {a, b, c}, equation("ij,jk,k->i")}), ElementsAre(540, 1200));
  EXPECT_THAT(run_values({"Einsum", {a}, equation("ij->j")}), ElementsAre(5, 7, 9));
  EXPECT_THAT(run_values({"Einsum", {floats({2, 2}, {1, 2, 3, 4})}, equation("ii->")}), ElementsAre(5));
  EXPECT_THAT(run_values({"Einsum", {a, c}, equation("ij,i->ji")}), ElementsAre(10, 400, 20, 500, 30, 600));
  EXPECT_THAT(run_values({"Einsum", {a, b}, equation("...j,jk->...k")}), ElementsAre(4, 5, 10, 11));
  EXPECT_THAT(refusal_of({"Einsum", {a, b}, equation("ij,kj->ik")}), HasSubstr("stands for"));
  EXPECT_THAT(refusal_of({"Einsum", {a}, equation("ijk->i")}), HasSubstr("does not fit"));
  EXPECT_THAT(refusal_of({"Einsum", {a}, equation("ij->z")}), HasSubstr("label z"));
  EXPECT_THAT(refusal_of({"Einsum", {a}, equation("i?->i")}), HasSubstr("character"));
}

TEST(Quantize, SaturatesAndRoundsHalfToEven) {
  const OneNode node{"QuantizeLinear",
                     {floats({5}, {0.5, 1.5, -3, 400, kNaN}), floats({}, {1}), {DType::kUInt8, {}, {0}}}};
  EXPECT_THAT(run_values(node), ElementsAre(0, 2, 0, 255, 0));
  const OneNode product{"MatMulInteger",
                        {{DType::kUInt8, {1, 2}, {10, 20}},
                         {DType::kInt8, {2, 1}, {-1, 2}},
                         {DType::kUInt8, {}, {10}},
                         {DType::kInt8, {}, {1}}}};
  EXPECT_THAT(run_values(product), ElementsAre(10));
}

}  // namespace
}  // namespace kforge
