// The constants of a contraction by blocks; the method itself is kernels/contraction/blocked.h.
#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/amx.h"
#include "smith/contract/config_text.h"
#include "smith/contract/contraction_plan.h"

namespace kforge::smith {

namespace {

// b is a plain matrix whose rows (along n) can be fetched ahead of the packing.
bool fetches_rows_of_b(const Contraction& c, const ContractionSchedule& s) {
  return s.b == Packing::kBlock && c.run == 0 && c.b.element.empty() && c.b.dtype == DType::kFloat32 &&
         is_linear(c.b.side) && linear_stride(c.b.side) == 1 && depth_is_linear(c.b);
}

// What is asked for while a tile is multiplied.
std::string_view fetch_of(const Contraction& c, const ContractionSchedule& s, const ContractionPlan& p) {
  // Rows of a that are read in place, one behind the other: too many short streams for the hardware to
  // follow.
  if (p.rows_outer && s.a == Packing::kInPlace && linear_stride(c.a.depth) == 1 &&
      linear_stride(c.a.side) == c.k)
    return "kRowsOfA";
  // Panels of b that lie packed are walked in order; the next one can be asked for as a whole.
  if (p.b_floats > 0 && s.b != Packing::kBlock && !p.rows_outer && !streams_b_once(c, s)) return "kPanelsOfB";
  return fetches_rows_of_b(c, s) ? "kRowsOfB" : "";
}

// Where buffers lie in prepared and scratch memory.
struct Buffers {
  long packed_a = 0, packed_b = 0, all_staged = 0, parts = 0, thread_scratch = 0;
  long prepared = 0, scratch = 0;

  Buffers(const ContractionSchedule& s, const ContractionPlan& p, const Staging* staging) {
    const auto place = [&](Packing packing, long floats) {
      long* const memory = packing == Packing::kPrepare ? &prepared
                           : packing == Packing::kCall  ? &scratch
                                                        : nullptr;
      return memory ? std::exchange(*memory, *memory + floats) : 0L;
    };
    packed_a = place(s.a, p.a_floats);
    packed_b = place(s.b, p.b_floats);
    all_staged = scratch;
    if (staging && !p.stage_private) scratch += p.staged * staging->items;
    parts = scratch;
    if (s.splits > 1) scratch += p.part_floats * s.splits;
    thread_scratch = scratch;
    scratch += p.per_thread() * s.threads;
  }
};

void blocking(ConfigText& text, const Contraction& c, const ContractionSchedule& s,
              const ContractionPlan& p) {
  text.constants({{"kM", c.m}, {"kN", c.n}, {"kK", c.k}});
  if (c.batch > 1) text.constants({{"kBatch", c.batch}});
  text.tile(s, p.rows);
  text.constants({{"kColumnPanels", p.column_panels}, {"kPanelsPerRun", p.columns.per_run}});
  if (p.columns.runs > 1)
    text.constants({{"kRun", c.run_length()}}, "columns lie in runs (rows of the image)");
  text.constants({{"kEdge", p.columns.edge}}, "columns of the last panel of a run");
  text.constants({{"kBlockRowPanels", p.block_row_panels},
                  {"kBlockColumnPanels", p.block_column_panels},
                  {"kBlockK", p.block_k}});
  text.flag("kRowsOuter", p.rows_outer);
  text.flag("kStream", s.stream);
  text.flag("kStreamsB", streams_b_once(c, s));
  if (const std::string_view fetch = fetch_of(c, s, p); !fetch.empty())
    text.line(fmt::format("static constexpr Fetch kFetch = Fetch::{};", fetch));
  if (s.splits > 1) {
    text.constants({{"kSplits", s.splits}, {"kPartK", p.part_slices * p.block_k}},
                   "parts of k that are summed apart");
    text.constants({{"kPartStride", p.part_stride}, {"kPartFloats", p.part_floats}});
  }
}

// The padded copies of images that b is read from.
void staged_b(ConfigText& text, const std::string& name, const ContractionSchedule& s,
              const ContractionPlan& p, const Staging& staging) {
  text.staged_image(staging);
  text.flag("kStaged", true);
  text.flag("kStagePrivate", p.stage_private);
  text.constants({{"kStagedItems", staging.items},
                  {"kBatchesPerItem", staging.batches_per_item},
                  {"kStagedFloats", p.staged}});
  text.line(
      fmt::format("static void stage(const Tensors& t, long item, long first, long last, float* staged) "
                  "{{\n    StagedImage<{}_config>::copy(t.{}, item, first, last, staged);\n  }}",
                  name, staging.tensor));
  text.headers.insert("contraction/staged_image.h");
  if (s.b != Packing::kBlock) return;
  text.line(
      fmt::format("static void pack_b_block(const Tensors&, const float* staged, long, long panel, long k0, "
                  "long steps, float* out) {{\n    pack_image_panel<{}_config>(staged, panel, k0, "
                  "steps, out);\n  }}",
                  name));
  text.headers.insert("contraction/image_packing.h");
}

}  // namespace

Result<ContractionCode> emit_contraction(const Contraction& c, const ContractionSchedule& s,
                                         const Staging* staging) {
  KF_TRY_VOID(check(s, c));
  if (s.arithmetic != Arithmetic::kFp32) return emit_amx_contraction(c, s);
  const ContractionPlan p = plan_of(c, s, staging);
  const Buffers buffers(s, p, staging);
  ContractionCode code;
  code.name = c.name;
  code.threads = s.threads;
  code.prepared_floats = buffers.prepared;
  code.scratch_floats = buffers.scratch;
  ConfigText text(c.name, c.tensors);
  blocking(text, c, s, p);
  if (c.tap_rows && p.block_k == c.tap_rows->steps && p.split_depth && s.splits == 1)
    text.tap_rows(*c.tap_rows);
  text.flag("kOffsetTable", !depth_is_linear(c.b));
  // A partial vector read in place must not touch what lies behind the tensor; staged copies have slack
  // there.
  text.flag("kGuarded", s.b == Packing::kInPlace && p.columns.edge % s.lanes != 0 && c.run == 0);
  text.operand(c.a, 'a', s.a, true, c.tensors);
  text.operand(c.b, 'b', s.b, staging == nullptr, c.tensors);
  if (staging) {
    staged_b(text, c.name, s, p, *staging);
  } else if (s.b == Packing::kBlock) {
    text.line(fmt::format(
        "static void pack_b_block(const Tensors& t, const float*, long batch, long panel, long k0, "
        "long steps, float* out) {{\n    pack_b_panel<{}_config>(t, batch, panel, k0, steps, "
        "out);\n  }}",
        c.name));
  }
  text.offsets({{"kPackedA", buffers.packed_a},
                {"kPackedB", buffers.packed_b},
                {"kAllStaged", buffers.all_staged},
                {"kParts", buffers.parts},
                {"kThreadScratch", buffers.thread_scratch},
                {"kPerThread", p.per_thread()}},
               "where buffers begin");
  text.offsets({{"kBBlock", p.a_block},
                {"kSums", p.a_block + p.b_block},
                {"kOwnStaged", p.a_block + p.b_block + p.sums}});
  text.finish(c, s);
  code.definitions = text.text(plan_comment(c, s, p), "BlockedContraction");
  code.headers = std::move(text.headers);
  code.headers.insert("contraction/blocked.h");
  code.summary =
      fmt::format("{}: tile {}x{}, blocks {}x{}x{}, a {}, b {}, {} thread{}{}", c.name, p.rows.tall,
                  s.tile_n(), p.block_row_panels * p.rows.tall, p.block_column_panels * s.tile_n(), p.block_k,
                  name_of(s.a), name_of(s.b), s.threads, s.threads == 1 ? "" : "s",
                  s.splits > 1 ? fmt::format(", k in {} parts", s.splits) : "");
  return code;
}

}  // namespace kforge::smith
