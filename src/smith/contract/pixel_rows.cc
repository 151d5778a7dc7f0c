// Where it fits, its schedules, and its constants; the method itself is kernels/contraction/pixel_rows.h.
#include "smith/contract/pixel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "smith/contract/config_text.h"
#include "smith/contract/tile_cost.h"
#include "smith/expr/whole_numbers.h"

namespace kforge::smith {

namespace {

// How pixels fall into panels of at most a tile's rows.
struct PixelPanels {
  long tall = 1, low = 0;                                 // pixels of a panel, of which there are two kinds
  long per_run = 1, tall_per_run = 1, run = 1, runs = 1;  // panels of a run of pixels
  long row = 1;                                           // pixels of a row of the image
  long tall_count = 1, low_count = 0;

  long panels() const { return runs * per_run; }
};
PixelPanels pixel_panels(const Contraction& c, int most) {
  PixelPanels p;
  p.row = c.run_length();
  const long rows = c.n / p.row;
  // Rows of one plane only: those of the next lie at another distance.
  const bool one_plane = c.run > 0 && merged({c.b.side[0], c.b.side[1]}).size() <= 1;
  const long together = one_plane ? std::clamp<long>(most / p.row, 1, rows) : 1;
  if (together > 1) {
    p.runs = ceil_div(rows, together);
    p.run = p.tall = together * p.row;
    p.low = rows % together * p.row;
    p.low_count = p.low > 0 ? 1 : 0;
    p.tall_count = p.runs - p.low_count;
    return p;
  }
  p.runs = rows;
  p.run = p.row;
  p.per_run = ceil_div(p.row, most);
  p.tall = ceil_div(p.row, p.per_run);
  p.tall_per_run = p.row - p.per_run * (p.tall - 1);
  p.low = p.tall_per_run < p.per_run ? p.tall - 1 : 0;
  p.tall_count = p.runs * p.tall_per_run;
  p.low_count = p.runs * (p.per_run - p.tall_per_run);
  return p;
}

long pixel_at(const PixelPanels& p, long panel) {
  const long i = panel % p.per_run;
  return panel / p.per_run * p.run +
         (i < p.tall_per_run ? i * p.tall : p.tall_per_run * p.tall + (i - p.tall_per_run) * p.low);
}

// Floats of one image as it is read.
long image_floats(const Convolution& conv, const Contraction& c) {
  return c.run > 0 ? staged_copy(conv).floats() : conv.channels * c.n;
}

long floats_of_cache(const Machine& machine, int level, long otherwise) {
  for (const CacheLevel& cache : machine.caches)
    if (cache.level == level && cache.bytes > 0) return static_cast<long>(cache.bytes / sizeof(float));
  return otherwise;
}

}  // namespace

bool pixel_rows_fit(const Convolution& c) {
  return c.groups == 1 && c.w_param && !has_phases(c) && c.channels > 1;
}

ContractionSchedule pixel_rows_schedule(const Convolution& conv, const Machine& machine, int threads) {
  const Contraction c = conv.contraction();
  ContractionSchedule s;
  s.pixel_rows = true;
  s.threads = threads;
  s.a = Packing::kPrepare, s.b = Packing::kInPlace;
  s.lanes = machine.features.contains("avx512f") ? 16 : machine.features.contains("avx2") ? 8 : 4;
  s.rows = s.lanes == 16 ? 14 : 6, s.vectors = 2;
  const long l1 = floats_of_cache(machine, 1, 8 << 10), l2 = floats_of_cache(machine, 2, 128 << 10);
  // Equal slices of k whose filters leave L1 some room for pixels; also no longer chains of sums.
  const long most_k = std::clamp<long>(l1 * 2 / 3 / s.tile_n(), 64, 384);
  s.block_k = std::min(c.k, round_up(ceil_div(c.k, ceil_div(c.k, most_k)), 8));
  // Images that L2 holds with their sums, some of them together: filters pass by once for all of them.
  const long image = image_floats(conv, c) + c.n * s.tile_n();
  const long fit = l2 / 2 / image, filter_panels = ceil_div(c.m, s.tile_n());
  long blocks = 1;
  if (fit >= 1) {
    long groups = ceil_div(conv.images, fit);
    if (conv.images >= threads) groups = std::min(conv.images, round_up(groups, threads));
    const long together = ceil_div(conv.images, groups);
    s.block_n = together * c.n;
    blocks = ceil_div(conv.images, together);
  } else {
    // A part of one image.
    blocks = std::min(ceil_div(image, l2 / 2), pixel_panels(c, s.rows).panels());
    s.block_n = ceil_div(c.n, blocks);
    blocks *= conv.images;
  }
  // Threads that images do not keep busy share out the filters.
  const long shares = blocks % threads == 0 ? 1 : std::min<long>(filter_panels, 2L * threads);
  s.block_m = ceil_div(filter_panels, shares) * s.tile_n();
  return s;
}

double pixel_rows_cost(const Convolution& conv, const ContractionSchedule& s,
                       const ContractionSchedule& plain) {
  const Contraction c = conv.contraction();
  const PixelPanels p = pixel_panels(c, s.rows);
  const auto per_element = [&](double cycles) { return cycles / static_cast<double>(c.m * c.n); };
  double ours = per_element(static_cast<double>(ceil_div(c.m, s.tile_n())) *
                            (static_cast<double>(p.tall_count) * tile_cycles(p.tall, s.vectors) +
                             static_cast<double>(p.low_count) * tile_cycles(p.low, s.vectors)));
  // Rows of taps in the padding are left out, as far as panels are of one row.
  if (c.tap_rows && p.row >= p.tall) ours *= c.tap_rows->useful();
  // Sums are turned round at the end: shuffles, loads and stores for each.
  ours += (std::log2(s.lanes) + 4) / s.lanes / static_cast<double>(c.k);
  const long run = plain.b == Packing::kInPlace ? c.run_length() : c.n;
  double theirs = tile_cost(plain.rows, plain.vectors, plain.lanes, run) / static_cast<double>(run);
  if (plain.b == Packing::kBlock)
    theirs += image_packing_cost(plain.lanes, c.m);
  else if (c.run > 0)
    theirs *= in_place_factor(c.scattered);
  return ours / theirs;
}

std::vector<ScheduleMove> pixel_rows_neighbours(const ContractionSchedule& s, const Convolution& conv,
                                                const ContractionSchedule& plain) {
  const Contraction c = conv.contraction();
  std::vector<ScheduleMove> moves;
  const auto add = [&](std::string name, const char* tag, const char* why, const ContractionSchedule& next) {
    if (check(next, c)) moves.push_back({std::move(name), tag, why, next});
  };
  ContractionSchedule next = plain;
  next.pixel_rows = false;
  add("columns of pixels", "algorithm", "sums need not be turned round", next);
  for (const long block_k : {s.block_k * 2, s.block_k / 2}) {
    if (block_k < 32 || block_k >= 2 * c.k) continue;
    next = s;
    next.block_k = block_k;
    add(fmt::format("block_k {}", block_k), "tile",
        block_k > s.block_k ? "sums leave the registers less often" : "filters leave more room in L1", next);
  }
  for (const long block_n : {s.block_n * 2, s.block_n / 2}) {
    if (block_n < s.rows || block_n >= 2 * c.n * c.batch) continue;
    next = s;
    next.block_n = block_n;
    add(fmt::format("block_n {}", block_n), "tile",
        block_n > s.block_n ? "filters are fetched for more pixels" : "pixels and sums stay nearer", next);
  }
  const std::vector<std::pair<int, int>> tiles =
      s.lanes == 16 ? std::vector<std::pair<int, int>>{{14, 2}, {7, 4}, {9, 3}, {28, 1}}
                    : std::vector<std::pair<int, int>>{{6, 2}, {4, 3}, {3, 4}, {12, 1}};
  for (const auto& [rows, vectors] : tiles) {
    if (rows == s.rows && vectors == s.vectors) continue;
    next = s;
    next.rows = rows, next.vectors = vectors;
    next.block_m = round_up(s.block_m, next.tile_n());
    add(fmt::format("tile {}x{}", rows, vectors), "tile",
        "another shape of the register tile may leave less at the edges", next);
  }
  return moves;
}

Result<ContractionCode> emit_pixel_rows(const Convolution& conv, const ContractionSchedule& s) {
  const Contraction c = conv.contraction();
  if (!pixel_rows_fit(conv))
    return fail("pixels are rows of a tile only with one group of filters that are known before the call");
  if (s.arithmetic != Arithmetic::kFp32 || s.stream || s.splits != 1 || s.winograd ||
      s.a != Packing::kPrepare || s.b != Packing::kInPlace)
    return fail(
        "pixels as rows of a tile: fp32, filters packed in prepare, images in place, plain stores, k in one "
        "part");
  KF_TRY_VOID(check(s, c));
  const PixelPanels p = pixel_panels(c, s.rows);
  const long tile_n = s.tile_n(), filter_panels = ceil_div(c.m, tile_n), panels = p.panels();
  const long images = std::clamp<long>(s.block_n / c.n, 1, conv.images);
  const long block_panels = s.block_n >= c.n ? panels : std::clamp<long>(s.block_n / p.tall, 1, panels);
  const long block_filters = std::clamp<long>(s.block_m / tile_n, 1, filter_panels);
  const long block_k = std::min(s.block_k, c.k);
  // The longest block: panels of a run differ by one pixel, and a block may begin anywhere.
  long block_pixels = 0;
  for (long panel = 0; panel < panels; panel += block_panels) {
    const long end = panel + block_panels;
    block_pixels = std::max(block_pixels, (end < panels ? pixel_at(p, end) : c.n) - pixel_at(p, panel));
  }
  const bool staged = c.run > 0;
  const Staging staging = staged ? staged_copy(conv) : Staging{};
  const long copy = staged ? whole_cache_lines(staging.floats()) : 0;
  const bool own_copies =
      staged && block_filters == filter_panels && ceil_div(conv.images, images) % s.threads == 0;
  const long sums = whole_cache_lines(images * block_pixels * tile_n),
             lines = whole_cache_lines(s.lanes * (round_up(block_pixels, s.lanes) + s.lanes));
  const long shared = staged && !own_copies ? conv.images * copy : 0;
  const long own = sums + lines + (own_copies ? images * copy : 0);
  ContractionCode code;
  code.name = c.name;
  code.threads = s.threads;
  code.prepared_floats = whole_cache_lines(filter_panels * tile_n * c.k);
  code.scratch_floats = shared + own * s.threads;
  const long blocks =
      ceil_div(conv.images, images) * ceil_div(panels, block_panels) * ceil_div(filter_panels, block_filters);
  const std::string comment = fmt::format(
      R"(// {}
// {} filters, {} pixels, k = {}{}: {:.3g} Gflop, limited by arithmetic unless a dimension is small.
//
// Registers: a tile of {} pixels x {} vectors of {} filters. Pixels are broadcast from {}; filters are packed once in prepare().
// Caches: {} steps of k of a panel of filters ({} KB) stay in L1 for all {} pixels of a block, the next ones are fetched meanwhile.
// Threads: {} share {} blocks.
)",
      c.what, c.m, c.n, c.k, c.batch > 1 ? fmt::format(", {} images", c.batch) : "", c.flops() / 1e9, p.tall,
      s.vectors, s.lanes, staged ? "a padded copy of the image" : "the image", block_k,
      block_k * tile_n * 4 / 1024, images * block_pixels, s.threads, blocks);
  ConfigText text(c.name, c.tensors);
  text.constants({{"kM", c.m}, {"kN", c.n}, {"kK", c.k}, {"kBatch", c.batch}});
  text.line(
      fmt::format("static_assert(kLanes == {0}, \"the schedule is for vectors of {0} floats\");", s.lanes));
  text.constants({{"kTall", p.tall}, {"kLow", p.low}, {"kVectors", s.vectors}},
                 "the register tile: pixels, of panels of two kinds, and vectors of filters");
  text.line("static constexpr long kTileN = kVectors * kLanes;");
  text.constants({{"kPanels", panels},
                  {"kPanelsPerRun", p.per_run},
                  {"kTallPerRun", p.tall_per_run},
                  {"kRunPixels", p.run}});
  text.constants({{"kRowPixels", p.row}, {"kRowOffset", staged ? c.b.side[1].stride : 0}},
                 "a row of the image, and where the next one begins");
  text.constants({{"kFilterPanels", filter_panels}, {"kBlockFilterPanels", block_filters}});
  text.constants({{"kBlockImages", images},
                  {"kBlockPanels", block_panels},
                  {"kBlockPixels", block_pixels},
                  {"kBlockK", block_k}});
  if (c.tap_rows) text.tap_rows(*c.tap_rows);
  text.flag("kAnyWidth", true);
  text.flag("kOffsetTable", !depth_is_linear(c.b));
  text.operand(c.a, 'a', s.a, true, c.tensors);
  text.operand(c.b, 'b', s.b, false, c.tensors);
  text.pointer("x", conv.x);
  if (staged) {
    text.staged_image(staging);
    text.constants({{"kStagedFloats", copy}});
    text.flag("kStaged", true);
    text.flag("kStagePrivate", own_copies);
  }
  text.offsets({{"kThreadScratch", shared},
                {"kPerThread", own},
                {"kLines", sums},
                {"kOwnStaged", own_copies ? sums + lines : 0}},
               "where buffers begin");
  text.finish(c, s);
  code.definitions = text.text(comment, "PixelRows");
  code.headers = std::move(text.headers);
  code.headers.insert("contraction/pixel_rows.h");
  code.summary = fmt::format(
      "{}: pixels as rows of tiles of {}x{}, blocks of {} pixels, {} filters and {} steps of k, "
      "{} thread{}",
      c.name, p.tall, tile_n, images * block_pixels, block_filters * tile_n, block_k, s.threads,
      s.threads == 1 ? "" : "s");
  return code;
}

}  // namespace kforge::smith
