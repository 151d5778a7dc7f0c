// Shapes and indices: everything that moves elements, and everything that must be refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/one_node.h"

namespace kforge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const TestTensor kRow = floats({5}, {0, 1, 2, 3, 4});

std::vector<double> slice(std::int64_t start, std::int64_t end, std::int64_t step) {
  auto one = [](std::int64_t v) { return int64s({1}, {static_cast<double>(v)}); };
  return run_values({"Slice", {kRow, one(start), one(end), one(0), one(step)}});
}

TEST(Movement, SlicesWithNegativeStepsAndFarLimits) {
  EXPECT_THAT(slice(-1, -6, -2), ElementsAre(4, 2, 0));
  EXPECT_THAT(slice(3, 0, -1), ElementsAre(3, 2, 1));
  EXPECT_THAT(slice(1000, -1000, -1), ElementsAre(4, 3, 2, 1, 0));
  EXPECT_THAT(slice(-1000, 1000, 3), ElementsAre(0, 3));
  EXPECT_THAT(slice(2, 2, 1), IsEmpty());
  EXPECT_THAT(slice(4, 0, -(std::int64_t{1} << 62)), ElementsAre(4));
  EXPECT_THAT(
      refusal_of({"Slice", {kRow, int64s({1}, {0}), int64s({1}, {1}), int64s({1}, {0}), int64s({1}, {0})}}),
      HasSubstr("step"));
  EXPECT_THAT(refusal_of({"Slice", {kRow, int64s({1}, {0}), int64s({2}, {1, 2})}}), HasSubstr("lengths"));
}

TEST(Movement, ReshapeRules) {
  const TestTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(run_shape({"Reshape", {x, int64s({2}, {0, -1})}}), (Shape{2, 3}));
  EXPECT_EQ(run_shape({"Reshape", {x, int64s({3}, {3, 1, -1})}}), (Shape{3, 1, 2}));
  EXPECT_THAT(refusal_of({"Reshape", {x, int64s({2}, {-1, -1})}}), HasSubstr("more than one"));
  EXPECT_THAT(refusal_of({"Reshape", {x, int64s({1}, {5})}}), HasSubstr("do not fit"));
  EXPECT_THAT(refusal_of({"Reshape", {x, int64s({2}, {-1, 4})}}), HasSubstr("do not fit"));
  EXPECT_THAT(refusal_of({"Reshape", {x, int64s({2}, {-2, -3})}}), HasSubstr("negative"));
}

TEST(Movement, TransposeAndTile) {
  const TestTensor x = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(run_values({"Transpose", {x}}), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(refusal_of({"Transpose", {x}, {{"perm", std::vector<std::int64_t>{0, 0}}}}), HasSubstr("perm"));
  EXPECT_THAT(run_values({"Tile", {floats({1, 2}, {1, 2}), int64s({2}, {2, 2})}}),
              ElementsAre(1, 2, 1, 2, 1, 2, 1, 2));
  EXPECT_THAT(refusal_of({"Tile", {x, int64s({2}, {-1, 1})}}), HasSubstr("repeated -1"));
}

TEST(Movement, PadsOfEveryKind) {
  const TestTensor x = floats({3}, {1, 2, 3}), pads = int64s({2}, {2, 2});
  auto mode = [](const char* name) { return std::map<std::string, Attribute>{{"mode", std::string(name)}}; };
  EXPECT_THAT(run_values({"Pad", {x, pads, floats({}, {9})}}), ElementsAre(9, 9, 1, 2, 3, 9, 9));
  EXPECT_THAT(run_values({"Pad", {x, pads}, mode("edge")}), ElementsAre(1, 1, 1, 2, 3, 3, 3));
  EXPECT_THAT(run_values({"Pad", {x, pads}, mode("reflect")}), ElementsAre(3, 2, 1, 2, 3, 2, 1));
  EXPECT_THAT(run_values({"Pad", {x, int64s({2}, {-1, 1})}}), ElementsAre(2, 3, 0));
  EXPECT_THAT(refusal_of({"Pad", {x, int64s({2}, {-4, 0})}}), HasSubstr("negative"));
  EXPECT_THAT(refusal_of({"Pad", {x, int64s({3}, {1, 1, 1})}}), HasSubstr("3 pads"));
  EXPECT_THAT(refusal_of({"Pad", {floats({0}, {}), pads}, mode("edge")}), HasSubstr("without elements"));
}

TEST(Movement, SplitAndConcat) {
  const OneNode split{"Split", {kRow, int64s({2}, {2, 3})}, {}, 2};
  EXPECT_THAT(run_values(split, 0), ElementsAre(0, 1));
  EXPECT_THAT(run_values(split, 1), ElementsAre(2, 3, 4));
  EXPECT_THAT(refusal_of({"Split", {kRow, int64s({2}, {2, 2})}, {}, 2}), HasSubstr("do not fill"));
  EXPECT_THAT(refusal_of({"Split", {kRow, int64s({2}, {9, -4})}, {}, 2}), HasSubstr("do not fit"));
  EXPECT_THAT(refusal_of({"Split", {kRow}, {}, 2}), HasSubstr("equal pieces"));
  EXPECT_THAT(
      run_values(
          {"Concat", {floats({2, 1}, {1, 2}), floats({2, 2}, {3, 4, 5, 6})}, {{"axis", std::int64_t{1}}}}),
      ElementsAre(1, 3, 4, 2, 5, 6));
  EXPECT_THAT(refusal_of({"Concat", {floats({2}, {1, 2}), floats({1, 1}, {3})}, {{"axis", std::int64_t{0}}}}),
              HasSubstr("joined"));
}

TEST(Movement, GathersTakeNegativeIndicesAndRefuseOthers) {
  EXPECT_THAT(run_values({"Gather", {kRow, int64s({2}, {-1, 1})}}), ElementsAre(4, 1));
  EXPECT_THAT(refusal_of({"Gather", {kRow, int64s({1}, {5})}}), HasSubstr("index 5"));
  EXPECT_THAT(refusal_of({"Gather", {kRow, int64s({1}, {-6})}}), HasSubstr("index -6"));
  EXPECT_THAT(run_values({"GatherElements",
                          {floats({2, 2}, {1, 2, 3, 4}), int64s({2, 1}, {1, -2})},
                          {{"axis", std::int64_t{1}}}}),
              ElementsAre(2, 3));
  EXPECT_THAT(refusal_of({"GatherElements",
                          {floats({2, 2}, {1, 2, 3, 4}), int64s({3, 1}, {0, 0, 0})},
                          {{"axis", std::int64_t{1}}}}),
              HasSubstr("indices of shape"));
  EXPECT_THAT(refusal_of({"GatherND", {kRow, int64s({1, 2}, {0, 0})}}), HasSubstr("indices of shape"));
}

TEST(Movement, ScattersReduceInOrder) {
  const TestTensor zeros = floats({3}, {0, 0, 0}), index = int64s({3}, {1, 1, -1}),
                   updates = floats({3}, {5, 7, 9});
  auto reduction = [](const char* name) {
    return std::map<std::string, Attribute>{{"reduction", std::string(name)}};
  };
  EXPECT_THAT(run_values({"ScatterElements", {zeros, index, updates}}), ElementsAre(0, 7, 9));
  EXPECT_THAT(run_values({"ScatterElements", {zeros, index, updates}, reduction("add")}),
              ElementsAre(0, 12, 9));
  EXPECT_THAT(run_values({"ScatterElements", {zeros, index, updates}, reduction("max")}),
              ElementsAre(0, 7, 9));
  EXPECT_THAT(refusal_of({"ScatterElements", {zeros, int64s({1}, {3}), floats({1}, {1})}}),
              HasSubstr("index 3"));
  EXPECT_THAT(refusal_of({"ScatterElements", {zeros, index, updates}, reduction("xor")}), HasSubstr("xor"));
  EXPECT_THAT(run_values({"ScatterND", {zeros, int64s({2, 1}, {2, 0}), floats({2}, {1, 2})}}),
              ElementsAre(2, 0, 1));
  EXPECT_THAT(refusal_of({"ScatterND", {zeros, int64s({1, 1}, {7}), floats({1}, {1})}}),
              HasSubstr("index 7"));
}

TEST(Movement, RangesOfEveryDirection) {
  auto range = [](double start, double limit, double delta) {
    return OneNode{"Range", {int64s({}, {start}), int64s({}, {limit}), int64s({}, {delta})}};
  };
  EXPECT_THAT(run_values(range(10, 4, -3)), ElementsAre(10, 7));
  EXPECT_EQ(run_shape(range(0, 5, -1)), (Shape{0}));
  EXPECT_THAT(refusal_of(range(0, 5, 0)), HasSubstr("zero"));
  EXPECT_THAT(refusal_of(range(0, 1e15, 1)), HasSubstr("too large"));
  EXPECT_THAT(refusal_of({"Range", {floats({}, {0}), floats({}, {kInf}), floats({}, {1})}}),
              HasSubstr("too large"));
}

TEST(Movement, AxesOutsideAreRefused) {
  EXPECT_THAT(refusal_of({"Gather", {kRow, int64s({1}, {0})}, {{"axis", std::int64_t{1}}}}),
              HasSubstr("axis 1"));
  EXPECT_THAT(refusal_of({"Squeeze", {kRow, int64s({1}, {0})}}), HasSubstr("is not 1"));
  EXPECT_THAT(refusal_of({"Unsqueeze", {kRow, int64s({2}, {0, 0})}}), HasSubstr("named twice"));
  EXPECT_THAT(refusal_of({"Flatten", {kRow}, {{"axis", std::int64_t{2}}}}), HasSubstr("axis 2"));
  EXPECT_THAT(
      refusal_of({"DepthToSpace", {floats({1, 3, 1, 1}, {1, 2, 3})}, {{"blocksize", std::int64_t{2}}}}),
      HasSubstr("blocks of 2"));
}

}  // namespace
}  // namespace kforge
