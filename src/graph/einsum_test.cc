#include "graph/einsum.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kforge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string reason(const std::string& text, std::vector<std::int64_t> ranks) {
  const auto read = read_einsum(text, ranks);
  return read ? "read" : read.error().message;
}

TEST(Einsum, LabelsOfEveryAxis) {
  const auto plain = read_einsum("b i j l, l k -> b i j k", std::vector<std::int64_t>{4, 2});
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_THAT(plain->inputs, ElementsAre("bijl", "lk"));
  EXPECT_EQ(plain->output, "bijk");
  const auto implied = read_einsum("ij,jk", std::vector<std::int64_t>{2, 2});
  EXPECT_EQ(implied->output, "ik");
  const auto dots = read_einsum("...ij,...jk->...ik", std::vector<std::int64_t>{4, 3});
  EXPECT_THAT(dots->inputs, ElementsAre("\x01\x02ij", "\x02jk"));
  EXPECT_EQ(dots->output, "\x01\x02ik");
}

TEST(Einsum, WhatDoesNotFitIsNamed) {
  EXPECT_THAT(reason("ij->i", {2, 2}), HasSubstr("1 terms for 2 inputs"));
  EXPECT_THAT(reason("ij->i", {3}), HasSubstr("does not fit an input with 3 axes"));
  EXPECT_THAT(reason("i1->i", {2}), HasSubstr("the character '1'"));
}

std::string dims_of(const char* graph_text) {
  auto graph = parse_graph_text(graph_text, "g");
  return graph ? to_string(graph->types.at("y")) : graph.error().text();
}

#define HEAD "<ir_version: 8, opset_import: [\"\" : 17]> "

TEST(Einsum, TheResultsShapeFollowsFromTheEquation) {
  EXPECT_EQ(dims_of(HEAD "g (float[B, 4, J, L] a, float[L, K] b) => (float[P, Q, R, S] y) "
                         "{ y = Einsum <equation = \"bijl,lk->bijk\"> (a, b) }"),
            "float32[B,4,J,K]");
  EXPECT_EQ(dims_of(HEAD "g (float[1, N] a, float[B, N] b) => (float[P] y) "
                         "{ y = Einsum <equation = \"bn,bn->b\"> (a, b) }"),
            "float32[B]");
}

}  // namespace
}  // namespace kforge
