// Convolutions of every form against plain loops.
#include "smith/contract/convolution.h"

#include <algorithm>

#include "smith/contract/compiled_cases.h"
#include "smith/contract/pixel_rows.h"
#include "smith/contract/winograd.h"

namespace kforge::smith {
namespace {

struct Window {
  std::vector<long> input, kernel, strides, dilations, begins, ends, output_padding;
};

Convolution convolution(long images, long groups, long channels, long filters, const Window& w,
                        bool transposed) {
  Convolution c;
  c.name = "convolution";
  c.what = "y = conv(x, w)";
  c.x = "x", c.w = "w";
  c.w_param = images % 2 == 0;
  c.transposed = transposed;
  c.images = images, c.groups = groups, c.channels = channels, c.filters = filters;
  c.input = w.input, c.kernel = w.kernel, c.strides = w.strides, c.dilations = w.dilations,
  c.begins = w.begins;
  for (std::size_t d = 0; d < w.input.size(); ++d) {
    const long reach = w.dilations[d] * (w.kernel[d] - 1) + 1;
    c.output.push_back(transposed ? (w.input[d] - 1) * w.strides[d] + reach - w.begins[d] - w.ends[d] +
                                        w.output_padding[d]
                                  : (w.input[d] + w.begins[d] + w.ends[d] - reach) / w.strides[d] + 1);
  }
  c.tensors = {{"const float*", "x"}, {"const float*", "w"}, {"float*", "y"}};
  c.finish = plain_image_store("y", c);
  return c;
}

std::string list(std::vector<long> v, long fill) {
  while (v.size() < 3) v.insert(v.begin(), fill);
  return fmt::format("{{{}, {}, {}}}", v[0], v[1], v[2]);
}

std::string naive(const Convolution& c) {
  return fmt::format(
      R"(  const long I[3] = {}, K[3] = {}, O[3] = {}, S[3] = {}, D[3] = {}, P[3] = {};
  const long G = {}, C = {}, F = {}, taps = K[0] * K[1] * K[2];
  for (long n = 0; n < {}; ++n) for (long g = 0; g < G; ++g) for (long f = 0; f < F; ++f) for (long c = 0; c < C; ++c)
  for (long kd = 0; kd < K[0]; ++kd) for (long kh = 0; kh < K[1]; ++kh) for (long kw = 0; kw < K[2]; ++kw)
  {})",
      list(c.input, 1), list(c.kernel, 1), list(c.output, 1), list(c.strides, 1), list(c.dilations, 1),
      list(c.begins, 0), c.groups, c.channels, c.filters, c.images,
      c.transposed
          ? R"(for (long d = 0; d < I[0]; ++d) for (long h = 0; h < I[1]; ++h) for (long i = 0; i < I[2]; ++i) {
    const long od = d * S[0] + kd * D[0] - P[0], oh = h * S[1] + kh * D[1] - P[1], ow = i * S[2] + kw * D[2] - P[2];
    if (od < 0 || od >= O[0] || oh < 0 || oh >= O[1] || ow < 0 || ow >= O[2]) continue;
    want[(((n * G + g) * F + f) * O[0] + od) * O[1] * O[2] + oh * O[2] + ow] +=
        double(x[(((n * G + g) * C + c) * I[0] + d) * I[1] * I[2] + h * I[2] + i]) * w[((g * C + c) * F + f) * taps + (kd * K[1] + kh) * K[2] + kw];
  })"
          : R"(for (long od = 0; od < O[0]; ++od) for (long oh = 0; oh < O[1]; ++oh) for (long ow = 0; ow < O[2]; ++ow) {
    const long d = od * S[0] + kd * D[0] - P[0], h = oh * S[1] + kh * D[1] - P[1], i = ow * S[2] + kw * D[2] - P[2];
    if (d < 0 || d >= I[0] || h < 0 || h >= I[1] || i < 0 || i >= I[2]) continue;
    want[(((n * G + g) * F + f) * O[0] + od) * O[1] * O[2] + oh * O[2] + ow] +=
        double(x[(((n * G + g) * C + c) * I[0] + d) * I[1] * I[2] + h * I[2] + i]) * w[((g * F + f) * C + c) * taps + (kd * K[1] + kh) * K[2] + kw];
  })");
}

Machine small_machine() {
  Machine machine;
  machine.features = {"avx2", "fma"};
  machine.cpus = {0, 1};
  machine.caches = {{1, 32 << 10, 1}, {2, 512 << 10, 1}, {3, 8 << 20, 2}};
  return machine;
}

void add(CompiledCases& cases, const Convolution& c, const ContractionSchedule& s, const std::string& label,
         double tolerance = 2e-6) {
  const auto code = emit_convolution(c, s);
  ASSERT_TRUE(code) << label << ": " << code.error().message;
  cases.add(*code, c.tensors,
            {c.images * c.groups * c.channels * product(c.input),
             c.groups * c.channels * c.filters * product(c.kernel),
             c.images * c.groups * c.filters * product(c.output)},
            naive(c), label, tolerance);
}

const std::vector<std::pair<std::string, Window>> kWindows = {
    {"1d", {{23}, {3}, {1}, {1}, {1}, {1}, {0}}},
    {"1d stride 3 dilation 4", {{41}, {3}, {3}, {4}, {2}, {0}, {0}}},
    {"pointwise", {{5, 7}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}}},
    {"3x3 padded", {{9, 19}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}},
    {"3x3 bare", {{8, 18}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}}},
    {"uneven pads", {{8, 10}, {2, 5}, {1, 1}, {1, 1}, {0, 3}, {1, 2}, {0, 0}}},
    {"stride 2", {{12, 35}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}}},
    {"stride 2 dilation 2", {{13, 21}, {3, 3}, {2, 2}, {2, 2}, {2, 2}, {2, 2}, {0, 1}}},
    {"stride 4 kernel 7", {{31, 33}, {7, 7}, {4, 4}, {1, 1}, {3, 2}, {3, 2}, {2, 3}}},
    {"stride over kernel", {{6, 9}, {2, 1}, {3, 3}, {1, 1}, {0, 0}, {0, 0}, {0, 2}}},
    {"3d", {{4, 5, 9}, {3, 2, 3}, {1, 1, 1}, {1, 1, 1}, {1, 0, 1}, {1, 0, 1}, {0, 0, 0}}},
    {"3d, rows of two", {{5, 7, 4}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}},
    {"3d strides", {{5, 6, 11}, {3, 3, 3}, {2, 1, 2}, {1, 2, 1}, {1, 2, 1}, {1, 2, 1}, {1, 0, 1}}},
};

TEST(Convolution, EveryWindow) {
  CompiledCases cases;
  for (const auto& [label, window] : kWindows)
    for (long images : {1, 2}) {
      const Convolution c = convolution(images, 1, 3, 7, window, false);
      add(cases, c, first_schedule(c, small_machine(), 2), label);
    }
  EXPECT_EQ(cases.run(), "");
}

// Panels take columns from the end of one row of the image and the start of the next, or from several short
// ones.
TEST(Convolution, PackedPanelsCrossRows) {
  CompiledCases cases;
  for (const auto& [label, window] : kWindows)
    for (const long groups : {1, 2}) {
      const Convolution c = convolution(3, groups, 3, 7, window, false);
      if (c.contraction().run == 0) continue;
      ContractionSchedule s = column_schedule(c, small_machine(), 2);
      s.b = Packing::kBlock;
      s.rows = 6, s.vectors = 2;
      add(cases, c, s, fmt::format("{} groups {}", label, groups));
      s.block_k = 8, s.block_m = 6, s.block_n = 48;
      add(cases, c, s, fmt::format("{} groups {}, k in slices", label, groups));
    }
  EXPECT_EQ(cases.run(), "");
  const Convolution transposed = convolution(1, 1, 3, 7, kWindows[6].second, true);
  ContractionSchedule s = first_schedule(transposed, small_machine(), 2);
  EXPECT_EQ(s.b, Packing::kInPlace);
  s.b = Packing::kBlock;
  EXPECT_FALSE(check(s, transposed.contraction()));
}

// Every window with pixels as rows of the tile: blocks of several images, of a part of one, of some filters;
// k in slices, panels of two heights, rows of taps that see nothing but padding.
TEST(Convolution, PixelsAsRows) {
  CompiledCases cases;
  for (const auto& [label, window] : kWindows)
    for (const long images : {1, 5}) {
      Convolution c = convolution(images, 1, 3, 21, window, false);
      c.w_param = true;
      ContractionSchedule s = pixel_rows_schedule(c, small_machine(), 2);
      add(cases, c, s, fmt::format("{}, {} images", label, images));
      s.rows = 4, s.vectors = 3, s.block_k = 8, s.block_m = 24;
      s.block_n = images > 1 ? 2 * product(c.output) : 9;
      add(cases, c, s, fmt::format("{}, {} images, small blocks", label, images));
    }
  Convolution small =
      convolution(2, 1, 40, 24, {{7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}, false);
  ASSERT_TRUE(small.contraction().tap_rows);
  add(cases, small, pixel_rows_schedule(small, small_machine(), 2), "rows of taps in padding");
  small.transposed = true;
  add(cases, small, pixel_rows_schedule(small, small_machine(), 3), "transposed");
  small = convolution(2, 1, 64, 5, {{3, 4}, {3, 3}, {1, 1}, {1, 1}, {6, 1}, {1, 1}, {0, 0}}, false);
  ASSERT_TRUE(small.contraction().tap_rows);
  add(cases, small, pixel_rows_schedule(small, small_machine(), 1), "rows that see nothing but padding");
  EXPECT_EQ(cases.run(), "");
}

TEST(Convolution, PixelsAreRowsWhereTheyFillTilesBetter) {
  Machine wide = small_machine();
  wide.features.insert("avx512f");
  const auto chosen = [&](long channels, long filters, long size, long kernel) {
    const long pad = kernel / 2;
    const Convolution c =
        convolution(2, 1, channels, filters,
                    {{size, size}, {kernel, kernel}, {1, 1}, {1, 1}, {pad, pad}, {pad, pad}, {0, 0}}, false);
    return first_schedule(c, wide, 2);
  };
  EXPECT_TRUE(chosen(512, 512, 7, 3).pixel_rows);
  EXPECT_TRUE(chosen(960, 160, 7, 1).pixel_rows);
  EXPECT_TRUE(chosen(256, 256, 14, 3).pixel_rows);
  EXPECT_FALSE(chosen(16, 96, 112, 1).pixel_rows);  // sums would be turned round after 16 steps
  EXPECT_FALSE(chosen(64, 24, 32, 3).pixel_rows);   // 24 filters leave vectors empty
  Convolution moving =
      convolution(1, 1, 512, 512, {{7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}, false);
  EXPECT_FALSE(first_schedule(moving, wide, 2).pixel_rows);  // filters change from call to call
  EXPECT_FALSE(emit_convolution(moving, pixel_rows_schedule(moving, wide, 2)));
}

// Rows of taps that see nothing but padding are left out; some output rows see nothing else.
TEST(Convolution, RowsOfTapsInPaddingAreLeftOut) {
  const std::vector<std::pair<std::string, Window>> windows = {
      {"2d", {{5, 19}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}}},
      {"2d dilated", {{6, 7}, {3, 4}, {1, 1}, {2, 1}, {1, 0}, {0, 2}, {0, 0}}},
      {"3d", {{4, 5, 9}, {3, 5, 3}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}},
  };
  const std::vector<std::pair<std::string, Window>> padded = {
      {"more padding than kernel", {{4, 9}, {3, 3}, {1, 1}, {1, 1}, {5, 4}, {6, 4}, {0, 0}}},
      {"strided", {{7, 9}, {3, 3}, {2, 2}, {1, 1}, {2, 1}, {2, 1}, {0, 0}}},
      {"3d", {{3, 4, 9}, {3, 3, 3}, {1, 2, 1}, {2, 1, 1}, {2, 2, 1}, {2, 2, 1}, {0, 0, 0}}},
  };
  CompiledCases cases;
  const auto try_all = [&](const std::string& label, const Window& window, bool transposed) {
    for (const long images : {1, 2})
      for (const Packing b : {Packing::kInPlace, Packing::kBlock}) {
        const Convolution c = convolution(images, 1, 16, 13, window, transposed);
        ASSERT_TRUE(c.contraction().tap_rows) << label;
        ContractionSchedule s = column_schedule(c, small_machine(), 2);
        EXPECT_EQ(s.block_k, c.contraction().tap_rows->steps);
        s.rows = 6, s.vectors = 2, s.b = b;
        add(cases, c, s, fmt::format("{} transposed {} b {}", label, transposed, name_of(b)));
        s.block_k *= 2;
        add(cases, c, s,
            fmt::format("{} transposed {} b {}, nothing left out", label, transposed, name_of(b)));
      }
  };
  for (const auto& [label, window] : windows) try_all(label, window, true);
  for (const auto& [label, window] : padded) try_all(label, window, false);
  EXPECT_EQ(cases.run(), "");
  EXPECT_FALSE(convolution(1, 1, 16, 13, kWindows[4].second, false).contraction().tap_rows) << "no padding";
}

TEST(Convolution, EveryWindowTransposed) {
  CompiledCases cases;
  for (const auto& [label, window] : kWindows)
    for (long images : {1, 2}) {
      const Convolution c = convolution(images, 1, 3, 7, window, true);
      add(cases, c, first_schedule(c, small_machine(), 2), label);
    }
  EXPECT_EQ(cases.run(), "");
}

TEST(Convolution, GroupsDepthwiseAndNeighbouringSchedules) {
  CompiledCases cases;
  const Window& same = kWindows[3].second;
  const Window& strided = kWindows[6].second;
  for (const bool transposed : {false, true})
    for (const Window& window : {same, strided, kWindows[7].second, kWindows[8].second}) {
      for (const auto& [groups, channels, filters] :
           {std::tuple{4L, 2L, 3L}, std::tuple{5L, 1L, 1L}, std::tuple{3L, 1L, 2L}}) {
        const Convolution c = convolution(3, groups, channels, filters, window, transposed);
        add(cases, c, first_schedule(c, small_machine(), 2),
            fmt::format("groups {} transposed {}", groups, transposed));
      }
    }
  const Convolution c = convolution(2, 1, 5, 14, same, false);
  const ContractionSchedule first = first_schedule(c, small_machine(), 2);
  for (const ScheduleMove& move : neighbours(first, c, small_machine()))
    add(cases, c, move.schedule, move.name);
  ContractionSchedule split = first;
  split.block_k = 16, split.block_m = 6, split.block_n = 32;
  add(cases, c, split, "k in slices");
  EXPECT_EQ(cases.run(), "");
}

TEST(Convolution, DimensionsWithoutAKernelAreMerged) {
  const Convolution c = convolution(
      2, 1, 3, 7, {{6, 9, 5}, {3, 3, 1}, {1, 1, 1}, {1, 2, 1}, {0, 2, 0}, {0, 2, 0}, {0, 0, 0}}, false);
  const Convolution merged = with_long_rows(c);
  EXPECT_EQ(merged.input, (std::vector<long>{6, 45}));
  EXPECT_EQ(merged.dilations, (std::vector<long>{1, 10}));
  CompiledCases cases;
  const auto code = emit_convolution(merged, first_schedule(merged, small_machine(), 2));
  ASSERT_TRUE(code);
  cases.add(*code, c.tensors,
            {2 * 3 * product(c.input), 3 * 7 * product(c.kernel), 2 * 7 * product(c.output)}, naive(c),
            "merged");
  EXPECT_EQ(cases.run(), "");
  // A stride or padding along the last dimension keeps it.
  for (const Window& window : {Window{{9, 5}, {3, 1}, {1, 2}, {1, 1}, {0, 0}, {0, 0}, {0, 0}},
                               Window{{9, 5}, {3, 1}, {1, 1}, {1, 1}, {0, 1}, {0, 1}, {0, 0}},
                               Window{{9, 5}, {3, 1}, {2, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}}})
    EXPECT_EQ(with_long_rows(convolution(1, 1, 2, 6, window, false)).kernel.size(), 2u);
}

// Planes in place and padded, rows narrower than a vector, and stores that go past the caches from the first
// aligned pixel on although rows begin anywhere.
TEST(Convolution, DepthwiseInPlacePaddedAndStreamed) {
  CompiledCases cases;
  const std::vector<std::pair<std::string, Window>> windows = {
      {"bare", {{9, 43}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}}},
      {"padded", {{9, 41}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}},
      {"padded behind", {{7, 12}, {2, 2}, {1, 1}, {1, 1}, {0, 0}, {1, 1}, {0, 0}}},
      {"rows skipped", {{11, 21}, {3, 1}, {2, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}}},
      {"dilated", {{11, 30}, {3, 7}, {1, 1}, {2, 3}, {0, 0}, {0, 0}, {0, 0}}},
      {"narrow", {{17, 6}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}}},
      {"one row", {{40}, {5}, {1}, {1}, {0}, {0}, {0}}},
      {"3d", {{5, 6, 21}, {3, 2, 3}, {1, 1, 1}, {1, 1, 1}, {1, 0, 1}, {1, 0, 1}, {0, 0, 0}}},
  };
  for (const auto& [label, window] : windows)
    for (const bool stream : {false, true})
      for (const long filters : {1, 3}) {
        const Convolution c = convolution(2, filters == 1 ? 9 : 3, 1, filters, window, false);
        ContractionSchedule s = first_schedule(c, small_machine(), 2);
        s.stream = stream;
        const auto code = emit_convolution(c, s);
        ASSERT_TRUE(code);
        EXPECT_NE(code->summary.find("depthwise"), std::string::npos);
        add(cases, c, s, fmt::format("depthwise {} stream {} filters {}", label, stream, filters));
      }
  EXPECT_EQ(cases.run(), "");
}

// Odd and even planes, edges of every kind, more and fewer images than threads, blocks of every size.
// Small planes that are copied, filtered and finished some together; the last group has fewer.
TEST(Convolution, SmallDepthwisePlanesTogether) {
  const std::vector<std::pair<std::string, Window>> windows = {
      {"7x7", {{7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}},
      {"6x9, uneven pads", {{6, 9}, {2, 3}, {1, 1}, {1, 1}, {0, 2}, {1, 0}, {0, 0}}},
      {"stride 2", {{9, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}},
      {"5x5, dilated", {{8, 8}, {5, 5}, {1, 1}, {2, 2}, {4, 4}, {4, 4}, {0, 0}}},
      {"3d", {{3, 4, 5}, {3, 3, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}, {1, 1, 0}, {0, 0, 0}}},
  };
  CompiledCases cases;
  for (const auto& [label, window] : windows)
    for (const long filters : {1, 2}) {
      const Convolution c = convolution(3, 15, 1, filters, window, false);
      const ContractionSchedule s = first_schedule(c, small_machine(), 2);
      const auto code = emit_convolution(c, s);
      ASSERT_TRUE(code) << label;
      EXPECT_NE(code->definitions.find("kPlanesAtOnce = "), std::string::npos) << label;
      add(cases, c, s, fmt::format("{}, {} filters", label, filters));
    }
  EXPECT_EQ(cases.run(), "");
}

TEST(Convolution, WinogradsWay) {
  CompiledCases cases;
  const std::vector<std::pair<std::string, Window>> windows = {
      {"bare", {{10, 18}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}}},
      {"odd", {{9, 41}, {3, 3}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {0, 0}}},
      {"padded", {{9, 34}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}}},
      {"uneven pads", {{8, 9}, {3, 3}, {1, 1}, {1, 1}, {0, 2}, {1, 1}, {0, 0}}},
      {"3d", {{4, 7, 19}, {3, 3, 3}, {1, 1, 1}, {1, 1, 1}, {1, 0, 1}, {0, 1, 1}, {0, 0, 0}}},
      {"two planes", {{3, 6, 10}, {2, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}}},
  };
  for (const auto& [label, window] : windows)
    for (const bool transposed : {false, true})
      for (const long images : {1, 2, 3}) {
        Convolution c = convolution(images, 1, 8 + images, 7 + 2 * images, window, transposed);
        c.w_param = true;
        ASSERT_TRUE(winograd_fits(c)) << label;
        ContractionSchedule s = winograd_schedule(first_schedule(c, small_machine(), 2));
        if (images == 2) s.block_m = 6, s.block_n = 16;
        add(cases, c, s, fmt::format("{} transposed {} images {}", label, transposed, images), 1e-5);
      }
  EXPECT_EQ(cases.run(), "");
}

TEST(Convolution, WinogradsWayIsOfferedWhereItFits) {
  const Window& same = kWindows[3].second;
  Convolution c = convolution(2, 1, 16, 16, same, false);
  const ContractionSchedule first = first_schedule(c, small_machine(), 2);
  const auto moves = neighbours(first, c, small_machine());
  ASSERT_FALSE(moves.empty());
  EXPECT_EQ(moves[0].name, "winograd");
  const auto again = contraction_schedule_from_json(to_json(moves[0].schedule));
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->winograd);
  // From there: other blocks, and back.
  const auto back = neighbours(*again, c, small_machine());
  ASSERT_FALSE(back.empty());
  EXPECT_EQ(to_json(back.back().schedule), to_json(first));
  for (const ScheduleMove& move : back) EXPECT_TRUE(emit_convolution(c, move.schedule)) << move.name;
  const auto offered = [](const Convolution& other) {
    const auto found = neighbours(first_schedule(other, small_machine(), 2), other, small_machine());
    return std::ranges::any_of(found, [](const ScheduleMove& move) { return move.schedule.winograd; });
  };
  EXPECT_FALSE(offered(convolution(2, 1, 16, 16, kWindows[6].second, false)));  // a stride
  EXPECT_FALSE(offered(convolution(2, 2, 16, 16, same, false)));                // groups
  EXPECT_FALSE(offered(convolution(2, 1, 3, 16, same, false)));                 // few channels
  c.w_param = false;  // filters that change from call to call
  EXPECT_FALSE(offered(c));
  EXPECT_FALSE(emit_convolution(c, moves[0].schedule));
}

}  // namespace
}  // namespace kforge::smith
