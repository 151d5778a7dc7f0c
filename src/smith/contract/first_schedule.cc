// The analytic guess, and the steps away from it that a search may try.
//
// The micro-kernel holds a tile of c in registers and walks along k. Per step it loads `vectors` vectors of b
// and broadcasts `rows` values of a for rows * vectors multiply-adds; the tile is as large as the register
// file allows, so that loads stay below half of what a core can do. Around it:
//   - a slice of a panel of b (block_k x tile) fills about half of L1 and is used by every row panel of a
//   block;
//   - panels of a stream from L2, where the block's part of a (block_m x block_k) lies;
//   - the block's sums (block_m x block_n) stay in L2 too until k is done, then become the result.
// Where all rows fit one block, b is packed panel by panel on its way from memory to L1 and never written
// back.
#include <algorithm>
#include <cmath>

#include "smith/contract/block_grid.h"
#include "smith/contract/contraction_schedule.h"
#include "smith/contract/predict.h"
#include "smith/contract/tile_cost.h"
#include "smith/expr/whole_numbers.h"

namespace kforge::smith {

namespace {

std::size_t cache_bytes(const Machine& machine, int level, std::size_t otherwise) {
  for (const CacheLevel& cache : machine.caches)
    if (cache.level == level) return cache.bytes;
  return otherwise;
}

// For columns that lie in runs of `run`.
void choose_tile(ContractionSchedule& s, const Contraction& c, const Machine& machine, long run) {
  s.lanes = machine.features.contains("avx512f") ? 16 : machine.features.contains("avx2") ? 8 : 4;
  const int registers = s.lanes == 16 ? 32 : 16;
  s.rows = registers == 32 ? 12 : 6, s.vectors = 2;
  if (c.m < s.rows) {
    // Few rows: a wider tile instead, so that enough independent sums hide the latency of the multiply-add.
    s.rows = static_cast<int>(c.m);
    const int most = (registers - 1) / (s.rows + 1);
    const int wanted = static_cast<int>(ceil_div(run, s.lanes));
    s.vectors = std::clamp(std::min(most, wanted), 1, 4);
    return;
  }
  // Some rows more, and a large b that passes by once: one tile that takes all of them.
  if (c.m > s.rows && c.m <= registers - 4 && large_matrix(c.b, c)) {
    s.rows = static_cast<int>(c.m), s.vectors = 1;
    return;
  }
  // Short runs of columns: the shape that leaves least at their ends.
  const std::vector<std::pair<int, int>> shapes =
      registers == 32 ? std::vector<std::pair<int, int>>{{12, 2}, {8, 3}, {6, 4}, {24, 1}}
                      : std::vector<std::pair<int, int>>{{6, 2}, {4, 3}, {12, 1}};
  double best = tile_cost(s.rows, s.vectors, s.lanes, run);
  for (const auto& [most_rows, vectors] : shapes) {
    const int rows = vectors == 1 ? static_cast<int>(std::min<long>(most_rows, c.m)) : most_rows;
    if (rows > c.m) continue;
    const double cost = tile_cost(rows, vectors, s.lanes, run);
    if (cost < 0.97 * best) best = cost, s.rows = rows, s.vectors = vectors;
  }
}

bool is_plain(const Operand& operand) {
  return operand.dtype == DType::kFloat32 && operand.element.empty() && is_linear(operand.side) &&
         depth_is_linear(operand);
}

// So short a k that writing the result takes a good part of the time: row by row then, along its memory.
bool mostly_writes(const Contraction& c) { return c.k <= kTinyDepth && c.batch == 1 && c.n >= 256; }

// Columns of an image: packed panels waste nothing at the ends of its rows, are read aligned and fill L1 with
// nothing else; packing takes some cycles per step of k for all rows together.
void choose_image_packing(ContractionSchedule& s, const Contraction& c, const Machine& machine) {
  s.b = Packing::kInPlace;
  if (c.phases) return;
  ContractionSchedule packed = s;
  choose_tile(packed, c, machine, c.n);
  const auto cost = [&](const ContractionSchedule& with, long run) {
    return tile_cost(with.rows, with.vectors, with.lanes, run) / static_cast<double>(run);
  };
  if (cost(packed, c.n) + image_packing_cost(s.lanes, c.m) >= cost(s, c.run) * in_place_factor(c.scattered))
    return;
  s = packed;
  s.b = Packing::kBlock;
}

void choose_packing(ContractionSchedule& s, const Contraction& c, const Machine& machine) {
  const auto packed = [](const Operand& operand) {
    return operand.param ? Packing::kPrepare : Packing::kCall;
  };
  const bool b_rows = c.b.dtype == DType::kFloat32 && c.b.element.empty() && linear_stride(c.b.side) == 1;
  s.a = packed(c.a);
  s.b = packed(c.b);
  // A batch of small products: each thread packs what it is about to use, so that it stays in its own cache.
  // What several items share is packed once.
  if (c.batch > 1 && s.a == Packing::kCall && own_items(c.a) == c.batch) s.a = Packing::kBlock;
  // A panel of b is packed just before its use where all rows of the result use it at once: one block then
  // covers them, with its slice of a in half of L2.
  const long l2 = static_cast<long>(cache_bytes(machine, 2, 512 << 10) / sizeof(float));
  const bool own_b = c.batch == 1 || own_items(c.b) == c.batch;
  if (s.b == Packing::kCall && own_b && c.m * std::min(c.k, 256L) <= l2 / 2 && !mostly_writes(c))
    s.b = Packing::kBlock;
  if (c.run > 0) choose_image_packing(s, c, machine);
  // Packing costs about a cycle per element; each is then used by n (or m) / (2 * lanes) multiply-adds. Where
  // that is little, read in place.
  if (s.a != Packing::kPrepare && is_plain(c.a) && c.n <= 12L * s.lanes) s.a = Packing::kInPlace;
  if (s.b != Packing::kPrepare && c.run == 0 && b_rows && is_linear(c.b.side) && c.m <= 4L * s.rows)
    s.b = Packing::kInPlace;
}

// A long k above a small result: each thread takes a part of k, so that both operands are read once and
// packed slices never leave the cache.
bool splits_depth(const ContractionSchedule& s, const Contraction& c, long l2) {
  const bool both_move = s.a != Packing::kPrepare && s.b != Packing::kPrepare && c.run == 0;
  return s.threads > 1 && c.batch == 1 && both_move && c.k >= 2048L * s.threads && c.m >= s.rows &&
         c.m * c.n <= l2 / 3 && c.m * 256 <= l2 / 2;
}

void choose_blocks(ContractionSchedule& s, const Contraction& c, const Machine& machine) {
  const long l1 = static_cast<long>(cache_bytes(machine, 1, 32 << 10) / sizeof(float));
  const long l2 = static_cast<long>(cache_bytes(machine, 2, 512 << 10) / sizeof(float));
  const long tile_n = s.tile_n();
  // Equal slices of k, none longer than half of L1 allows.
  const long most_k = std::max<long>(64, l1 / 2 / tile_n);
  const long slices = ceil_div(c.k, most_k + most_k / 4);
  s.block_k = c.tap_rows ? c.tap_rows->steps : std::min(c.k, round_up(ceil_div(c.k, slices), 8));
  if (streams_b_once(c, s)) s.block_k = c.k;
  const long row_panels = ceil_div(c.m, s.rows), column_panels = ceil_div(c.n, tile_n);
  if (splits_depth(s, c, l2)) {
    s.splits = s.threads;
    const long part = ceil_div(c.k, s.splits);
    s.block_k = round_up(ceil_div(part, ceil_div(part, most_k)), 8);
    s.a = s.b = Packing::kBlock;
    s.block_m = row_panels * s.rows;
    s.block_n = column_panels * tile_n;
    return;
  }
  // A third of L2 for the block's part of a, nearly as much for its sums.
  const long most_m = std::max<long>(s.rows, l2 / 3 / std::max<long>(s.block_k, 1));
  const bool all_rows = s.b == Packing::kBlock;
  const long block_panels =
      all_rows ? row_panels : std::min({row_panels, std::max<long>(1, most_m / s.rows), 32L});
  const bool whole_depth = s.block_k >= c.k;
  const long sums_n = whole_depth ? 1024 : std::max<long>(tile_n, 3 * l2 / 10 / (block_panels * s.rows));
  const long block_n = std::clamp<long>(sums_n, tile_n, 1024);
  const long most_columns = std::clamp<long>(block_n / tile_n, 1, column_panels);
  const BlockGrid grid = even_blocks({.batch = c.batch,
                                      .row_panels = row_panels,
                                      .column_panels = column_panels,
                                      .most_rows = block_panels,
                                      .most_columns = most_columns,
                                      .threads = s.threads,
                                      .rows_together = all_rows});
  s.block_m = grid.rows * s.rows;
  s.block_n = grid.columns * tile_n;
}

}  // namespace

ContractionSchedule first_schedule(const Contraction& c, const Machine& machine, int threads,
                                   std::string_view precision) {
  ContractionSchedule s;
  // Waking a second thread costs some microseconds: worth it above about 20 us of work on one core.
  s.threads = c.flops() < 1e6 ? 1 : threads;
  choose_tile(s, c, machine, c.run_length());
  choose_packing(s, c, machine);
  choose_blocks(s, c, machine);
  // One block has all columns: its rows of a are read by nobody else, so whoever multiplies packs them, into
  // a cache of its own, and no thread waits for the others to have packed theirs.
  if (s.a == Packing::kCall && s.splits == 1 && c.batch == 1 && s.block_n >= c.n && c.run == 0)
    s.a = Packing::kBlock;
  const double bytes = 4.0 * static_cast<double>(c.batch * c.m * c.n);
  s.stream = c.stream_ok && bytes > 0.5 * static_cast<double>(machine.last_level_bytes()) &&
             c.run_length() % 16 == 0 && s.tile_n() % 16 == 0;  // whole lines only: parts of them cost a read
  const Arithmetic wanted = allowed_arithmetic(machine, precision).front();
  if (wanted != Arithmetic::kFp32 && c.m >= 32 && c.n >= 32 && c.k >= 32 && c.run == 0) {
    s.arithmetic = wanted;
    s.splits = 1;
    s.block_m = std::min<long>(round_up(c.m, 32), 256);
    s.block_n = std::min<long>(round_up(c.n, 32), 256);
    s.block_k = std::min<long>(round_up(c.k, 32), 256);
    s.a = c.a.param ? Packing::kPrepare : Packing::kCall;
    s.b = c.b.param ? Packing::kPrepare : Packing::kCall;
  }
  return s;
}

std::vector<ScheduleMove> neighbours(const ContractionSchedule& s, const Contraction& c,
                                     const Machine& machine, std::string_view precision) {
  std::vector<ScheduleMove> moves;
  const auto add = [&](std::string name, std::string tag, std::string why, const ContractionSchedule& next) {
    if (check(next, c)) moves.push_back({std::move(name), std::move(tag), std::move(why), next});
  };
  ContractionSchedule next = s;
  const bool fp32 = s.arithmetic == Arithmetic::kFp32;
  for (long block_k : {s.block_k * 2, s.block_k / 2}) {
    if (block_k < 32 || block_k >= 2 * c.k) continue;
    next = s;
    next.block_k = std::min(block_k, round_up(c.k, 32));
    add("block_k " + std::to_string(next.block_k), "tile",
        block_k > s.block_k ? "sums leave the registers less often" : "a panel of b leaves more room in L1",
        next);
  }
  for (long block_m : {s.block_m * 2, s.block_m / 2}) {
    if (block_m < s.rows || block_m >= 2 * c.m) continue;
    next = s;
    next.block_m = block_m;
    add("block_m " + std::to_string(block_m), "tile",
        block_m > s.block_m ? "each panel of b is used by more rows" : "more of the block stays in L2", next);
  }
  for (long block_n : {s.block_n * 2, s.block_n / 2}) {
    if (block_n < s.tile_n() || block_n >= 2 * c.n) continue;
    next = s;
    next.block_n = block_n;
    add("block_n " + std::to_string(block_n), "tile",
        block_n > s.block_n ? "each panel of a is used by more columns"
                            : "the sums stay in L2; more blocks to share out",
        next);
  }
  if (fp32) {
    const std::vector<std::pair<int, int>> tiles =
        s.lanes == 16 ? std::vector<std::pair<int, int>>{{14, 2}, {12, 2}, {8, 3}, {9, 3}, {6, 4}, {24, 1}}
                      : std::vector<std::pair<int, int>>{{6, 2}, {4, 3}, {5, 2}, {4, 2}, {3, 4}, {12, 1}};
    for (const auto& [rows, vectors] : tiles) {
      if (rows == s.rows && vectors == s.vectors) continue;
      if (rows > c.m) continue;
      next = s;
      next.rows = rows, next.vectors = vectors;
      next.block_m = round_up(s.block_m, rows);
      next.block_n = round_up(s.block_n, next.tile_n());
      add("tile " + std::to_string(rows) + "x" + std::to_string(vectors), "tile",
          "another shape of the register tile may leave less at the edges", next);
    }
    for (const auto which : {'a', 'b'}) {
      const Packing now = which == 'a' ? s.a : s.b;
      for (const Packing packing : {Packing::kInPlace, Packing::kCall, Packing::kBlock, Packing::kPrepare}) {
        if (packing == now) continue;
        next = s;
        (which == 'a' ? next.a : next.b) = packing;
        add(std::string("pack ") + which + " " + std::string(name_of(packing)), "pack",
            packing == Packing::kInPlace ? "saves the copy" : "panels are read in order", next);
      }
    }
  }
  if (c.stream_ok) {
    next = s;
    next.stream = !s.stream;
    add(next.stream ? "stream_stores" : "plain_stores", "streaming_stores",
        next.stream ? "the result does not pass through the caches"
                    : "whole lines are not always written at once",
        next);
  }
  if (fp32 && s.threads > 1 && s.splits == 1 && c.m * c.n <= 1 << 18) {
    next = s;
    next.splits = s.threads;
    add("split k " + std::to_string(s.threads), "split_reduction",
        "threads share k instead of the result, so that each part of an operand is read by one of them",
        next);
  }
  if (s.splits > 1) {
    next = s;
    next.splits = 1;
    add("whole k", "split_reduction", "no sums to add up at the end", next);
  }
  if (s.threads > 1) {
    next = s;
    next.threads = 1;
    next.splits = 1;
    add("one_thread", "parallelize", "waking the others may cost more than they do", next);
  }
  for (const Arithmetic arithmetic : allowed_arithmetic(machine, precision)) {
    if (arithmetic == s.arithmetic) continue;
    next = first_schedule(c, machine, s.threads, arithmetic == Arithmetic::kFp32 ? "none" : precision);
    next.arithmetic = arithmetic;
    if (arithmetic == Arithmetic::kFp32) {
      Machine plain = machine;
      plain.features.erase("amx");
      next = first_schedule(c, plain, s.threads, precision);
    }
    add("arithmetic " + std::string(name_of(arithmetic)), "precision",
        "another way to multiply that the policy allows", next);
  }
  return ranked(std::move(moves), s, c, machine);
}

}  // namespace kforge::smith
