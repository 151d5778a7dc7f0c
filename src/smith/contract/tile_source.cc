#include "smith/contract/tile_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace kforge::smith {

RowPanels deal_rows(long m, int most_rows) {
  RowPanels rows;
  rows.panels = (m + most_rows - 1) / most_rows;
  rows.tall = static_cast<int>((m + rows.panels - 1) / rows.panels);
  rows.tall_count = m - rows.panels * (rows.tall - 1);
  return rows;
}

std::string row_panel_functions(const RowPanels& rows) {
  if (rows.tall_count == rows.panels)
    return R"(
inline long panel_row(long panel) { return panel * kRows; }
inline int panel_rows(long) { return kRows; }
)";
  return fmt::format(R"(
// The first {0} row panels have {1} rows, the others {2}.
inline long panel_row(long panel) {{ return panel < {0} ? panel * {1} : {0} * {1} + (panel - {0}) * {2}; }}
inline int panel_rows(long panel) {{ return panel < {0} ? {1} : {2}; }}
)",
                     rows.tall_count, rows.tall, rows.tall - 1);
}

std::string operand_functions(const Contraction& c) {
  std::string text;
  for (const auto& [operand, which] : {std::pair{&c.a, 'a'}, std::pair{&c.b, 'b'}}) {
    if (!operand->element.empty()) continue;
    text += fmt::format(
        "inline long {0}_batch(long i) {{ (void)i; return {1}; }}\ninline long {0}_side(long i) {{ (void)i; "
        "return {2}; }}\n"
        "inline long {0}_depth(long i) {{ (void)i; return {3}; }}\n",
        which,
        (operand->offset ? fmt::format("{} + ", operand->offset) : "") +
            offset_expression(operand->batch, "i"),
        offset_expression(operand->side, "i"), depth_expression(*operand, "i"));
    const char name = which == 'a' ? 'A' : 'B';
    if (is_linear(operand->side))
      text += fmt::format("constexpr long k{}Side = {};\n", name, linear_stride(operand->side));
    if (depth_is_linear(*operand))
      text += fmt::format("constexpr long k{}Depth = {};\n", name, linear_stride(operand->depth));
  }
  return text;
}

// Batch index to the item of an operand that is packed as a whole (broadcast operands have fewer items).
std::string item_functions(const Operand& operand, char which) {
  std::vector<Axis> axes = operand.batch;
  long items = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    const bool own = axes[i].stride != 0;
    const long extent = axes[i].extent;
    axes[i].stride = own ? items : 0;
    if (own) items *= extent;
  }
  std::vector<Axis> own;  // the first batch index of an item
  long below = 1;
  for (std::size_t i = axes.size(); i-- > 0;) {
    if (axes[i].stride != 0) own.insert(own.begin(), {axes[i].extent, below});
    below *= axes[i].extent;
  }
  return fmt::format(R"(// Batch index to packed item, and back.
inline long {0}_item(long i) {{ (void)i; return {1}; }}
inline long {0}_batch_of(long i) {{ (void)i; return {2}; }}
)",
                     which, offset_expression(axes, "i"), offset_expression(own, "i"));
}

ColumnPanels deal_columns(const Contraction& c, const ContractionSchedule& s) {
  ColumnPanels columns;
  // Packed panels take columns as they come, also from two runs.
  const long length = s.b == Packing::kInPlace ? c.run_length() : c.n, width = s.tile_n();
  columns.runs = c.n / length;
  columns.per_run = (length + width - 1) / width;
  columns.edge = length - (columns.per_run - 1) * width;
  columns.edge_vectors = static_cast<int>((columns.edge + s.lanes - 1) / s.lanes);
  return columns;
}

std::string indented(const std::string& text, const std::string& indent) {
  std::string out;
  bool line_start = true;
  for (char c : text) {
    if (line_start && c != '\n') out += indent;
    out += c;
    line_start = c == '\n';
  }
  if (!line_start) out += '\n';
  return out;
}

std::string end_of_code(const std::string& name) {
  return fmt::format(R"(
void run(const Tensors& t, const float* prepared, float* scratch) {{
#pragma omp parallel num_threads(kThreads)
  work(t, prepared, scratch);
}}

}}  // namespace {}
)",
                     name);
}

std::string tensors_struct(const std::vector<Tensor>& tensors) {
  std::string text = "struct Tensors {\n";
  for (const Tensor& tensor : tensors) text += fmt::format("  {} {};\n", tensor.type, tensor.name);
  return text + "};\n";
}

namespace {

// Whole identifiers only.
bool mentions(const std::string& text, const std::string& name) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const bool starts = at == 0 || !is_word(text[at - 1]);
    const std::size_t end = at + name.size();
    if (starts && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

}  // namespace

std::string tensor_aliases(const std::vector<Tensor>& tensors, const std::string& text,
                           const std::string& indent) {
  std::string out;
  for (const Tensor& tensor : tensors)
    if (mentions(text, tensor.name))
      out += fmt::format("{}{} const {} = t.{};\n", indent, tensor.type, tensor.name, tensor.name);
  return out;
}

std::string vector_source(int lanes) {
  return fmt::format(
      R"(// {0} floats that one instruction handles; Loose is the same in memory at any address.
typedef float Vec __attribute__((vector_size({1})));
typedef float Loose __attribute__((vector_size({1}), aligned(4), may_alias));
inline Vec load_vec(const float* p) {{ return *reinterpret_cast<const Loose*>(p); }}
inline void store_vec(float* p, Vec v) {{ *reinterpret_cast<Loose*>(p) = v; }}
// The first `count` of them, zeros behind: never reads past the end of a tensor.
inline Vec load_first(const float* p, long count) {{
  Vec v = {{}};
  for (long i = 0; i < count; ++i) v[i] = p[i];
  return v;
}}
inline float to_float(float x) {{ return x; }}
inline float to_float(uint16_t bf16) {{
  const uint32_t bits = static_cast<uint32_t>(bf16) << 16;
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}}
template <class T>
inline float to_float(T x) {{ return static_cast<float>(x); }}
)",
      lanes, lanes * 4);
}

namespace {

// The tiles that occur: their heights, and what is special about the last columns of a run.
struct TileCases {
  ColumnPanels columns;
  std::vector<int> heights;
  bool table = false;  // offsets of b along k are looked up
  // A partial vector read in place must not touch what lies behind the tensor; staged copies have slack
  // there.
  bool guarded = false;
  bool has_edge = false, has_full = true;

  TileCases(const Contraction& c, const ContractionSchedule& s) : columns(deal_columns(c, s)) {
    const bool b_in_place = s.b == Packing::kInPlace;
    table = b_in_place && !depth_is_linear(c.b);
    guarded = b_in_place && columns.edge % s.lanes != 0 && c.run == 0;
    const RowPanels rows = deal_rows(c.m, s.rows);
    heights = {rows.tall};
    if (rows.tall_count < rows.panels) heights.push_back(rows.tall - 1);
    has_edge = columns.edge_vectors != s.vectors || guarded;
    has_full = columns.per_run > 1 || !has_edge;
  }
  std::string when(std::size_t height) const {
    return height + 1 < heights.size() ? fmt::format("  if (rows == {}) {{\n", heights[height]) : "  {\n";
  }
};

}  // namespace

std::string micro_kernel_source(const Contraction& c, const ContractionSchedule& s) {
  const bool a_in_place = s.a == Packing::kInPlace, b_in_place = s.b == Packing::kInPlace;
  const std::string a_at = a_in_place ? "a[i * kASide + k * kADepth]" : "a[k * rows + i]";
  std::string b_at = "b + k * kTileN";
  if (b_in_place) b_at = depth_is_linear(c.b) ? "b + k * kBDepth" : "b + depth_offsets[k]";
  const TileCases cases(c, s);
  const auto& [columns, heights, table, guarded, has_edge, has_full] = cases;
  std::string text =
      fmt::format(R"(
// c (+)= a * b for a tile of rows x (vectors * kLanes), over `depth` steps of k. All sums live in registers: per step
// {0} vectors of b are loaded and {1} values of a broadcast for {2} multiply-adds.
template <int rows, int vectors{3}>
inline void multiply_tile(long depth, const float* a, const float* b, {4}bool first, float* c, long c_stride) {{
  Vec sum[rows][vectors];
#pragma GCC unroll 32
  for (int i = 0; i < rows; ++i) {{
    if (!first) __builtin_prefetch(c + i * c_stride, 1);
#pragma GCC unroll 16
    for (int j = 0; j < vectors; ++j) sum[i][j] = Vec{{}};
  }}
  for (long k = 0; k < depth; ++k) {{
    const float* const right = {5};
{8}    Vec column[vectors];
#pragma GCC unroll 16
    for (int j = 0; j < vectors; ++j)
      column[j] = {6};
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i) {{
      const float left = {7};
#pragma GCC unroll 16
      for (int j = 0; j < vectors; ++j) sum[i][j] += left * column[j];
    }}
  }}
  if (!first)
#pragma GCC unroll 32
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < vectors; ++j) sum[i][j] += load_vec(c + i * c_stride + j * kLanes);
#pragma GCC unroll 32
  for (int i = 0; i < rows; ++i)
#pragma GCC unroll 16
    for (int j = 0; j < vectors; ++j) store_vec(c + i * c_stride + j * kLanes, sum[i][j]);
}}
)",
                  s.vectors, s.rows, s.rows * s.vectors, guarded ? ", bool guarded" : "",
                  table ? "const int* depth_offsets, " : "", b_at,
                  guarded ? "guarded && j == vectors - 1 ? load_first(right + j * kLanes, kEdge % kLanes)\n"
                            "                                          : load_vec(right + j * kLanes)"
                          : "load_vec(right + j * kLanes)",
                  a_at,
                  passes_by_once(c, s)
                      ? "    // b comes from memory, once: asked for some steps ahead.\n"
                        "    for (long j = 0; j < kTileN; j += 16) __builtin_prefetch(right + 512 + j);\n"
                      : "");
  text += fmt::format(
      R"(
// Rows are dealt out so that all panels have {} rows; only the last columns of a run may need a narrower tile.
// A function of its own: constants of what surrounds it must not take registers from the sums.
__attribute__((noinline)) void multiply_any(int rows, bool edge, long depth, const float* a, const float* b, {}bool first, float* c,
                         long c_stride) {{
)",
      heights.size() == 1 ? fmt::format("{}", heights[0]) : fmt::format("{} or {}", heights[0], heights[1]),
      table ? "const int* depth_offsets, " : "");
  const char* pass = table ? "depth_offsets, " : "";
  for (std::size_t h = 0; h < heights.size(); ++h) {
    text += cases.when(h);
    if (has_edge)
      text += fmt::format("    {}return multiply_tile<{}, {}{}>(depth, a, b, {}first, c, c_stride);\n",
                          has_full ? "if (edge) " : "", heights[h], columns.edge_vectors,
                          guarded ? ", true" : "", pass);
    if (has_full)
      text += fmt::format("    return multiply_tile<{}, {}{}>(depth, a, b, {}first, c, c_stride);\n",
                          heights[h], s.vectors, guarded ? ", false" : "", pass);
    text += "  }\n";
  }
  return text + "}\n";
}

namespace {

// What the finishing statements ask for: the sums themselves, or where they lie (sum_at[column]).
std::string sum_lines(const std::string& text, bool vector) {
  std::string lines;
  if (mentions(text, "sum"))
    lines += vector ? "      const Vec sum = load_vec(sums + i * stride + j);\n"
                    : "      const float sum = sums[i * stride + j];\n";
  if (mentions(text, "sum_at"))
    lines += "      const float* const sum_at = sums + i * stride + j - column;\n";
  return lines;
}

}  // namespace

std::string finish_source(const Contraction& c, const ContractionSchedule& s, bool any_width) {
  const std::string vector = c.finish({s.lanes, s.stream});
  const std::string scalar = c.finish({1, false});
  std::string text = fmt::format(R"(
// Finished sums become the result: {}
inline __attribute__((always_inline)) void finish_tile(const Tensors& t, long batch, long row0, long column0, const float* sums, long stride, int rows,
                        long columns) {{
{}  for (int i = 0; i < rows; ++i) {{
    const long row = row0 + i;
    long j = 0;
    for (; j + kLanes <= columns; j += kLanes) {{
      const long column = column0 + j;
{}{}    }}
)",
                                 c.what, tensor_aliases(c.tensors, vector + scalar, "  "),
                                 sum_lines(vector, true), indented(vector, "      "));
  if (any_width || deal_columns(c, s).edge % s.lanes != 0)
    text += fmt::format(R"(    for (; j < columns; ++j) {{
      const long column = column0 + j;
{}{}    }}
)",
                        sum_lines(scalar, false), indented(scalar, "      "));
  return text + "  }\n  (void)batch;\n}\n";
}

std::string whole_tile_source(const Contraction& c, const ContractionSchedule& s) {
  const TileCases cases(c, s);
  const char* offsets = cases.table ? ", const int* depth_offsets" : "";
  const char* pass = cases.table ? "depth_offsets, " : "";
  std::string text =
      fmt::format(R"(
// One tile, from the first product to the result. All sizes are known, so sums need not pass through memory.
template <int rows, int vectors, long columns{0}>
inline void whole_tile(const Tensors& t, long batch, long row, long column, long depth, const float* a, const float* b{1}) {{
  alignas(64) float sums[rows * kTileN];
  multiply_tile<rows, vectors{2}>(depth, a, b, {3}true, sums, kTileN);
  finish_tile(t, batch, row, column, sums, kTileN, rows, columns);
}}
__attribute__((noinline)) void any_tile(int rows, bool edge, const Tensors& t, long batch, long row, long column, long depth, const float* a,
                     const float* b{1}) {{
)",
                  cases.guarded ? ", bool guarded" : "", offsets, cases.guarded ? ", guarded" : "", pass);
  const std::string arguments =
      fmt::format("(t, batch, row, column, depth, a, b{})", cases.table ? ", depth_offsets" : "");
  const bool narrow = cases.columns.edge != s.tile_n();
  for (std::size_t h = 0; h < cases.heights.size(); ++h) {
    text += cases.when(h);
    if (cases.has_edge || narrow)
      text += fmt::format("    {}return whole_tile<{}, {}, kEdge{}>{};\n",
                          cases.columns.per_run > 1 ? "if (edge) " : "", cases.heights[h],
                          cases.columns.edge_vectors, cases.guarded ? ", true" : "", arguments);
    if (cases.columns.per_run > 1 || !(cases.has_edge || narrow))
      text += fmt::format("    return whole_tile<{}, {}, kTileN{}>{};\n", cases.heights[h], s.vectors,
                          cases.guarded ? ", false" : "", arguments);
    text += "  }\n";
  }
  return text + "}\n";
}

}  // namespace kforge::smith
