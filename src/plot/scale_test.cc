#include "plot/scale.h"

#include <gmock/gmock.h>

#include <limits>

namespace kforge {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(Scale, PlacesValuesBetweenItsEnds) {
  Scale linear(ScaleKind::kLinear, {0, 10}, 100, 200);
  EXPECT_EQ(linear.at(5), 150);
  EXPECT_EQ(linear.at(-3), 100);
  EXPECT_EQ(linear.at(kInfinite), 200);
  EXPECT_EQ(linear.at(kNan), 100);
  Scale log(ScaleKind::kLog, {1, 100}, 0, 100);
  EXPECT_DOUBLE_EQ(log.at(10), 50);
  EXPECT_EQ(log.at(0), 0);
  EXPECT_EQ(Scale(ScaleKind::kLinear, {1, 1}, 7, 9).at(1), 7);
}

TEST(Scale, TicksAreRound) {
  EXPECT_THAT(ticks_of(ScaleKind::kLinear, {0, 10}, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(ticks_of(ScaleKind::kLinear, {-0.3, 1.1}, 4), ElementsAre(0, 0.5, 1));
  EXPECT_THAT(ticks_of(ScaleKind::kLog, {0.8, 12}, 6), ElementsAre(1, 2, 5, 10));
  EXPECT_THAT(ticks_of(ScaleKind::kLog, {1, 1000}, 4), ElementsAre(1, 10, 100, 1000));
  EXPECT_THAT(ticks_of(ScaleKind::kLog, {1.1, 1.9}, 4),
              ElementsAre(DoubleEq(1.2), DoubleEq(1.4), DoubleEq(1.6), DoubleEq(1.8)))
      << "less than a decade";
  EXPECT_LE(ticks_of(ScaleKind::kLog, {1e-12, 1e12}, 5).size(), 6u);
  EXPECT_EQ(tick_label(0.5), "0.5");
  EXPECT_EQ(tick_label(20000), "20000");
}

TEST(Scale, NoValuesAreTooOddForARange) {
  for (ScaleKind kind : {ScaleKind::kLinear, ScaleKind::kLog})
    for (const std::vector<double>& values : std::vector<std::vector<double>>{
             {}, {0}, {kNan, kInfinite}, {5, 5}, {-1, -2}, {1e308, -1e308}, {1e-320}}) {
      Range range = range_over(kind, values);
      EXPECT_LT(range.lo, range.hi);
      EXPECT_LE(ticks_of(kind, range, 6).size(), 101u);
    }
  EXPECT_TRUE(ticks_of(ScaleKind::kLog, {-1, 5}, 6).empty());
  EXPECT_TRUE(ticks_of(ScaleKind::kLinear, {kNan, 5}, 6).empty());
}

TEST(Scale, BarsBeginAtNothing) {
  EXPECT_EQ(range_over(ScaleKind::kLinear, std::vector<double>{0, 5}).lo, 0);
}

}  // namespace
}  // namespace kforge
