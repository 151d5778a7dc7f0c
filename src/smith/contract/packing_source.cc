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

// Steps of k of the rows of a panel side by side. Whole vectors are stored though a panel has fewer rows:
// what lies behind them is overwritten by a later step, so steps go upwards and the last rows go before the
// first. The last steps, whose vectors would end behind the panel, are done by elements: the panel there is
// another thread's.
std::string pack_a(const Contraction& c) {
  const std::string element = element_of(c.a, 'a');
  const bool along_k =
      is_matrix(c.a) && is_linear(c.a.side) && depth_is_linear(c.a) && linear_stride(c.a.depth) == 1;
  const bool along_m = is_matrix(c.a) && is_linear(c.a.side) && linear_stride(c.a.side) == 1 && c.m > 1;
  std::string text = R"(
// One panel of a: out[k][i] for its rows i, from step first_k on.
void pack_a_panel(const Tensors& t, long batch, long panel, long first_k, long steps, float* out) {
)";
  text += tensor_aliases(c.tensors, element, "  ");
  text += "  const long row0 = panel_row(panel);\n  const int rows = panel_rows(panel);\n  long step = 0;\n";
  if (along_k || along_m)
    text += R"(  // The last step whose vectors end inside the panel.
  const long last_whole = steps - (((rows - 1) / kLanes + 1) * kLanes + rows - 1) / rows;
)";
  if (along_k)
    text += fmt::format(R"(  const float* const source = {} + a_batch(batch) + a_side(row0) + first_k;
  for (; step + kLanes - 1 <= last_whole; step += kLanes)
    for (int i = (rows - 1) / kLanes * kLanes; i >= 0; i -= kLanes)  // a store's tail is mended by a later one
      transpose_square(source + i * kASide + step, kASide, rows - i, out + step * rows + i, rows);
)",
                        c.a.pointer);
  else if (along_m)
    text += fmt::format(R"(  const float* const source = {} + a_batch(batch) + row0;
  if (row0 + (rows + kLanes - 1) / kLanes * kLanes <= kM)
    for (; step <= last_whole; ++step)
      for (int i = (rows - 1) / kLanes * kLanes; i >= 0; i -= kLanes)  // a store's tail is mended by a later one
        store_vec(out + step * rows + i, load_vec(source + a_depth(first_k + step) + i));
)",
                        c.a.pointer);
  text += fmt::format(R"(  for (; step < steps; ++step)
    for (int i = 0; i < rows; ++i) {{
      const long side = row0 + i, depth = first_k + step;
      out[step * rows + i] = {};
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
// Transposes a square of {0} x {0}: interleaving the first half of the rows with the second, {1} times over. Of its
// rows the first `count` are read, the others taken as zeros.
inline void transpose_square(const float* in, long in_stride, int count, float* out, long out_stride) {{
  Vec row[{0}], next[{0}];
#pragma GCC unroll 16
  for (int i = 0; i < {0}; ++i) row[i] = i < count ? load_vec(in + i * in_stride) : Vec{{}};
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

// From the padded copy of an image, where columns lie in runs.
std::string pack_image(const Contraction& c) {
  return fmt::format(R"(
// One panel of b: out[k][j] for its columns j, from step first_k on. Most vectors lie in one row of the image; one
// that ends in the next row is put together from both. Behind the last column there is more of it.
void pack_b_panel(const float* staged, long panel, long first_k, long steps, float* out) {{
  for (int v = 0; v < kVectors; ++v) {{
    long at[kLanes];
    for (int j = 0; j < kLanes; ++j) {{
      const long column = panel * kTileN + v * kLanes + j;
      at[j] = b_side(column < kN ? column : kN - 1);
    }}
    int split = 1;  // lanes of the first row
    while (split < kLanes && at[split] == at[0] + split) ++split;
    int lanes = split;  // of two rows
    while (lanes < kLanes && at[lanes] == at[split] + lanes - split) ++lanes;
    const long last = at[kLanes - 1];
    const float* const first_row = staged + at[0];
    float* const to = out + v * kLanes;
    if (split == kLanes) {{
      for (long step = 0; step < steps; ++step)
        store_vec(to + step * kTileN, load_vec(first_row + {0}));
    }} else if (lanes == kLanes && last >= kLanes - 1) {{
      const float* const second_row = staged + last - (kLanes - 1);
      Vec second;
      for (int j = 0; j < kLanes; ++j) second[j] = j < split ? 0.0f : 1.0f;
      for (long step = 0; step < steps; ++step)
        store_vec(to + step * kTileN, second > 0.0f ? load_vec(second_row + {0}) : load_vec(first_row + {0}));
    }} else {{
      for (long step = 0; step < steps; ++step)
        for (int j = 0; j < kLanes; ++j) to[step * kTileN + j] = staged[at[j] + {0}];
    }}
  }}
}}
)",
                     depth_is_linear(c.b) ? "b_depth(first_k + step)" : "kDepthOffsets.at[first_k + step]");
}

std::string pack_b(const Contraction& c, const ContractionSchedule& s) {
  if (c.run > 0) return pack_image(c);
  const std::string element = element_of(c.b, 'b');
  const bool edge = c.n % s.tile_n() != 0;
  const bool along_n = is_matrix(c.b) && is_linear(c.b.side) && linear_stride(c.b.side) == 1;
  const bool along_k =
      is_matrix(c.b) && is_linear(c.b.side) && depth_is_linear(c.b) && linear_stride(c.b.depth) == 1;
  std::string text;
  text += R"(
// One panel of b: out[k][j] for its columns j, from step first_k on; zeros where there are fewer than kTileN.
void pack_b_panel(const Tensors& t, long batch, long panel, long first_k, long steps, float* out) {
)";
  text += tensor_aliases(c.tensors, element, "  ");
  text += "  const long column0 = panel * kTileN;\n";
  if (edge) text += "  const long columns = kN - column0 < kTileN ? kN - column0 : kTileN;\n";
  // Whole panels by vectors; the last, where it is narrower, element by element.
  const std::string whole = edge ? "  if (columns == kTileN) {\n" : "  {\n";
  if (along_n)
    text += fmt::format(R"({}    const float* const source = {} + b_batch(batch) + b_side(column0);
    for (long step = 0; step < steps; ++step)
      for (int j = 0; j < kVectors; ++j)
        store_vec(out + step * kTileN + j * kLanes, load_vec(source + b_depth(first_k + step) + j * kLanes));
    return;
  }}
)",
                        whole, c.b.pointer);
  if (along_k)
    text += fmt::format(
        R"({}    const float* const source = {} + b_batch(batch) + b_side(column0) + first_k;
    long step = 0;
    for (; step + kLanes <= steps; step += kLanes)
      for (int j = 0; j < kVectors; ++j)
        transpose_square(source + b_side(j * kLanes) + step, kBSide, kLanes, out + step * kTileN + j * kLanes, kTileN);
    for (; step < steps; ++step)
      for (long j = 0; j < kTileN; ++j) out[step * kTileN + j] = source[b_side(j) + step];
    return;
  }}
)",
        whole, c.b.pointer);
  if (edge || !(along_n || along_k))
    text += fmt::format(R"(  for (long step = 0; step < steps; ++step)
    for (long j = 0; j < kTileN; ++j) {{
      const long side = column0 + j, depth = first_k + step;
      out[step * kTileN + j] = {}{};
    }}
)",
                        edge ? "j >= columns ? 0.0f : " : "", element);
  return text + "  (void)batch;\n}\n";
}

}  // namespace

std::string packing_source(const Contraction& c, const ContractionSchedule& s) {
  const auto turned = [](const Operand& operand) {
    return is_matrix(operand) && is_linear(operand.side) && depth_is_linear(operand) &&
           linear_stride(operand.depth) == 1;
  };
  std::string text;
  if ((s.a != Packing::kInPlace && turned(c.a)) || (s.b != Packing::kInPlace && turned(c.b)))
    text += transpose_source(s.lanes);
  if (s.a != Packing::kInPlace) text += pack_a(c);
  if (s.b != Packing::kInPlace) text += pack_b(c, s);
  return text;
}

}  // namespace kforge::smith
