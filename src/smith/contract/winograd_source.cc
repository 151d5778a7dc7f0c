// F(2 x 2, 3 x 3): four results of a 3 x 3 kernel, which are 36 products, from 16. A tile of 4 x 4 inputs and
// the filter are each transformed by additions (the filter once, before the first call), multiplied point by
// point, and the products of all channels transformed back. For each of the 16 points the sum over channels
// is a product of matrices: filters x channels times channels x tiles, which the micro-kernel does.
//
// The transforms multiply by 1, 1/2 and 1/4 only: whole numbers stay exact. Rounding errors are about twice
// those of the plain sum; larger tiles, which save more, lose digits that policy fp32 asks for.
#include "smith/contract/winograd_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/staging.h"
#include "smith/contract/tile_source.h"

namespace kforge::smith {

namespace {

long ceil_div(long a, long b) { return (a + b - 1) / b; }
long lines(long floats) { return ceil_div(floats, 16) * 16; }

struct Geometry {
  std::vector<long> kernel, out, begins;  // three entries each
  long tile_rows = 1, tile_columns = 1;   // tiles of 2 x 2 results that cover a plane
  StagedImage image;                      // even columns of a row, then odd ones

  explicit Geometry(const Convolution& c)
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

// Even and odd columns become neighbours: lanes of two vectors in turn.
std::string alternate_lanes(int lanes, int half) {
  std::string text;
  for (int lane = 0; lane < lanes; ++lane) {
    const int from = half * lanes / 2 + lane / 2 + (lane % 2) * lanes;
    text += fmt::format("{}{}", lane ? ", " : "", from);
  }
  return text;
}

std::string filter_source(const Convolution& c) {
  const long taps = c.kernel.size() == 3 ? 9 * c.kernel[0] : 9;
  const std::string at = c.transposed
                             ? fmt::format("(channel * kM + filter) * {0} + {0} - 1 - (kd * 9 + tap)", taps)
                             : fmt::format("(filter * kChannels + channel) * {} + kd * 9 + tap", taps);
  return fmt::format(R"(
// The filters of one panel, transformed: for each point, out[k][i].
void transform_filters(const Tensors& t, long panel, float* prepared) {{
  const int rows = panel_rows(panel);
  for (int i = 0; i < rows; ++i)
    for (long k = 0; k < kK; ++k) {{
      const long filter = panel_row(panel) + i, channel = k / kDepth, kd = k % kDepth;
      double g[9], half[4][3];
      for (int tap = 0; tap < 9; ++tap) g[tap] = t.{}[{}];
      for (int j = 0; j < 3; ++j) {{
        half[0][j] = g[j];
        half[1][j] = (g[j] + g[3 + j] + g[6 + j]) / 2;
        half[2][j] = (g[j] - g[3 + j] + g[6 + j]) / 2;
        half[3][j] = g[6 + j];
      }}
      for (int row = 0; row < 4; ++row) {{
        const double* const h = half[row];
        const double points[4] = {{h[0], (h[0] + h[1] + h[2]) / 2, (h[0] - h[1] + h[2]) / 2, h[2]}};
        for (int column = 0; column < 4; ++column)
          prepared[((row * 4 + column) * kRowPanels + panel) * kRows * kK + k * rows + i] = (float)points[column];
      }}
    }}
}}
)",
                     c.w, at);
}

constexpr std::string_view kTransforms = R"(
// Tiles of tile rows [first_row, last_row) of output plane d: points[point][panel][k][tile].
void transform_input(const float* staged, long d, long first_row, long last_row, float* points) {
  for (long row = first_row; row < last_row; ++row)
    for (long k = 0; k < kK; ++k) {
      const float* const top = staged + k / kDepth * kChannelStride + (d + k % kDepth) * kPlaneStride + 2 * row * kRowStride;
      for (long tile = 0; tile < kTiles; tile += kLanes) {
        Vec half[4][4];
        // Down the columns 2i, 2i + 1, 2i + 2 and 2i + 3 of the tiles.
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
          const float* const column = top + j % 2 * kStagedW + j / 2 + tile;
          const Vec x0 = load_vec(column), x1 = load_vec(column + kRowStride);
          const Vec x2 = load_vec(column + 2 * kRowStride), x3 = load_vec(column + 3 * kRowStride);
          half[0][j] = x0 - x2, half[1][j] = x1 + x2, half[2][j] = x2 - x1, half[3][j] = x1 - x3;
        }
        float* const out = points + (((row - first_row) * kTiles + tile) / kTileN * kK + k) * kTileN + tile % kTileN;
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          const Vec* const x = half[i];
          store_vec(out + (i * 4 + 0) * kPointStride, x[0] - x[2]);
          store_vec(out + (i * 4 + 1) * kPointStride, x[1] + x[2]);
          store_vec(out + (i * 4 + 2) * kPointStride, x[2] - x[1]);
          store_vec(out + (i * 4 + 3) * kPointStride, x[1] - x[3]);
        }
      }
    }
}

// One filter's sums, transformed back: two rows of results for every row of tiles, one behind the other.
inline void transform_back(const float* sums, long tile_rows, float* line) {
  alignas(64) float second[2 * kTiles];
  for (long row = 0; row < tile_rows; ++row) {
    float* const upper = line + 2 * row * kOutW;
    for (long tile = 0; tile < kTiles; tile += kLanes) {
      const float* const from = sums + row * kTiles + tile;
      Vec above[4], below[4];
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        const Vec m0 = load_vec(from + j * kSumsStride), m1 = load_vec(from + (4 + j) * kSumsStride);
        const Vec m2 = load_vec(from + (8 + j) * kSumsStride), m3 = load_vec(from + (12 + j) * kSumsStride);
        above[j] = m0 + m1 + m2, below[j] = m1 - m2 - m3;
      }
      store_pair(upper + 2 * tile, above[0] + above[1] + above[2], above[1] - above[2] - above[3]);
      store_pair(second + 2 * tile, below[0] + below[1] + below[2], below[1] - below[2] - below[3]);
    }
    std::memcpy(upper + kOutW, second, kOutW * sizeof(float));
  }
}

// Tile rows [first_row, last_row) of one output plane of one image.
void filter_rows(const Tensors& t, long batch, long d, long first_row, long last_row, const float* filters, const float* staged, float* mine) {
  float* const points = mine;
  float* const sums = points + 16 * kPointStride;
  float* const line = sums + 16 * kSumsStride * kBlockRows;
  transform_input(staged, d, first_row, last_row, points);
  const long panels = (last_row - first_row) * kTiles / kTileN, first = 2 * first_row;
  const long rows_of_results = kOutH - first < 2 * (last_row - first_row) ? kOutH - first : 2 * (last_row - first_row);
  for (long first_panel = 0; first_panel < kRowPanels; first_panel += kBlockPanels) {
    const long last_panel = first_panel + kBlockPanels < kRowPanels ? first_panel + kBlockPanels : kRowPanels;
    for (long point = 0; point < 16; ++point)
      for (long panel = first_panel; panel < last_panel; ++panel)
        for (long tiles = 0; tiles < panels; ++tiles)
          multiply_any(panel_rows(panel), false, kK, filters + (point * kRowPanels + panel) * kRows * kK,
                       points + point * kPointStride + tiles * kK * kTileN, true,
                       sums + (panel_row(panel) - panel_row(first_panel)) * 16 * kSumsStride + point * kSumsStride + tiles * kTileN,
                       16 * kSumsStride);
    const long first_filter = panel_row(first_panel), last_filter = panel_row(last_panel - 1) + panel_rows(last_panel - 1);
    for (long filter = first_filter; filter < last_filter; ++filter) {
      transform_back(sums + (filter - first_filter) * 16 * kSumsStride, last_row - first_row, line);
      finish_tile(t, batch, filter, (d * kOutH + first) * kOutW, line, 0, 1, rows_of_results * kOutW);
    }
  }
}

void prepare(const Tensors& t, float* prepared) {
#pragma omp parallel for schedule(static)
  for (long panel = 0; panel < kRowPanels; ++panel) transform_filters(t, panel, prepared);
}
)";

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
  const Geometry g(conv);
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
  const RowPanels rows = deal_rows(c.m, s.rows);
  const long block_tile_rows = std::clamp<long>(s.block_n / tiles, 1, g.tile_rows);
  const long block_panels = std::clamp<long>(s.block_m / s.rows, 1, rows.panels);
  // 16 more than needed: the points of a tile do not fall on the same cache sets.
  const long point_stride = block_tile_rows * tiles * c.k + 16, sums_stride = block_tile_rows * tiles + 16;
  const long block_rows = block_panels * rows.tall;
  const long own = lines(16 * point_stride + 16 * sums_stride * block_rows + 2 * block_tile_rows * g.out[2] +
                         2 * tiles + 64);
  const Staging staging = staging_of(conv, g.image);
  const bool staged_alone = staging.items % s.threads == 0 || staging.items >= 4L * s.threads;
  const long staged = lines(staging.floats);
  ContractionCode code;
  code.name = c.name;
  code.prepared_floats = lines(16 * rows.panels * rows.tall * c.k);
  code.scratch_floats = own * s.threads + staged * (staged_alone ? s.threads : staging.items);

  std::string text = fmt::format(R"(// {}
// Winograd's F(2 x 2, 3 x 3): 16 products for four results instead of 36. Filters are transformed once in prepare().
// Registers: a tile of {} rows x {} vectors of {} holds the sums of one point over {} channels. Caches: {} tiles and {}
// filters at a time, so that points and sums ({} KB) stay in L2 between the transforms.
namespace {} {{

)",
                                 c.what, rows.tall, s.vectors, s.lanes, c.k, block_tile_rows * tiles,
                                 block_rows, own * 4 / 1024, c.name);
  text += tensors_struct(conv.tensors) + "\n";
  text += fmt::format(
      R"(constexpr long kM = {}, kChannels = {}, kDepth = {}, kK = kChannels * kDepth, kBatch = {};
constexpr int kLanes = {}, kVectors = {}, kRows = {};
constexpr long kTileN = kVectors * kLanes;
constexpr long kRowPanels = {}, kBlockPanels = {}, kBlockRows = {};
constexpr long kOutD = {}, kOutH = {}, kOutW = {};
constexpr long kTileRows = {}, kBlockTileRows = {}, kTiles = {};  // tiles of 2 x 2: of a plane's height, of a block, of a row
constexpr long kPointStride = {}, kSumsStride = {};
constexpr long kChannelStride = {}, kPlaneStride = {}, kRowStride = {};
constexpr int kThreads = {};
constexpr long kPreparedFloats = {}, kScratchFloats = {};

)",
      c.m, conv.channels, g.kernel[0], c.batch, s.lanes, s.vectors, rows.tall, rows.panels, block_panels,
      block_rows, g.out[0], g.out[1], g.out[2], g.tile_rows, block_tile_rows, tiles, point_stride,
      sums_stride, g.image.channel, g.image.plane, g.image.row, s.threads, code.prepared_floats,
      code.scratch_floats);
  text += vector_source(s.lanes);
  text += row_panel_functions(rows);
  text += filter_source(conv);
  text += staging.function;
  text += micro_kernel_source(c, inner);
  text += finish_source(c, inner, true);
  text += fmt::format(R"(
inline void store_pair(float* out, Vec even, Vec odd) {{
  store_vec(out, __builtin_shufflevector(even, odd, {}));
  store_vec(out + kLanes, __builtin_shufflevector(even, odd, {}));
}}
)",
                      alternate_lanes(s.lanes, 0), alternate_lanes(s.lanes, 1));
  text += kTransforms;
  text += fmt::format(R"(
// Called by every thread of a team of at most kThreads.
void work(const Tensors& t, const float* prepared, float* scratch) {{
  float* const mine = scratch + omp_get_thread_num() * {0}L;
)",
                      own);
  if (staged_alone)
    text += fmt::format(R"(  float* const staged = scratch + kThreads * {0}L + omp_get_thread_num() * {1}L;
#pragma omp for schedule(dynamic)
  for (long batch = 0; batch < kBatch; ++batch) {{
    stage_item(t, batch, 0, kStagePieces, staged);
    for (long d = 0; d < kOutD; ++d)
      for (long row = 0; row < kTileRows; row += kBlockTileRows)
        filter_rows(t, batch, d, row, row + kBlockTileRows < kTileRows ? row + kBlockTileRows : kTileRows, prepared, staged, mine);
  }}
}}
)",
                        own, staged);
  else
    text += fmt::format(R"(  float* const all_staged = scratch + kThreads * {0}L;
#pragma omp for schedule(static)
  for (long piece = 0; piece < kBatch * kStagePieces; ++piece)
    stage_item(t, piece / kStagePieces, piece % kStagePieces, piece % kStagePieces + 1, all_staged + piece / kStagePieces * {1}L);
#pragma omp for schedule(dynamic) collapse(3)
  for (long batch = 0; batch < kBatch; ++batch)
    for (long d = 0; d < kOutD; ++d)
      for (long row = 0; row < kTileRows; row += kBlockTileRows)
        filter_rows(t, batch, d, row, row + kBlockTileRows < kTileRows ? row + kBlockTileRows : kTileRows, prepared,
                    all_staged + batch * {1}L, mine);
}}
)",
                        own, staged);
  text += end_of_code(c.name);
  code.definitions = std::move(text);
  code.story =
      fmt::format("{}: Winograd's F(2 x 2, 3 x 3), tile {}x{}, blocks of {} tiles and {} filters, {} threads",
                  c.name, rows.tall, tile_n, block_tile_rows * tiles, block_rows, s.threads);
  return code;
}

}  // namespace kforge::smith
