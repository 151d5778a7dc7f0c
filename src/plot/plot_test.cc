// The drawings as text, at the width of a page and of a phone. After a wanted change: KFORGE_UPDATE_GOLDEN=1
// plot_test, then look at them (tests/golden/plot/README.md says how).
#include <gmock/gmock.h>

#include <cstdlib>
#include <limits>

#include "base/files.h"
#include "plot/bars.h"
#include "plot/tree.h"
#include "plot/treemap.h"
#include "plot/xy.h"

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kPage = 720, kPhone = 340;

template <class Chart>
void expect_golden(const std::string& name, const Chart& chart) {
  for (auto [kind, width] : {std::pair{"page", kPage}, std::pair{"phone", kPhone}}) {
    fs::path file = fs::path(KFORGE_SOURCE_DIR) / "tests/golden/plot" / (name + "_" + kind + ".svg");
    std::string text = draw(chart, width).text;
    if (std::getenv("KFORGE_UPDATE_GOLDEN")) {
      ASSERT_TRUE(write_file_atomic(file, text));
    }
    auto golden = read_file(file);
    ASSERT_TRUE(golden) << golden.error().text();
    EXPECT_EQ(text, *golden) << "KFORGE_UPDATE_GOLDEN=1 writes " << file << " anew";
  }
}

BarChart contenders() {
  return {.title = "time per call",
          .axis_title = "time per call, ms",
          .bars = {{"kernel", "3.42 ms [3.40, 3.45]", {3.42, 3.40, 3.45}, Tone::kBest},
                   {"onednn 2.6 (2022-03: old), 2 threads", "6.26 ms [5.90, 6.70]", {6.26, 5.9, 6.7}},
                   {"torch 1.13.0", "9.10 ms [9.00, 9.20]", {9.1, 9.0, 9.2}, Tone::kFaint}}};
}

TEST(PlotGolden, Bars) { expect_golden("bars", contenders()); }

TEST(PlotGolden, RatiosOnALogScale) {
  expect_golden("ratios", BarChart{.title = "speedups",
                                   .axis_title = "times as fast as the fastest baseline",
                                   .bars = {{"level1/1_a", "9.00x", {9, 8, 10}, Tone::kGood},
                                            {"level1/2_b", "1.20x", {1.2, 0.9, 1.4}},
                                            {"level2/3_c", "0.50x", {0.5, 0.4, 0.6}, Tone::kBad}},
                                   .scale = ScaleKind::kLog,
                                   .origin = 1});
}

TEST(PlotGolden, Roofline) {
  XyChart chart{.title = "roofline",
                .x = {"flop per byte", ScaleKind::kLog, {0.1, 100}},
                .y = {"GFLOP/s", ScaleKind::kLog, {1, 100}}};
  chart.series = {
      {"memory 20 GB/s",
       XySeries::Shape::kLine,
       Tone::kFaint,
       {{0.1, {2, 2, 2}}, {5, {100, 100, 100}}},
       false,
       true},
      {"fp32 100 GFLOP/s",
       XySeries::Shape::kLine,
       Tone::kPlain,
       {{5, {100, 100, 100}}, {100, {100, 100, 100}}}},
      {"attempts", XySeries::Shape::kPoints, Tone::kSecond, {{1.2, {4, 4, 4}, "1"}, {1.2, {9, 9, 9}, "3"}}},
      {"confirmed", XySeries::Shape::kPoints, Tone::kBest, {{1.2, {15, 14, 16.5}, "best", "attempt 3"}}}};
  expect_golden("roofline", chart);
}

TEST(PlotGolden, StepsWithABand) {
  XyChart chart{.title = "incumbent",
                .x = {.title = "attempt", .reach = {0, 6}, .whole = true},
                .y = {.title = "times as fast as onednn", .reach = {1}}};
  chart.series = {
      {"best so far",
       XySeries::Shape::kSteps,
       Tone::kBest,
       {{1, {0.8, 0.75, 0.86}}, {2, {1.1, 1.02, 1.2}}, {5, {1.6, 1.5, 1.75}}, {6, {1.6, 1.5, 1.75}}},
       true},
      {"other attempts", XySeries::Shape::kPoints, Tone::kFaint, {{3, {0.9, 0.85, 1}, "3"}}}};
  expect_golden("steps", chart);
}

TEST(PlotGolden, Tree) {
  expect_golden("tree",
                TreeChart{"attempts",
                          {{1, -1, false, "0.80x", "1 functional: a first program", Tone::kGood, true},
                           {2, 1, true, "1.10x",
                            "2 optimization: vectorise the inner loop over columns and keep "
                            "the row in registers while it is summed",
                            Tone::kGood, true},
                           {3, 1, true, "", "3 optimization: wrong value", Tone::kBad},
                           {4, 2, true, "1.60x", "4 optimization: two rows at once", Tone::kBest, true},
                           {5, 99, true, "", "5 its parent is not known"}}});
}

TEST(PlotGolden, TreemapOfTime) {
  expect_golden("treemap", Treemap{"seconds",
                                   {{"prepare", "4.1 s", 4.1, Tone::kFaint},
                                    {"attempt 1", "12 s", 12},
                                    {"attempt 2", "6 s", 6},
                                    {"attempt 3", "3 s", 3, Tone::kBad},
                                    {"confirm", "5.5 s", 5.5, Tone::kSecond},
                                    {"nothing", "0 s", 0}}});
}

constexpr const char* kHostile = "</text><script>alert(1)</script>\" onload=\"x";

TEST(Plot, HostileTextStaysText) {
  const std::string h = kHostile;
  for (double width : {kPage, kPhone})
    for (const Markup& svg :
         {draw(BarChart{.title = h, .axis_title = h, .bars = {{h, h, {1, 1, 1}}}}, width),
          draw(XyChart{.title = h,
          .x = {.title = h},
          .y = {.title = h},
          .series = {{h, XySeries::Shape::kPoints, Tone::kPlain, {{1, {1, 1, 1}, h, h}}}}},
               width),
          draw(TreeChart{h, {{1, -1, true, h, h}}}, width), draw(Treemap{h, {{h, h, 1}}}, width)}) {
      EXPECT_THAT(svg.text, Not(HasSubstr("<script")));
      EXPECT_THAT(svg.text, Not(HasSubstr("\" onload")));
      EXPECT_THAT(svg.text, HasSubstr("&lt;script&gt;"));
    }
}

TEST(Plot, OddFiguresGiveDrawingsToo) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (ScaleKind kind : {ScaleKind::kLinear, ScaleKind::kLog})
    for (const Interval& odd : {Interval{kNan, kNan, kNan}, Interval{kInfinite, -kInfinite, kInfinite},
                                Interval{-1, -2, 0}, Interval{1e308, 1e-308, 1e308}}) {
      std::string text =
          draw(BarChart{.bars = {{"a", "b", odd}}, .scale = kind}, kPage).text +
          draw(XyChart{.x = {"", kind},
                       .y = {"", kind},
                       .series =
                           {{"", XySeries::Shape::kSteps, Tone::kPlain, {{odd.value, odd}, {1, odd}}, true}}},
               kPhone)
              .text +
          draw(Treemap{"", {{"a", "b", odd.value}}}, kPage).text;
      EXPECT_THAT(text, Not(HasSubstr("nan")));
      EXPECT_THAT(text, Not(HasSubstr("inf")));
      EXPECT_THAT(text, Not(HasSubstr("e+")));
    }
  EXPECT_FALSE(draw(BarChart{}, kPage).empty());
  EXPECT_FALSE(draw(XyChart{}, kPage).empty());
  EXPECT_FALSE(draw(TreeChart{}, kPage).empty());
  EXPECT_FALSE(draw(Treemap{}, kPage).empty());
}

TEST(Plot, EveryNodeOfATreeIsDrawnOnce) {
  TreeChart chart;
  for (int i = 0; i < 3000; ++i) chart.nodes.push_back({i, i - 1});
  chart.nodes.push_back({5000, 5001});  // a circle
  chart.nodes.push_back({5001, 5000});
  chart.nodes.push_back({5002, 5002});
  std::string text = draw(chart, kPhone).text;
  std::size_t points = 0;
  for (std::size_t at = text.find("<circle"); at != text.npos; at = text.find("<circle", at + 1)) ++points;
  EXPECT_EQ(points, chart.nodes.size());
}

}  // namespace
}  // namespace kforge
