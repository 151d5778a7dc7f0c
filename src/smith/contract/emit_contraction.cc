// One contraction as C++: its namespace from top to bottom, and the work that a team of threads shares.
#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/amx_source.h"
#include "smith/contract/contraction_code.h"
#include "smith/contract/contraction_plan.h"

namespace kforge::smith {

namespace {

std::string prepare_function(const Contraction& c, const ContractionSchedule& s, const ContractionPlan& p) {
  const bool a_prepared = s.a == Packing::kPrepare, b_prepared = s.b == Packing::kPrepare;
  if (!a_prepared && !b_prepared) return "";
  std::string text =
      "\n// Panels of operands that do not change between calls.\nvoid prepare(const Tensors& t, float* "
      "prepared) {\n";
  if (a_prepared)
    text += fmt::format(R"(#pragma omp parallel for schedule(static)
  for (long i = 0; i < {} * kRowPanels; ++i) pack_a_panel(t, {}, i % kRowPanels, 0, kK, prepared + i * kRows * kK);
)",
                        p.a_items, c.a.batch.empty() ? "0" : "a_batch_of(i / kRowPanels)");
  if (b_prepared)
    text += fmt::format(R"(#pragma omp parallel for schedule(static)
  for (long i = 0; i < {} * kColumnPanels; ++i)
    pack_b_panel(t, {}, i % kColumnPanels, 0, kK, prepared + {} + i * kTileN * kK);
)",
                        p.b_items, c.b.batch.empty() ? "0" : "b_batch_of(i / kColumnPanels)",
                        a_prepared ? p.a_floats : 0);
  return text + "}\n";
}

// Pointers into prepared and scratch memory, by the names the other pieces use.
std::string buffer_names(const ContractionSchedule& s, const ContractionPlan& p, const Staging* staging) {
  std::string text;
  long shared = 0;
  const auto whole = [&](char which, Packing packing, long floats, long prepared_at) {
    if (packing == Packing::kPrepare)
      text += fmt::format("  const float* const packed_{} = prepared + {};\n", which, prepared_at);
    if (packing == Packing::kCall) {
      text += fmt::format("  float* const packed_{} = scratch + {};\n", which, shared);
      shared += floats;
    }
  };
  whole('a', s.a, p.a_floats, 0);
  whole('b', s.b, p.b_floats, s.a == Packing::kPrepare ? p.a_floats : 0);
  if (staging && !p.stage_private) {
    text += fmt::format("  float* const all_staged = scratch + {};\n", shared);
    shared += p.staged * staging->items;
  }
  if (s.splits > 1) {
    text += fmt::format("  float* const parts = scratch + {};\n", shared);
    shared += p.part_floats * s.splits;
  }
  if (p.per_thread() > 0)
    text += fmt::format("  float* const mine = scratch + {} + omp_get_thread_num() * {}L;\n", shared,
                        p.per_thread());
  long at = 0;
  const auto own = [&](std::string_view name, long floats) {
    if (floats == 0) return;
    text += fmt::format("  float* const {} = mine + {};\n", name, at);
    at += floats;
  };
  own("a_block", p.a_block);
  own("b_block", p.b_block);
  own("sums", p.sums);
  if (p.stage_private) own("staged", p.staged);
  return text;
}

// What is packed or copied by all threads together before the first product.
std::string call_packing(const Contraction& c, const ContractionSchedule& s, const ContractionPlan& p,
                         const Staging* staging) {
  std::string text;
  const bool call_b = s.b == Packing::kCall, stages = staging && !p.stage_private;
  const bool rows_side_by_side = is_linear(c.a.side) && linear_stride(c.a.side) == 1;
  if (s.a == Packing::kCall && p.a_items == 1 && rows_side_by_side)
    text += fmt::format(
        R"(  // The rows of all panels lie side by side in a step of k: some steps of all of them, so that pages are visited once.
#pragma omp for schedule(static){}
  for (long k0 = 0; k0 < kK; k0 += 64)
    for (long panel = 0; panel < kRowPanels; ++panel)
      pack_a_panel(t, 0, panel, k0, kK - k0 < 64 ? kK - k0 : 64, packed_a + panel * kRows * kK + k0 * panel_rows(panel));
)",
        call_b || stages ? " nowait" : "");
  else if (s.a == Packing::kCall)
    text += fmt::format(R"(#pragma omp for schedule(static){}
  for (long i = 0; i < {} * kRowPanels; ++i) pack_a_panel(t, {}, i % kRowPanels, 0, kK, packed_a + i * kRows * kK);
)",
                        call_b || stages ? " nowait" : "", p.a_items,
                        c.a.batch.empty() ? "0" : "a_batch_of(i / kRowPanels)");
  if (call_b)
    text += fmt::format(R"(#pragma omp for schedule(static)
  for (long i = 0; i < {} * kColumnPanels; ++i) pack_b_panel(t, {}, i % kColumnPanels, 0, kK, packed_b + i * kTileN * kK);
)",
                        p.b_items, c.b.batch.empty() ? "0" : "b_batch_of(i / kColumnPanels)");
  if (stages)
    text += fmt::format(R"(#pragma omp for schedule(static)
  for (long piece = 0; piece < {} * kStagePieces; ++piece)
    stage_item(t, piece / kStagePieces, piece % kStagePieces, piece % kStagePieces + 1, all_staged + piece / kStagePieces * {});
)",
                        staging->items, p.staged);
  return text;
}

constexpr const char* kLastColumn =
    "const long last_column = first_column + kBlockColumnPanels < kColumnPanels ? first_column + "
    "kBlockColumnPanels : kColumnPanels;\n";
constexpr const char* kLastPanel =
    "const long last_panel = first_panel + kBlockRowPanels < kRowPanels ? first_panel + kBlockRowPanels : "
    "kRowPanels;\n";
constexpr const char* kBlock = "t, batch, first_panel, last_panel, first_column, last_column";

// Each thread copies an image and does all of its blocks while the copy is in its cache.
std::string image_loop(const ContractionSchedule& s, const ContractionPlan& p, const Staging& staging) {
  return fmt::format(R"(#pragma omp for schedule(dynamic)
  for (long item = 0; item < {0}; ++item) {{
    stage_item(t, item, 0, kStagePieces, staged);
    for (long batch = item * {1}; batch < (item + 1) * {1}; ++batch)
      for (long first_column = 0; first_column < kColumnPanels; first_column += kBlockColumnPanels)
        for (long first_panel = 0; first_panel < kRowPanels; first_panel += kBlockRowPanels) {{
          {2}          {3}          multiply_block({4}{5});
        }}
  }}
)",
                     staging.items, staging.batches_per_item, kLastColumn, kLastPanel, kBlock,
                     block_arguments(s, p, &staging));
}

// Blocks are shared out one by one: whoever is late (another process on its core) takes fewer.
std::string block_loop(const ContractionSchedule& s, const ContractionPlan& p, const Staging* staging) {
  return fmt::format(R"(#pragma omp for schedule(dynamic) collapse(3)
  for (long batch = 0; batch < kBatch; ++batch)
    for (long first_column = 0; first_column < kColumnPanels; first_column += kBlockColumnPanels)
      for (long first_panel = 0; first_panel < kRowPanels; first_panel += kBlockRowPanels) {{
        {0}        {1}{2}        multiply_block({3}{4});
      }}
)",
                     kLastColumn, kLastPanel,
                     staging
                         ? fmt::format("        const float* const staged = all_staged + batch / {} * {};\n",
                                       staging->batches_per_item, p.staged)
                         : "",
                     kBlock, block_arguments(s, p, staging));
}

// Few blocks but a long k: its parts are summed apart, then added in their order (the result does not depend
// on which thread did what).
std::string split_loop(const ContractionSchedule& s, const ContractionPlan& p) {
  return fmt::format(R"(#pragma omp for schedule(static) collapse(4)
  for (long part = 0; part < kSplits; ++part)
    for (long batch = 0; batch < kBatch; ++batch)
      for (long first_column = 0; first_column < kColumnPanels; first_column += kBlockColumnPanels)
        for (long first_panel = 0; first_panel < kRowPanels; first_panel += kBlockRowPanels) {{
          {0}          {1}          float* const sums = parts + part * kPartFloats + (batch * kM + panel_row(first_panel)) * kPartStride + first_column * kTileN;
          const long first_k = part * kPartK, last_k = first_k + kPartK < kK ? first_k + kPartK : kK;
          multiply_block({2}{3}, sums, first_k, last_k);
        }}
#pragma omp for schedule(static)
  for (long i = 0; i < kBatch * kRowPanels; ++i) {{
    const long batch = i / kRowPanels, row = panel_row(i % kRowPanels);
    const int rows = panel_rows(i % kRowPanels);
    float* const sums = parts + (batch * kM + row) * kPartStride;
    for (long part = 1; part < kSplits; ++part)
      for (long j = 0; j < rows * kPartStride; j += kLanes)
        store_vec(sums + j, load_vec(sums + j) + load_vec(sums + part * kPartFloats + j));
    finish_tile(t, batch, row, 0, sums, kPartStride, rows, kN);
  }}
)",
                     kLastColumn, kLastPanel, kBlock, block_arguments(s, p, nullptr));
}

std::string work_function(const Contraction& c, const ContractionSchedule& s, const ContractionPlan& p,
                          const Staging* staging) {
  std::string text = R"(
// Called by every thread of a team of at most kThreads.
void work(const Tensors& t, const float* prepared, float* scratch) {
)";
  text += buffer_names(s, p, staging);
  text += call_packing(c, s, p, staging);
  if (s.splits > 1)
    text += split_loop(s, p);
  else
    text += staging && p.stage_private ? image_loop(s, p, *staging) : block_loop(s, p, staging);
  if (s.stream)
    text += "  _mm_sfence();  // streaming stores are weakly ordered: each thread makes its own visible\n";
  text += R"(  (void)prepared;
  (void)scratch;
}

void run(const Tensors& t, const float* prepared, float* scratch) {
#pragma omp parallel num_threads(kThreads)
  work(t, prepared, scratch);
}
)";
  return text;
}

}  // namespace

Result<ContractionCode> emit_contraction(const Contraction& c, const ContractionSchedule& s,
                                         const Staging* staging) {
  KF_TRY_VOID(check(s, c));
  if (s.arithmetic != Arithmetic::kFp32) return emit_amx_contraction(c, s);
  const ContractionPlan p = plan_of(c, s, staging);
  ContractionCode code;
  code.name = c.name;
  code.prepared_floats =
      (s.a == Packing::kPrepare ? p.a_floats : 0) + (s.b == Packing::kPrepare ? p.b_floats : 0);
  code.scratch_floats = (s.a == Packing::kCall ? p.a_floats : 0) + (s.b == Packing::kCall ? p.b_floats : 0) +
                        s.threads * p.per_thread() + (s.splits > 1 ? s.splits * p.part_floats : 0) +
                        (staging && !p.stage_private ? p.staged * staging->items : 0);
  std::string text = plan_comment(c, s, p);
  text += fmt::format("namespace {} {{\n\n", c.name);
  text += tensors_struct(c.tensors) + "\n";
  text += plan_constants(c, s, p);
  text += fmt::format("constexpr long kPreparedFloats = {}, kScratchFloats = {};\n\n", code.prepared_floats,
                      code.scratch_floats);
  text += vector_source(s.lanes);
  text += panel_functions(c, s, p);
  if (p.a_floats > 0 && !c.a.batch.empty()) text += item_functions(c.a, 'a');
  if (p.b_floats > 0 && !c.b.batch.empty()) text += item_functions(c.b, 'b');
  text += packing_source(c, s);
  if (staging) text += staging->function;
  text += micro_kernel_source(c, s);
  text += finish_source(c, s);
  if (!p.split_depth && s.splits == 1) text += whole_tile_source(c, s);
  text += block_source(c, s, p, staging);
  text += prepare_function(c, s, p);
  text += work_function(c, s, p, staging);
  text += fmt::format("\n}}  // namespace {}\n", c.name);
  code.definitions = std::move(text);
  code.story = fmt::format("{}: tile {}x{}, blocks {}x{}x{}, a {}, b {}, {} thread{}{}", c.name, p.rows.tall,
                           s.tile_n(), p.block_row_panels * p.rows.tall, p.block_column_panels * s.tile_n(),
                           p.block_k, name_of(s.a), name_of(s.b), s.threads, s.threads == 1 ? "" : "s",
                           s.splits > 1 ? fmt::format(", k in {} parts", s.splits) : "");
  return code;
}

}  // namespace kforge::smith
