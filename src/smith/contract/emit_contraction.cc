// The loops around the micro-kernel, and the text that explains them.
#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/amx_source.h"
#include "smith/contract/contraction_code.h"
#include "smith/contract/tile_source.h"

namespace kforge::smith {

namespace {

long ceil_div(long a, long b) { return (a + b - 1) / b; }
long lines(long floats) { return ceil_div(floats, 16) * 16; }  // whole cache lines

// Sizes derived once from contraction and schedule; the constants of the emitted namespace.
struct Plan {
  RowPanels rows;
  ColumnPanels columns;
  long column_panels = 1, block_row_panels = 1, block_column_panels = 1, row_blocks = 1, column_blocks = 1;
  bool split_depth = false;
  long a_items = 1, b_items = 1;            // batch items that have their own operand
  long a_floats = 0, b_floats = 0;          // packed panels of all of them, where packed as a whole
  long a_block = 0, b_block = 0, sums = 0;  // per thread
  long staged = 0;
  bool stage_private = false;
};

Plan plan_of(const Contraction& c, const ContractionSchedule& s, const Staging* staging) {
  Plan p;
  p.rows = deal_rows(c.m, s.rows);
  p.columns = deal_columns(c, s);
  p.column_panels = p.columns.runs * p.columns.per_run;
  p.block_row_panels = std::clamp<long>(s.block_m / s.rows, 1, p.rows.panels);
  p.block_column_panels = std::clamp<long>(s.block_n / s.tile_n(), 1, p.column_panels);
  p.row_blocks = ceil_div(p.rows.panels, p.block_row_panels);
  p.column_blocks = ceil_div(p.column_panels, p.block_column_panels);
  p.split_depth = s.block_k < c.k;
  p.a_items = own_items(c.a);
  p.b_items = own_items(c.b);
  const long a_panel = p.rows.tall * c.k, b_panel = static_cast<long>(s.tile_n()) * c.k;
  if (s.a == Packing::kPrepare || s.a == Packing::kCall)
    p.a_floats = lines(p.a_items * p.rows.panels * a_panel);
  if (s.b == Packing::kPrepare || s.b == Packing::kCall)
    p.b_floats = lines(p.b_items * p.column_panels * b_panel);
  if (s.a == Packing::kBlock) p.a_block = lines(p.block_row_panels * a_panel);
  if (s.b == Packing::kBlock) p.b_block = lines(p.block_column_panels * b_panel);
  if (p.split_depth)
    p.sums = lines(p.block_row_panels * p.rows.tall * (p.block_column_panels * s.tile_n() + 16));
  if (staging) {
    p.staged = lines(staging->floats);
    // An image per thread at a time, while it is in that thread's cache; all images first only where they are
    // fewer than the threads.
    p.stage_private = staging->items % s.threads == 0 || staging->items >= 4L * s.threads;
  }
  return p;
}

std::string header_comment(const Contraction& c, const ContractionSchedule& s, const Plan& p) {
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
        return fmt::format("{} is packed block by block by the thread that uses it", which);
      case Packing::kInPlace:
        break;
    }
    return fmt::format("{} is read where it lies", which);
  };
  text += fmt::format("// Operands: {}; {}.\n", operand("a", s.a), operand("b", s.b));
  const long slice = std::min(s.block_k, c.k);
  text +=
      fmt::format("// Caches: {} steps of k of a panel of b ({} KB) stay in L1 for all {} rows of a block",
                  slice, slice * s.tile_n() * 4 / 1024, p.block_row_panels * p.rows.tall);
  text += p.split_depth
              ? fmt::format(";\n// the block's sums ({} KB) stay in L2 until k is done.\n", p.sums * 4 / 1024)
              : ";\n// k is walked in one go, so sums never leave the registers unfinished.\n";
  text += fmt::format("// Threads: {} share {} blocks.\n", s.threads,
                      c.batch * p.column_blocks * (s.b == Packing::kBlock ? 1 : p.row_blocks));
  return text;
}

std::string constants(const Contraction& c, const ContractionSchedule& s, const Plan& p) {
  std::string text =
      fmt::format(R"(constexpr long kM = {}, kN = {}, kK = {}, kBatch = {};
constexpr int kLanes = {}, kVectors = {}, kRows = {};
constexpr long kTileN = kVectors * kLanes;
constexpr long kBlockK = {};
constexpr long kRowPanels = {}, kColumnPanels = {};
constexpr long kBlockRowPanels = {}, kBlockColumnPanels = {};
constexpr int kThreads = {};
)",
                  c.m, c.n, c.k, c.batch, s.lanes, s.vectors, p.rows.tall, std::min(s.block_k, c.k),
                  p.rows.panels, p.column_panels, p.block_row_panels, p.block_column_panels, s.threads);
  if (p.columns.edge != s.tile_n())
    text += fmt::format("constexpr long kEdge = {};  // columns of the last panel\n", p.columns.edge);
  if (p.columns.runs > 1)
    text += fmt::format(
        "constexpr long kRun = {}, kPanelsPerRun = {};  // columns lie in runs (rows of the image)\n",
        c.run_length(), p.columns.per_run);
  return text;
}

std::string panel_functions(const Contraction& c, const ContractionSchedule& s, const Plan& p) {
  std::string text = row_panel_functions(p.rows);
  if (p.columns.runs > 1)
    text +=
        R"(inline long panel_column(long panel) { return panel / kPanelsPerRun * kRun + panel % kPanelsPerRun * kTileN; }
inline bool is_edge(long panel) { return panel % kPanelsPerRun == kPanelsPerRun - 1; }
)";
  else
    text += R"(inline long panel_column(long panel) { return panel * kTileN; }
inline bool is_edge(long panel) { return panel == kColumnPanels - 1; }
)";
  text += p.columns.edge != s.tile_n()
              ? "inline long panel_columns(long panel) { return is_edge(panel) ? kEdge : kTileN; }\n"
              : "inline long panel_columns(long) { return kTileN; }\n";
  text += operand_functions(c);
  if (s.b == Packing::kInPlace && !depth_is_linear(c.b))
    text += R"(
// Where b lies for each step of k, relative to its first.
struct DepthOffsets {
  int at[kK];
  constexpr DepthOffsets() : at() {
    for (long i = 0; i < kK; ++i) at[i] = static_cast<int>()" +
            depth_expression(c.b, "i") + R"();
  }
};
constexpr DepthOffsets kDepthOffsets;
)";
  return text;
}

// Where one panel of an operand begins, at step k.
std::string a_panel(const Contraction& c, const ContractionSchedule& s) {
  switch (s.a) {
    case Packing::kInPlace:
      return fmt::format("t.{} + a_batch(batch) + a_side(row) + a_depth(k0)", c.a.pointer);
    case Packing::kBlock:
      return "a_block + (panel - first_panel) * kRows * kK + k0 * rows";
    default:
      break;
  }
  return c.a.batch.empty() ? "packed_a + panel * kRows * kK + k0 * rows"
                           : "packed_a + (a_item(batch) * kRowPanels + panel) * kRows * kK + k0 * rows";
}

std::string b_panel(const Contraction& c, const ContractionSchedule& s, const Staging* staging) {
  const bool table = !depth_is_linear(c.b);
  switch (s.b) {
    case Packing::kInPlace:
      return fmt::format("{} + b_batch(batch) + b_side(column){}", staging ? "staged" : "t." + c.b.pointer,
                         table ? "" : " + b_depth(k0)");
    case Packing::kBlock:
      return "b_block + (column_panel - first_column) * kTileN * kK + k0 * kTileN";
    default:
      break;
  }
  return c.b.batch.empty()
             ? "packed_b + column_panel * kTileN * kK + k0 * kTileN"
             : "packed_b + (b_item(batch) * kColumnPanels + column_panel) * kTileN * kK + k0 * kTileN";
}

std::string block_function(const Contraction& c, const ContractionSchedule& s, const Plan& p,
                           const Staging* staging) {
  const bool table = s.b == Packing::kInPlace && !depth_is_linear(c.b);
  std::string text = R"(
// All sums of one block: rows of panels [first_panel, last_panel), columns of panels [first_column, last_column).
void multiply_block(const Tensors& t, long batch, long first_panel, long last_panel, long first_column, long last_column)";
  if (s.a == Packing::kPrepare || s.a == Packing::kCall) text += ", const float* packed_a";
  if (s.b == Packing::kPrepare || s.b == Packing::kCall) text += ", const float* packed_b";
  if (s.a == Packing::kBlock) text += ", const float* a_block";
  if (s.b == Packing::kBlock) text += ", const float* b_block";
  if (staging) text += ", const float* staged";
  if (p.split_depth) text += ", float* sums";
  text += ") {\n";
  if (p.split_depth)
    text +=
        R"(  const long stride = kBlockColumnPanels * kTileN + 16;  // 16 more: rows do not fall on the same cache sets
  for (long k0 = 0; k0 < kK; k0 += kBlockK) {
    const long depth = kK - k0 < kBlockK ? kK - k0 : kBlockK;
)";
  else
    text += "  alignas(64) float sums[kRows * kTileN];\n  {\n    constexpr long k0 = 0, depth = kK;\n";
  text += "    for (long column_panel = first_column; column_panel < last_column; ++column_panel) {\n";
  text += "      const long column = panel_column(column_panel);\n";
  text += fmt::format("      const float* const b = {};\n", b_panel(c, s, staging));
  text += "      for (long panel = first_panel; panel < last_panel; ++panel) {\n";
  text += "        const long row = panel_row(panel);\n        const int rows = panel_rows(panel);\n";
  text += fmt::format("        const float* const a = {};\n", a_panel(c, s));
  const std::string offsets = table ? (p.split_depth ? "kDepthOffsets.at + k0, " : "kDepthOffsets.at, ") : "";
  if (p.split_depth)
    text += fmt::format(
        R"(        float* const tile = sums + (row - panel_row(first_panel)) * stride + (column_panel - first_column) * kTileN;
        multiply_any(rows, is_edge(column_panel), depth, a, b, {}k0 == 0, tile, stride);
        if (k0 + depth == kK) finish_tile(t, batch, row, column, tile, stride, rows, panel_columns(column_panel));
)",
        offsets);
  else
    text +=
        fmt::format(R"(        multiply_any(rows, is_edge(column_panel), depth, a, b, {}true, sums, kTileN);
        finish_tile(t, batch, row, column, sums, kTileN, rows, panel_columns(column_panel));
)",
                    offsets);
  text += "      }\n    }\n  }\n}\n";
  return text;
}

std::string run_function(const Contraction& c, const ContractionSchedule& s, const Plan& p,
                         const Staging* staging) {
  std::string text;
  const bool a_prepared = s.a == Packing::kPrepare, b_prepared = s.b == Packing::kPrepare;
  if (a_prepared || b_prepared) {
    text +=
        "\n// Panels of operands that do not change between calls.\nvoid prepare(const Tensors& t, float* "
        "prepared) {\n";
    if (a_prepared)
      text += fmt::format(R"(#pragma omp parallel for schedule(static)
  for (long i = 0; i < {} * kRowPanels; ++i) pack_a_panel(t, {}, i % kRowPanels, prepared + i * kRows * kK);
)",
                          p.a_items, c.a.batch.empty() ? "0" : "a_batch_of(i / kRowPanels)");
    if (b_prepared)
      text += fmt::format(R"(#pragma omp parallel for schedule(static)
  for (long i = 0; i < {} * kColumnPanels; ++i)
    pack_b_panel(t, {}, i % kColumnPanels, prepared + {} + i * kTileN * kK);
)",
                          p.b_items, c.b.batch.empty() ? "0" : "b_batch_of(i / kColumnPanels)",
                          a_prepared ? p.a_floats : 0);
    text += "}\n";
  }
  text += R"(
// Called by every thread of a team of at most kThreads.
void work(const Tensors& t, const float* prepared, float* scratch) {
)";
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
  whole('b', s.b, p.b_floats, a_prepared ? p.a_floats : 0);
  if (staging && !p.stage_private) {
    text += fmt::format("  float* const all_staged = scratch + {};\n", shared);
    shared += p.staged * staging->items;
  }
  const long per_thread = p.a_block + p.b_block + p.sums + (p.stage_private ? p.staged : 0);
  if (per_thread > 0)
    text +=
        fmt::format("  float* const mine = scratch + {} + omp_get_thread_num() * {}L;\n", shared, per_thread);
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
  const bool call_a = s.a == Packing::kCall, call_b = s.b == Packing::kCall;
  if (call_a)
    text += fmt::format(R"(#pragma omp for schedule(static){}
  for (long i = 0; i < {} * kRowPanels; ++i) pack_a_panel(t, {}, i % kRowPanels, packed_a + i * kRows * kK);
)",
                        call_b || (staging && !p.stage_private) ? " nowait" : "", p.a_items,
                        c.a.batch.empty() ? "0" : "a_batch_of(i / kRowPanels)");
  if (call_b)
    text += fmt::format(R"(#pragma omp for schedule(static)
  for (long i = 0; i < {} * kColumnPanels; ++i) pack_b_panel(t, {}, i % kColumnPanels, packed_b + i * kTileN * kK);
)",
                        p.b_items, c.b.batch.empty() ? "0" : "b_batch_of(i / kColumnPanels)");
  if (staging && !p.stage_private)
    text += fmt::format(R"(#pragma omp for schedule(static)
  for (long piece = 0; piece < {} * kStagePieces; ++piece)
      stage_item(t, piece / kStagePieces, piece % kStagePieces, piece % kStagePieces + 1, all_staged + piece / kStagePieces * {});
)",
                        staging->items, p.staged);
  // Blocks are shared out one by one: whoever is late (another process on its core) takes fewer.
  std::string arguments = "t, batch, first_panel, last_panel, first_column, last_column";
  if (p.a_floats > 0) arguments += ", packed_a";
  if (p.b_floats > 0) arguments += ", packed_b";
  if (s.a == Packing::kBlock) arguments += ", a_block";
  if (s.b == Packing::kBlock) arguments += ", b_block";
  if (staging) arguments += ", staged";
  if (p.split_depth) arguments += ", sums";
  const bool inner_rows = s.b == Packing::kBlock;
  const std::string first_last_column =
      R"(        const long last_column = first_column + kBlockColumnPanels < kColumnPanels ? first_column + kBlockColumnPanels : kColumnPanels;
)";
  const std::string first_last_panel =
      R"(          const long last_panel = first_panel + kBlockRowPanels < kRowPanels ? first_panel + kBlockRowPanels : kRowPanels;
)";
  const std::string pack_a_block =
      s.a != Packing::kBlock ? "" : R"(          for (long panel = first_panel; panel < last_panel; ++panel)
            pack_a_panel(t, batch, panel, a_block + (panel - first_panel) * kRows * kK);
)";
  const std::string pack_b_block =
      s.b != Packing::kBlock ? "" : R"(        for (long panel = first_column; panel < last_column; ++panel)
          pack_b_panel(t, batch, panel, b_block + (panel - first_column) * kTileN * kK);
)";
  if (staging && p.stage_private) {
    text += fmt::format(R"(#pragma omp for schedule(dynamic)
    for (long item = 0; item < {0}; ++item) {{
      stage_item(t, item, 0, kStagePieces, staged);
      for (long batch = item * {1}; batch < (item + 1) * {1}; ++batch)
        for (long first_column = 0; first_column < kColumnPanels; first_column += kBlockColumnPanels) {{
  {2}          for (long first_panel = 0; first_panel < kRowPanels; first_panel += kBlockRowPanels) {{
  {3}{5}            multiply_block({4});
          }}
        }}
    }}
)",
                        staging->items, staging->batches_per_item, first_last_column, first_last_panel,
                        arguments, pack_a_block);
  } else {
    text += fmt::format("#pragma omp for schedule(dynamic) collapse({})\n", inner_rows ? 2 : 3);
    text += "    for (long batch = 0; batch < kBatch; ++batch)\n";
    text +=
        "      for (long first_column = 0; first_column < kColumnPanels; first_column += kBlockColumnPanels)";
    if (inner_rows)
      text +=
          " {\n" + first_last_column + pack_b_block +
          "        for (long first_panel = 0; first_panel < kRowPanels; first_panel += kBlockRowPanels) {\n" +
          first_last_panel + pack_a_block;
    else
      text +=
          "\n        for (long first_panel = 0; first_panel < kRowPanels; first_panel += kBlockRowPanels) "
          "{\n  " +
          first_last_column + first_last_panel + pack_a_block;
    if (staging)
      text += fmt::format("          const float* const staged = all_staged + batch / {} * {};\n",
                          staging->batches_per_item, p.staged);
    text += fmt::format("          multiply_block({});\n        }}\n", arguments);
    if (inner_rows) text += "      }\n";
  }
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
  const Plan p = plan_of(c, s, staging);
  ContractionCode code;
  code.name = c.name;
  code.prepared_floats =
      (s.a == Packing::kPrepare ? p.a_floats : 0) + (s.b == Packing::kPrepare ? p.b_floats : 0);
  code.scratch_floats = (s.a == Packing::kCall ? p.a_floats : 0) + (s.b == Packing::kCall ? p.b_floats : 0) +
                        s.threads * (p.a_block + p.b_block + p.sums + (p.stage_private ? p.staged : 0)) +
                        (staging && !p.stage_private ? p.staged * staging->items : 0);
  std::string text = header_comment(c, s, p);
  text += fmt::format("namespace {} {{\n\n", c.name);
  text += tensors_struct(c.tensors) + "\n";
  text += constants(c, s, p);
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
  text += block_function(c, s, p, staging);
  text += run_function(c, s, p, staging);
  text += fmt::format("\n}}  // namespace {}\n", c.name);
  code.definitions = std::move(text);
  code.story =
      fmt::format("{}: tile {}x{}, blocks {}x{}x{}, a {}, b {}, {} thread{}", c.name, p.rows.tall, s.tile_n(),
                  p.block_row_panels * p.rows.tall, p.block_column_panels * s.tile_n(),
                  std::min(s.block_k, c.k), name_of(s.a), name_of(s.b), s.threads, s.threads == 1 ? "" : "s");
  return code;
}

Finish plain_store(std::string pointer, long batch_stride, long row_stride) {
  return [=](const FinishSite& site) {
    const std::string at =
        fmt::format("{}{} + row * {} + column", pointer,
                    batch_stride ? fmt::format(" + batch * {}", batch_stride) : "", row_stride);
    if (site.lanes == 1) return fmt::format("*({}) = sum;", at);
    if (site.stream && site.lanes == 4) return fmt::format("_mm_stream_ps({}, sum);", at);
    if (site.stream && site.lanes == 8) return fmt::format("_mm256_stream_ps({}, sum);", at);
    if (site.stream && site.lanes == 16) return fmt::format("_mm512_stream_ps({}, sum);", at);
    return fmt::format("store_vec({}, sum);", at);
  };
}

std::string whole_program(const ContractionCode& code, const std::vector<Tensor>& arguments,
                          const std::vector<std::string>& params, const std::vector<Tensor>& tensors) {
  std::string prepare_list, run_list, saved, save, all;
  const auto is_param = [&](const std::string& name) {
    return std::find(params.begin(), params.end(), name) != params.end();
  };
  const auto append = [](std::string& list, const std::string& item) {
    list += (list.empty() ? "" : ", ") + item;
  };
  for (const Tensor& argument : arguments) {
    if (is_param(argument.name)) {
      append(prepare_list, argument.type + " " + argument.name);
      saved += fmt::format("  {} {};\n", argument.type, argument.name);
      save += fmt::format("  state->{0} = {0};\n", argument.name);
    } else {
      run_list += fmt::format(", {} {}", argument.type, argument.name);
    }
  }
  std::string prepare_tensors;
  for (const Tensor& tensor : tensors) {
    append(all, is_param(tensor.name) ? "state->" + tensor.name : tensor.name);
    append(prepare_tensors, is_param(tensor.name) ? tensor.name : "nullptr");
  }
  return fmt::format(R"(#include <sys/mman.h>

#include "task.h"

namespace {{

{0}
// What lives from prepare() to release(): packed params and scratch memory, on huge pages where the system has them.
struct State {{
{1}  float* memory;
}};
constexpr size_t kFloats = {2}::kPreparedFloats + {2}::kScratchFloats + 64;
constexpr size_t kBytes = (kFloats * sizeof(float) + (2 << 20) - 1) >> 21 << 21;

}}  // namespace

extern "C" void* prepare({3}) {{
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  madvise(memory, kBytes, MADV_HUGEPAGE);
  State* state = new State{{}};
  state->memory = static_cast<float*>(memory);
{4}{5}  return state;
}}

extern "C" void kernel_prepared(void* opaque{6}) {{
  State* state = static_cast<State*>(opaque);
  {2}::run({{{7}}}, state->memory, state->memory + {2}::kPreparedFloats);
}}

extern "C" void release(void* opaque) {{
  State* state = static_cast<State*>(opaque);
  munmap(state->memory, kBytes);
  delete state;
}}
)",
                     code.definitions, saved, code.name, prepare_list, save,
                     code.prepared_floats > 0
                         ? fmt::format("  {}::prepare({{{}}}, state->memory);\n", code.name, prepare_tensors)
                         : "",
                     run_list, all);
}

}  // namespace kforge::smith
