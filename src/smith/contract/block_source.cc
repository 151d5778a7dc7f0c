// The loops between the caches and the registers: one block of the result.
#include <fmt/format.h>

#include "smith/contract/contraction_plan.h"

namespace kforge::smith {

namespace {

// Where one panel of an operand begins, at step k0.
std::string a_panel(const Contraction& c, const ContractionSchedule& s) {
  switch (s.a) {
    case Packing::kInPlace:
      return fmt::format("t.{} + a_batch(batch) + a_side(row) + a_depth(k0)", c.a.pointer);
    case Packing::kBlock:
      return "a_block + (panel - first_panel) * kRows * kBlockK";
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
      return "b_block";
    default:
      break;
  }
  return c.b.batch.empty()
             ? "packed_b + column_panel * kTileN * kK + k0 * kTileN"
             : "packed_b + (b_item(batch) * kColumnPanels + column_panel) * kTileN * kK + k0 * kTileN";
}

// b is a plain matrix whose rows (along n) can be fetched ahead of the packing.
bool fetches_ahead(const Contraction& c, const ContractionSchedule& s) {
  return s.b == Packing::kBlock && c.run == 0 && c.b.element.empty() && c.b.dtype == DType::kFloat32 &&
         is_linear(c.b.side) && linear_stride(c.b.side) == 1 && depth_is_linear(c.b);
}

// Panels of b that lie packed are walked in order; the next one can be asked for as a whole.
bool follows_panels(const Contraction& c, const ContractionSchedule& s, const ContractionPlan& p) {
  return p.b_floats > 0 && s.b != Packing::kBlock && !p.rows_outer && !passes_by_once(c, s);
}

// Rows of a that are read in place, one behind the other: too many short streams for the hardware to follow.
bool follows_rows(const Contraction& c, const ContractionSchedule& s, const ContractionPlan& p) {
  return p.rows_outer && s.a == Packing::kInPlace && linear_stride(c.a.depth) == 1 &&
         linear_stride(c.a.side) == c.k;
}

std::string fetch_function(const Contraction& c, const ContractionSchedule& s, const ContractionPlan& p) {
  if (follows_rows(c, s, p))
    return R"(
// Asks for a share of the next rows of a while these are multiplied.
inline void fetch_a(const float* next, long floats, long share, long shares) {
  const long last = floats * (share + 1) / shares;
  for (long i = floats * share / shares; i < last; i += 16) __builtin_prefetch(next + i);
}
)";
  if (follows_panels(c, s, p))
    return R"(
// Asks for a share of the next panel of b to come into L2 while this one is multiplied.
inline void fetch_b(const float* next, long floats, long share, long shares) {
  const long last = floats * (share + 1) / shares;
  for (long i = floats * share / shares; i < last; i += 16) __builtin_prefetch(next + i, 0, 2);
}
)";
  if (!fetches_ahead(c, s)) return "";
  const bool crosses = linear_stride(c.b.depth) % 16 != 0;
  return fmt::format(R"(
// Asks for a share of the rows of the panel of b that is packed next to come into L2 while this one is multiplied.
inline void fetch_b(const Tensors& t, long batch, long panel, long k0, long depth, long share, long shares) {{
  if (panel >= kColumnPanels) return;
  const float* const source = t.{} + b_batch(batch) + b_side(panel * kTileN) + b_depth(k0);
  const long last = depth * (share + 1) / shares;
  for (long i = depth * share / shares; i < last; ++i) {}
}}
)",
                     c.b.pointer,
                     crosses ? "{\n    __builtin_prefetch(source + i * kBDepth, 0, 2);\n    "
                               "__builtin_prefetch(source + i * kBDepth + kTileN - 1, 0, 2);\n  }"
                             : "__builtin_prefetch(source + i * kBDepth, 0, 2);");
}

// Slices of k are rows of taps, and those that see nothing but padding are left out.
bool leaves_out(const Contraction& c, const ContractionSchedule& s, const ContractionPlan& p) {
  return c.tap_rows && p.block_k == c.tap_rows->steps && p.split_depth && s.splits == 1;
}

std::string slices_function(const TapRows& r) {
  return fmt::format(R"(
// Whether a row of taps, a slice of k, sees more than padding for some columns of a panel.
inline bool sees_image(long column_panel, long k0) {{
  const long kd = k0 / kBlockK / {0}, kh = k0 / kBlockK % {0};
  const long first = panel_column(column_panel), last = first + panel_columns(column_panel) - 1;
  for (long row = first / {1}; row <= last / {1}; ++row) {{
    const long d = row / {2} * {3} + kd * {4} - {5}, h = row % {2} * {6} + kh * {7} - {8};
    if (d >= 0 && d < {9} && h >= 0 && h < {10}) return true;
  }}
  return false;
}}

// The first and the last such slice.
struct Slices {{
  long first = 0, last = 0;
}};
inline Slices slices_of(long column_panel) {{
  Slices found;
  while (found.first + kBlockK < kK && !sees_image(column_panel, found.first)) found.first += kBlockK;
  for (long k0 = found.last = found.first; k0 < kK; k0 += kBlockK)
    if (sees_image(column_panel, k0)) found.last = k0;
  return found;
}}
)",
                     r.taps[1], r.width, r.out[1], r.strides[0], r.dilations[0], r.begins[0], r.strides[1],
                     r.dilations[1], r.begins[1], r.input[0], r.input[1]);
}

// The statements inside of all loops: one tile of sums.
std::string tile_statements(const Contraction& c, const ContractionSchedule& s, const ContractionPlan& p) {
  const bool table = s.b == Packing::kInPlace && !depth_is_linear(c.b);
  const std::string offsets =
      table ? (p.split_depth || s.splits > 1 ? "kDepthOffsets.at + k0, " : "kDepthOffsets.at, ") : "";
  if (!p.split_depth && s.splits == 1)
    return fmt::format(
        "        any_tile(rows, is_edge(column_panel), t, batch, row, column, depth, a, b{});\n",
        table ? ", kDepthOffsets.at" : "");
  const bool some = leaves_out(c, s, p);
  std::string text = fmt::format(
      R"(        float* const tile = sums + (row - panel_row(first_panel)) * stride + (column_panel - first_column) * kTileN;
        multiply_any(rows, is_edge(column_panel), depth, a, b, {}k0 == {}, tile, stride);
)",
      offsets,
      some           ? "slices.first"
      : s.splits > 1 ? "first_k"
                     : "0");
  if (s.splits == 1)
    text += fmt::format(
        "        if ({}) finish_tile(t, batch, row, column, tile, stride, rows, "
        "panel_columns(column_panel));\n",
        some ? "k0 == slices.last" : "k0 + depth == kK");
  return text;
}

}  // namespace

std::string block_arguments(const ContractionSchedule& s, const ContractionPlan& p, const Staging* staging) {
  std::string text;
  if (p.a_floats > 0) text += ", packed_a";
  if (p.b_floats > 0) text += ", packed_b";
  if (s.a == Packing::kBlock) text += ", a_block";
  if (s.b == Packing::kBlock) text += ", b_block";
  if (staging) text += ", staged";
  if (p.split_depth && s.splits == 1) text += ", sums";
  return text;
}

std::string block_source(const Contraction& c, const ContractionSchedule& s, const ContractionPlan& p,
                         const Staging* staging) {
  std::string text = fetch_function(c, s, p);
  const bool some_slices = leaves_out(c, s, p);
  if (some_slices) text += slices_function(*c.tap_rows);
  text += R"(
// All sums of one block: rows of panels [first_panel, last_panel), columns of panels [first_column, last_column).
void multiply_block(const Tensors& t, long batch, long first_panel, long last_panel, long first_column, long last_column)";
  if (p.a_floats > 0) text += ", const float* packed_a";
  if (p.b_floats > 0) text += ", const float* packed_b";
  if (s.a == Packing::kBlock) text += ", float* a_block";
  if (s.b == Packing::kBlock) text += ", float* b_block";
  if (staging) text += ", const float* staged";
  if (p.split_depth && s.splits == 1) text += ", float* sums";
  if (s.splits > 1) text += ", float* sums, long first_k, long last_k";
  text += ") {\n";
  if (s.splits > 1)
    text += R"(  const long stride = kPartStride;
  for (long k0 = first_k; k0 < last_k; k0 += kBlockK) {
    const long depth = last_k - k0 < kBlockK ? last_k - k0 : kBlockK;
)";
  else if (p.split_depth)
    text +=
        std::string(some_slices ? R"(  Slices seen[kBlockColumnPanels];
  for (long i = first_column; i < last_column; ++i) seen[i - first_column] = slices_of(i);
)"
                                : "") +
        R"(  const long stride = kBlockColumnPanels * kTileN + 16;  // 16 more: rows do not fall on the same cache sets
  for (long k0 = 0; k0 < kK; k0 += kBlockK) {
    const long depth = kK - k0 < kBlockK ? kK - k0 : kBlockK;
)";
  else
    text += "  {\n    constexpr long k0 = 0, depth = kK;\n";
  if (s.a == Packing::kBlock)
    text += R"(    for (long panel = first_panel; panel < last_panel; ++panel)
      pack_a_panel(t, batch, panel, k0, depth, a_block + (panel - first_panel) * kRows * kBlockK);
)";
  const std::string column_loop =
      "for (long column_panel = first_column; column_panel < last_column; ++column_panel) {\n";
  const std::string row_loop = "for (long panel = first_panel; panel < last_panel; ++panel) {\n";
  const std::string column_names =
      fmt::format("{}const long column = panel_column(column_panel);\n{}const float* const b = {};\n",
                  some_slices ? "const Slices slices = seen[column_panel - first_column];\n"
                                "if (k0 != slices.first && !sees_image(column_panel, k0)) continue;\n"
                              : "",
                  s.b != Packing::kBlock ? ""
                  : staging              ? "pack_b_panel(staged, column_panel, k0, depth, b_block);\n"
                                         : "pack_b_panel(t, batch, column_panel, k0, depth, b_block);\n",
                  b_panel(c, s, staging));
  const std::string row_names = fmt::format(
      "const long row = panel_row(panel);\nconst int rows = panel_rows(panel);\nconst float* const a = {};\n",
      a_panel(c, s));
  text += "    " + (p.rows_outer ? row_loop : column_loop);
  text += indented(p.rows_outer ? row_names : column_names, "      ");
  text += "      " + (p.rows_outer ? column_loop : row_loop);
  if (fetches_ahead(c, s))
    text +=
        "        fetch_b(t, batch, column_panel + 1, k0, depth, panel - first_panel, last_panel - "
        "first_panel);\n";
  if (follows_rows(c, s, p))
    text +=
        "        fetch_a(a + rows * kK, rows * kK, column_panel - first_column, last_column - "
        "first_column);\n";
  if (follows_panels(c, s, p))
    text +=
        "        fetch_b(b + kTileN * kK, depth * kTileN, panel - first_panel, last_panel - first_panel);\n";
  text += indented(p.rows_outer ? column_names : row_names, "        ");
  text += tile_statements(c, s, p);
  text += "      }\n    }\n  }\n}\n";
  return text;
}

}  // namespace kforge::smith
