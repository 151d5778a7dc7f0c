// Text that brings operands into panels: for each step of k the values that one register tile needs, side by
// side.
#include <fmt/format.h>

#include "smith/contract/tile_source.h"

namespace kforge::smith {

namespace {

// The value of an operand at (batch, side, depth), as a C++ expression of type float.
std::string element_of(const Operand& operand, char which) {
  if (!operand.element.empty()) return operand.element;
  return fmt::format("to_float({}[{}_batch(batch) + {}_side(side) + {}_depth(depth)])", operand.pointer,
                     which, which, which);
}

bool is_matrix(const Operand& operand) { return operand.element.empty() && operand.dtype == DType::kFloat32; }

std::string pack_a(const Contraction& c) {
  const std::string element = element_of(c.a, 'a');
  std::string text = R"(
// One panel of a: out[k][i] for its rows i.
void pack_a_panel(const Tensors& t, long batch, long panel, float* out) {
)";
  text += tensor_aliases(c.tensors, element, "  ");
  text += "  const long row0 = panel_row(panel);\n  const int rows = panel_rows(panel);\n";
  if (is_matrix(c.a) && is_linear(c.a.side) && linear_stride(c.a.depth) == 1 && depth_is_linear(c.a)) {
    // Row by row would write with a stride; a few steps of k of all rows at once keep both sides in L1.
    text += fmt::format(R"(  const float* const source = {} + a_batch(batch) + a_side(row0);
  for (long depth0 = 0; depth0 < kK; depth0 += 64) {{
    const long end = depth0 + 64 < kK ? depth0 + 64 : kK;
    for (int i = 0; i < rows; ++i)
      for (long depth = depth0; depth < end; ++depth) out[depth * rows + i] = source[i * kASide + depth];
  }}
}}
)",
                        c.a.pointer);
    return text;
  }
  text += fmt::format(R"(  for (long depth = 0; depth < kK; ++depth)
    for (int i = 0; i < rows; ++i) {{
      const long side = row0 + i;
      out[depth * rows + i] = {};
    }}
  (void)batch;
}}
)",
                      element);
  return text;
}

// "0, 8, 1, 9, ...": interleaves the lower (or upper) halves of two vectors.
std::string interleave(int lanes, bool upper) {
  std::string text;
  for (int i = 0; i < lanes / 2; ++i) {
    const int at = i + (upper ? lanes / 2 : 0);
    text += fmt::format("{}{}, {}", i > 0 ? ", " : "", at, at + lanes);
  }
  return text;
}

std::string transpose_source(int lanes) {
  int rounds = 0;
  while ((1 << rounds) < lanes) ++rounds;
  return fmt::format(R"(
// Transposes a square of {0} x {0}: interleaving the first half of the rows with the second, {1} times over.
inline void transpose_square(const float* in, long in_stride, float* out, long out_stride) {{
  Vec row[{0}], next[{0}];
#pragma GCC unroll 16
  for (int i = 0; i < {0}; ++i) row[i] = load_vec(in + i * in_stride);
#pragma GCC unroll 4
  for (int round = 0; round < {1}; ++round) {{
#pragma GCC unroll 16
    for (int i = 0; i < {2}; ++i) {{
      next[2 * i] = __builtin_shufflevector(row[i], row[i + {2}], {3});
      next[2 * i + 1] = __builtin_shufflevector(row[i], row[i + {2}], {4});
    }}
#pragma GCC unroll 16
    for (int i = 0; i < {0}; ++i) row[i] = next[i];
  }}
#pragma GCC unroll 16
  for (int i = 0; i < {0}; ++i) store_vec(out + i * out_stride, row[i]);
}}
)",
                     lanes, rounds, lanes / 2, interleave(lanes, false), interleave(lanes, true));
}

std::string pack_b(const Contraction& c, const ContractionSchedule& s) {
  const std::string element = element_of(c.b, 'b');
  const bool edge = c.n % s.tile_n() != 0;
  const bool along_n = is_matrix(c.b) && is_linear(c.b.side) && linear_stride(c.b.side) == 1;
  const bool along_k =
      is_matrix(c.b) && is_linear(c.b.side) && depth_is_linear(c.b) && linear_stride(c.b.depth) == 1;
  std::string text;
  if (along_k) text += transpose_source(s.lanes);
  text += R"(
// One panel of b: out[k][j] for its columns j; zeros where there are fewer than kTileN.
void pack_b_panel(const Tensors& t, long batch, long panel, float* out) {
)";
  text += tensor_aliases(c.tensors, element, "  ");
  text += "  const long column0 = panel * kTileN;\n";
  if (edge) text += "  const long columns = kN - column0 < kTileN ? kN - column0 : kTileN;\n";
  // Whole panels by vectors; the last, where it is narrower, element by element.
  const std::string whole = edge ? "  if (columns == kTileN) {\n" : "  {\n";
  if (along_n)
    text += fmt::format(R"({}    const float* const source = {} + b_batch(batch) + b_side(column0);
    for (long depth = 0; depth < kK; ++depth)
      for (int j = 0; j < kVectors; ++j) store_vec(out + depth * kTileN + j * kLanes, load_vec(source + b_depth(depth) + j * kLanes));
    return;
  }}
)",
                        whole, c.b.pointer);
  if (along_k)
    text += fmt::format(
        R"({}    const float* const source = {} + b_batch(batch) + b_side(column0);
    for (long depth = 0; depth + kLanes <= kK; depth += kLanes)
      for (int j = 0; j < kVectors; ++j)
        transpose_square(source + b_side(j * kLanes) + depth, kBSide, out + depth * kTileN + j * kLanes, kTileN);
{}    return;
  }}
)",
        whole, c.b.pointer,
        c.k % s.lanes == 0 ? "" : R"(    for (long depth = kK / kLanes * kLanes; depth < kK; ++depth)
      for (long j = 0; j < kTileN; ++j) out[depth * kTileN + j] = source[b_side(j) + depth];
)");
  if (edge || !(along_n || along_k))
    text += fmt::format(R"(  for (long depth = 0; depth < kK; ++depth)
    for (long j = 0; j < kTileN; ++j) {{
      const long side = column0 + j;
      out[depth * kTileN + j] = {}{};
    }}
)",
                        edge ? "j >= columns ? 0.0f : " : "", element);
  return text + "  (void)batch;\n}\n";
}

}  // namespace

std::string packing_source(const Contraction& c, const ContractionSchedule& s) {
  std::string text;
  if (s.a != Packing::kInPlace) text += pack_a(c);
  if (s.b != Packing::kInPlace) text += pack_b(c, s);
  return text;
}

}  // namespace kforge::smith
