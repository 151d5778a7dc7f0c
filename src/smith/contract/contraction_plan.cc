#include "smith/contract/contraction_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "smith/expr/whole_numbers.h"

namespace kforge::smith {

namespace {

// Panels of b that are read again for each panel of rows: what L1 and a part of L2 hold.
constexpr long kNearFloats = 12288;
// A tiny k: more of L2, for the sake of a result that is written along its rows.
constexpr long kNearTinyFloats = 65536;
// The same for copies of an image, whose rows are read where they lie: what L2 holds besides. A short k makes
// writing the result what matters, and row by row it is written in order.
constexpr long kNearStagedFloats = 98304, kShortDepth = 512;

}  // namespace

ContractionPlan plan_of(const Contraction& c, const ContractionSchedule& s, const Staging* staging) {
  ContractionPlan p;
  p.rows = row_panels(c.m, s.rows);
  p.columns = column_panels(c, s);
  p.column_panels = p.columns.runs * p.columns.per_run;
  p.block_row_panels = std::clamp<long>(s.block_m / s.rows, 1, p.rows.panels);
  p.block_column_panels = std::clamp<long>(s.block_n / s.tile_n(), 1, p.column_panels);
  p.row_blocks = ceil_div(p.rows.panels, p.block_row_panels);
  p.column_blocks = ceil_div(p.column_panels, p.block_column_panels);
  p.block_k = std::min(s.block_k, c.k);
  p.split_depth = p.block_k < c.k;
  p.a_items = own_items(c.a);
  p.b_items = own_items(c.b);
  const long a_panel = p.rows.tall * c.k, b_panel = static_cast<long>(s.tile_n()) * c.k;
  if (s.a == Packing::kPrepare || s.a == Packing::kCall)
    p.a_floats = whole_cache_lines(p.a_items * p.rows.panels * a_panel);
  if (s.b == Packing::kPrepare || s.b == Packing::kCall)
    p.b_floats = whole_cache_lines(p.b_items * p.column_panels * b_panel);
  if (s.a == Packing::kBlock) p.a_block = whole_cache_lines(p.block_row_panels * p.rows.tall * p.block_k);
  if (s.b == Packing::kBlock) p.b_block = whole_cache_lines(static_cast<long>(s.tile_n()) * p.block_k);
  if (s.splits > 1) {
    p.part_slices = ceil_div(ceil_div(c.k, p.block_k), s.splits);
    p.part_stride = p.column_panels * s.tile_n() + 16;
    p.part_floats = whole_cache_lines(c.batch * c.m * p.part_stride);
  } else if (p.split_depth) {
    p.sums = whole_cache_lines(p.block_row_panels * p.rows.tall * (p.block_column_panels * s.tile_n() + 16));
  }
  const bool near = staging ? c.k <= kShortDepth && staging->floats() * p.block_column_panels <=
                                                        kNearStagedFloats * p.column_panels
                            : p.block_column_panels * s.tile_n() * c.k <=
                                  (c.k <= kTinyDepth ? kNearTinyFloats : kNearFloats);
  p.rows_outer = !p.split_depth && s.splits == 1 && s.b != Packing::kBlock && near;
  if (staging) {
    p.staged = whole_cache_lines(staging->floats());
    p.stage_private = staging->private_to_threads(s.threads);
  }
  return p;
}

std::string plan_comment(const Contraction& c, const ContractionSchedule& s, const ContractionPlan& p) {
  std::string text = fmt::format(
      "// {}\n// c[{}][{}] = sum over k = {} of a * b{}: {:.3g} Gflop, limited by arithmetic unless a "
      "dimension is small.\n",
      c.what, c.m, c.n, c.k, c.batch > 1 ? fmt::format(", {} times", c.batch) : "", c.flops() / 1e9);
  text += fmt::format("//\n// Registers: a tile of {} rows x {} vectors of {} holds {} sums.\n", p.rows.tall,
                      s.vectors, s.lanes, p.rows.tall * s.vectors);
  const auto operand = [&](std::string_view which, Packing packing) {
    switch (packing) {
      case Packing::kPrepare:
        return fmt::format("{} is packed once in prepare()", which);
      case Packing::kCall:
        return fmt::format("{} is packed at the start of a call", which);
      case Packing::kBlock:
        return fmt::format("{} is packed by the thread that uses it, just before it does", which);
      case Packing::kInPlace:
        break;
    }
    return fmt::format("{} is read where it lies", which);
  };
  text += fmt::format("// Operands: {}; {}.\n", operand("a", s.a), operand("b", s.b));
  if (p.rows_outer)
    text +=
        fmt::format("// Caches: {} columns of b ({} KB) stay in L2 while rows of a are fetched, each once",
                    s.block_n, p.block_column_panels * s.tile_n() * c.k * 4 / 1024);
  else
    text +=
        fmt::format("// Caches: {} steps of k of a panel of b ({} KB) stay in L1 for all {} rows of a block",
                    p.block_k, p.block_k * s.tile_n() * 4 / 1024, p.block_row_panels * p.rows.tall);
  if (s.splits > 1)
    text += fmt::format(
        ";\n// each part of k has sums of its own ({} KB), which are added in order at the end.\n",
        p.part_floats * 4 / 1024);
  else if (p.split_depth)
    text += fmt::format(";\n// the block's sums ({} KB) stay in L2 until k is done.\n", p.sums * 4 / 1024);
  else
    text += ";\n// k is walked in one go, so sums never leave the registers unfinished.\n";
  if (s.splits > 1)
    text += fmt::format("// Threads: {} share {} parts of k: the result is too small to be shared out.\n",
                        s.threads, s.splits);
  else
    text +=
        fmt::format("// Threads: {} share {} blocks.\n", s.threads, c.batch * p.column_blocks * p.row_blocks);
  return text;
}

}  // namespace kforge::smith
