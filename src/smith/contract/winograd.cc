// Where it fits, its schedules, and its constants; the method itself is kernels/contraction/winograd.h.
#include "smith/contract/winograd.h"

#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/config_text.h"
#include "smith/expr/whole_numbers.h"

namespace kforge::smith {

namespace {

struct WinogradGeometry {
  std::vector<long> kernel, out, begins;  // three entries each
  long tile_rows = 1, tile_columns = 1;   // tiles of 2 x 2 results that cover a plane
  StagedImage image;                      // even columns of a row, then odd ones

  explicit WinogradGeometry(const Convolution& c)
      : kernel(three(c.kernel, 1)), out(three(c.output, 1)), begins(three(c.begins, 0)) {
    if (c.transposed)
      for (std::size_t d = 0; d < 3; ++d) begins[d] = kernel[d] - 1 - begins[d];
    tile_rows = ceil_div(out[1], 2);
    tile_columns = ceil_div(out[2], 2);
    const std::vector<long> low = {-begins[0], -begins[1], -begins[2]};
    const std::vector<long> high = {low[0] + out[0] + kernel[0] - 2, low[1] + 2 * tile_rows + 1,
                                    low[2] + 2 * tile_columns + 1};
    image = plan_staging(low, high, 2);
  }
};

}  // namespace

bool winograd_fits(const Convolution& c) {
  const std::size_t rank = c.kernel.size();
  if (rank < 2 || c.groups != 1 || !c.w_param || has_phases(c)) return false;
  const auto ones = [](const std::vector<long>& list) {
    return std::ranges::all_of(list, [](long x) { return x == 1; });
  };
  if (!ones(c.strides) || !ones(c.dilations) || c.kernel[rank - 1] != 3 || c.kernel[rank - 2] != 3)
    return false;
  return c.channels >= 8 && c.filters >= 8 && c.output[rank - 1] >= 8 && c.output[rank - 2] >= 4;
}

ContractionSchedule winograd_schedule(const ContractionSchedule& plain) {
  ContractionSchedule s = plain;
  s.winograd = true;
  s.pixel_rows = false;
  s.stream = false;
  s.splits = 1;
  s.a = Packing::kPrepare;
  s.b = Packing::kInPlace;
  s.rows = s.lanes == 16 ? 12 : 6;
  s.vectors = 2;
  s.block_m = 4L * s.rows;
  s.block_n = 64;
  return s;
}

std::vector<ScheduleMove> winograd_neighbours(const ContractionSchedule& s, const Convolution& c,
                                              const ContractionSchedule& plain) {
  std::vector<ScheduleMove> moves;
  const auto blocks = [&](long ContractionSchedule::*side, long most, const char* name, const char* why) {
    for (const long size : {s.*side * 2, s.*side / 2}) {
      if (size < s.rows || size >= 2 * most) continue;
      ContractionSchedule next = s;
      next.*side = size;
      moves.push_back({fmt::format("{} {}", name, size), "tile", why, next});
    }
  };
  blocks(&ContractionSchedule::block_n, c.output[c.output.size() - 1] * c.output[c.output.size() - 2] / 4,
         "tiles", "filters are fetched for more tiles, or points stay nearer");
  blocks(&ContractionSchedule::block_m, c.filters, "filters",
         "points are fetched for more filters, or sums stay nearer");
  moves.push_back({"plain sums", "algorithm", "no transforms, all 36 products", plain});
  return moves;
}

Result<ContractionCode> emit_winograd(const Convolution& conv, const ContractionSchedule& s) {
  if (!winograd_fits(conv))
    return fail("only kernels of 3 x 3 with stride 1 can be filtered by Winograd's way");
  if (s.arithmetic != Arithmetic::kFp32 || s.stream || s.splits != 1)
    return fail("Winograd's way is computed in fp32, without streaming stores, k in one part");
  const WinogradGeometry g(conv);
  // What the micro-kernel sees: the channels of one point, tiles packed into whole panels.
  Contraction c = conv.contraction();
  ContractionSchedule inner = s;
  inner.a = Packing::kPrepare;
  inner.b = Packing::kCall;
  const long tile_n = s.tile_n(), tiles = ceil_div(g.tile_columns, tile_n) * tile_n;
  c.k = conv.channels * g.kernel[0];
  c.run = 0;
  c.n = tiles;
  c.b = matrix_operand(conv.x, c.n, c.k, false, 1, 0);
  KF_TRY_VOID(check(inner, c));
  const RowPanels rows = row_panels(c.m, s.rows);
  const long block_tile_rows = std::clamp<long>(s.block_n / tiles, 1, g.tile_rows);
  const long block_panels = std::clamp<long>(s.block_m / s.rows, 1, rows.panels);
  // 16 more than needed: the points of a tile do not fall on the same cache sets.
  const long point_stride = block_tile_rows * tiles * c.k + 16, sums_stride = block_tile_rows * tiles + 16;
  const long block_rows = block_panels * rows.tall;
  const long own = whole_cache_lines(16 * point_stride + 16 * sums_stride * block_rows +
                                     2 * block_tile_rows * g.out[2] + 2 * tiles + 64);
  const Staging staging = staging_of(conv, g.image);
  const bool staged_alone = staging.private_to_threads(s.threads);
  const long staged = whole_cache_lines(staging.floats());
  ContractionCode code;
  code.name = c.name;
  code.threads = s.threads;
  code.prepared_floats = whole_cache_lines(16 * rows.panels * rows.tall * c.k);
  code.scratch_floats = own * s.threads + staged * (staged_alone ? s.threads : staging.items);

  const std::string comment = fmt::format(
      R"(// {}
// Winograd's F(2 x 2, 3 x 3): 16 products for four results instead of 36. Filters are transformed once in prepare().
// Registers: a tile of {} rows x {} vectors of {} holds the sums of one point over {} channels. Caches: {} tiles and {}
// filters at a time, so that points and sums ({} KB) stay in L2 between the transforms.
)",
      c.what, rows.tall, s.vectors, s.lanes, c.k, block_tile_rows * tiles, block_rows, own * 4 / 1024);
  ConfigText text(c.name, conv.tensors);
  text.constants({{"kM", c.m}, {"kK", c.k}, {"kDepth", g.kernel[0]}, {"kBatch", c.batch}},
                 "k: channels x depth of the taps");
  text.tile(s, rows);
  text.line("static constexpr long kEdge = kTileN, kPanelsPerRun = 1, kColumnPanels = 1;");
  text.flag("kAnyWidth", true);
  text.constants({{"kBlockRowPanels", block_panels}, {"kBlockRows", block_rows}});
  text.constants({{"kOutD", g.out[0]}, {"kOutH", g.out[1]}, {"kOutW", g.out[2]}});
  text.constants({{"kTileRows", g.tile_rows}, {"kBlockTileRows", block_tile_rows}, {"kTiles", tiles}},
                 "tiles of 2 x 2: of a plane's height, of a block, of a row");
  text.constants({{"kPointStride", point_stride}, {"kSumsStride", sums_stride}});
  text.staged_image(staging);
  text.flag("kStagePrivate", staged_alone);
  text.constants({{"kThreads", s.threads}, {"kPerThread", own}, {"kStagedFloats", staged}});
  text.pointer("x", conv.x);
  const long taps = c.k / conv.channels * 9;
  text.line(
      "static SMITH_INLINE float weight(const Tensors& t, long filter, long channel, long kd, int tap) {");
  text.line(
      conv.transposed
          ? fmt::format("  return t.{0}[(channel * kM + filter) * {1} + {1} - 1 - (kd * 9 + tap)];", conv.w,
                        taps)
          : fmt::format("  return t.{}[(filter * kChannels + channel) * {} + kd * 9 + tap];", conv.w, taps));
  text.line("}");
  text.finish(c, inner);
  code.definitions = text.text(comment, "Winograd");
  code.headers = {"contraction/winograd.h"};
  code.summary =
      fmt::format("{}: Winograd's F(2 x 2, 3 x 3), tile {}x{}, blocks of {} tiles and {} filters, {} threads",
                  c.name, rows.tall, tile_n, block_tile_rows * tiles, block_rows, s.threads);
  return code;
}

}  // namespace kforge::smith
