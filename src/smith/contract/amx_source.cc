// Tiles are 16 rows of 64 bytes; one instruction multiplies 16 x 32 values of a with 32 x 16 of b. Four tiles
// hold a 32 x 32 block of sums, two hold a, two hold b. Values are bf16 (8 bits of mantissa); split into two
// or three of them, x = hi + mid + lo, three products reach about 2e-5 of the rms and six reach fp32.
//
// Panels are packed as whole tiles in the order in which they are read: step of 32 k, then part of the split,
// then the two tiles. b interleaves two steps of k, as the instruction wants it.
#include "smith/contract/amx_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/tile_source.h"

namespace kforge::smith {

namespace {

long ceil_div(long a, long b) { return (a + b - 1) / b; }
long lines(long floats) { return ceil_div(floats, 16) * 16; }

int splits_of(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::kBf16 ? 1 : arithmetic == Arithmetic::kBf16x3 ? 2 : 3;
}

// Pairs of parts whose products are added, small ones first; neighbours share a part, so that it is not
// loaded again.
std::vector<std::pair<int, int>> products_of(Arithmetic arithmetic) {
  if (arithmetic == Arithmetic::kBf16) return {{0, 0}};
  if (arithmetic == Arithmetic::kBf16x3) return {{0, 1}, {0, 0}, {1, 0}};
  return {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}};
}

std::string step_source(const ContractionSchedule& s) {
  std::string text;
  int loaded_a = -1, loaded_b = -1;
  for (const auto& [a, b] : products_of(s.arithmetic)) {
    if (a != loaded_a)
      text += fmt::format("    _tile_loadd(4, a + {}, 64);\n    _tile_loadd(5, a + {}, 64);\n", a * 1024,
                          a * 1024 + 512);
    if (b != loaded_b)
      text += fmt::format("    _tile_loadd(6, b + {}, 64);\n    _tile_loadd(7, b + {}, 64);\n", b * 1024,
                          b * 1024 + 512);
    loaded_a = a, loaded_b = b;
    text +=
        "    _tile_dpbf16ps(0, 4, 6);\n    _tile_dpbf16ps(1, 4, 7);\n    _tile_dpbf16ps(2, 5, 6);\n    "
        "_tile_dpbf16ps(3, 5, 7);\n";
  }
  return text;
}

std::string element_of(const Operand& operand, char which) {
  if (!operand.element.empty()) return operand.element;
  return fmt::format("to_float({}[{}_batch(batch) + {}_side(side) + {}_depth(depth)])", operand.pointer,
                     which, which, which);
}

std::string pack_source(const Contraction& c, char which) {
  const bool a = which == 'a';
  const std::string element = element_of(a ? c.a : c.b, which);
  return fmt::format(R"(
// One panel of {0}, 32 {1} wide: tiles of {2}.
void pack_{0}_panel(const Tensors& t, long batch, long panel, uint16_t* out) {{
{3}  for (long step = 0; step < kSteps; ++step)
    for (long i = 0; i < 32; ++i)
      for (long j = 0; j < 32; ++j) {{
        const long side = panel * 32 + i, depth = step * 32 + j;
        float rest = side < {4} && depth < kK ? {5} : 0.0f;
        for (long part = 0; part < kParts; ++part) {{
          const uint16_t bits = to_bf16(rest);
          rest -= to_float(bits);
          out[(step * kParts + part) * 1024 + i / 16 * 512 + {6}] = bits;
        }}
      }}
  (void)batch;
}}
)",
                     which, a ? "rows" : "columns", a ? "16 rows x 32 k" : "16 pairs of k x 16 columns",
                     tensor_aliases(c.tensors, element, "  "), a ? "kM" : "kN", element,
                     a ? "i % 16 * 32 + j" : "j / 2 * 32 + i % 16 * 2 + j % 2");
}

}  // namespace

Result<ContractionCode> emit_amx_contraction(const Contraction& c, const ContractionSchedule& s) {
  if (s.a == Packing::kBlock || s.b == Packing::kBlock)
    return fail("{} packs whole operands", name_of(s.arithmetic));
  const int parts = splits_of(s.arithmetic);
  const long steps = ceil_div(c.k, 32), row_panels = ceil_div(c.m, 32), column_panels = ceil_div(c.n, 32);
  const long a_items = own_items(c.a), b_items = own_items(c.b),
             panel = steps * parts * 512;  // floats of one panel
  const long block_rows = std::clamp<long>(s.block_m / 32, 1, row_panels),
             block_columns = std::clamp<long>(s.block_n / 32, 1, column_panels);
  const long a_floats = lines(a_items * row_panels * panel),
             b_floats = lines(b_items * column_panels * panel);
  const long sums = block_rows * 32 * (block_columns * 32 + 16);
  ContractionCode code;
  code.name = c.name;
  code.prepared_floats =
      (s.a == Packing::kPrepare ? a_floats : 0) + (s.b == Packing::kPrepare ? b_floats : 0);
  code.scratch_floats =
      (s.a == Packing::kCall ? a_floats : 0) + (s.b == Packing::kCall ? b_floats : 0) + s.threads * sums;

  std::string text =
      fmt::format(R"(// {0}
// c[{1}][{2}] = sum over k = {3} of a * b on AMX tiles: {4} product{5} of bf16 parts for each product of floats, summed in fp32.
// A block of 32 x 32 sums fills four tiles; {6} x {7} sums of a macro block stay in L2 while k goes on by {8}.
namespace {9} {{

{10}
constexpr long kM = {1}, kN = {2}, kK = {3}, kBatch = {11};
constexpr long kParts = {12}, kSteps = {13}, kBlockSteps = {14};
constexpr long kRowPanels = {15}, kColumnPanels = {16}, kBlockRows = {17}, kBlockColumns = {18};
constexpr long kPanel = kSteps * kParts * 1024;  // values of one panel
constexpr int kLanes = {19}, kThreads = {20};
constexpr long kPreparedFloats = {21}, kScratchFloats = {22};

)",
                  c.what, c.m, c.n, c.k, products_of(s.arithmetic).size(),
                  products_of(s.arithmetic).size() > 1 ? "s" : "", block_rows * 32, block_columns * 32,
                  std::max<long>(1, s.block_k / 32) * 32, c.name, tensors_struct(c.tensors), c.batch, parts,
                  steps, std::max<long>(1, s.block_k / 32), row_panels, column_panels, block_rows,
                  block_columns, s.lanes, s.threads, code.prepared_floats, code.scratch_floats);
  text += vector_source(s.lanes);
  text += R"(// Rounds to the nearest, ties to even; NaN stays NaN.
inline uint16_t to_bf16(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return static_cast<uint16_t>(x != x ? bits >> 16 | 64 : rounded);
}
)";
  text += operand_functions(c);
  if (!c.a.batch.empty()) text += item_functions(c.a, 'a');
  if (!c.b.batch.empty()) text += item_functions(c.b, 'b');
  text += pack_source(c, 'a') + pack_source(c, 'b');
  text += fmt::format(R"(
// All eight tiles 16 rows x 64 bytes. The compiler believes that only 8 bytes of the configuration are read: the
// barrier keeps the stores to the others.
inline void configure_tiles() {{
  alignas(64) struct {{ uint8_t palette, start; uint8_t reserved[14]; uint16_t bytes[16]; uint8_t rows[16]; }} config = {{}};
  config.palette = 1;
  for (int i = 0; i < 8; ++i) config.bytes[i] = 64, config.rows[i] = 16;
  asm volatile("" ::: "memory");
  _tile_loadconfig(&config);
}}

// c (+)= a * b for 32 x 32 sums over `steps` steps of 32 k.
inline void multiply_tiles(long steps, const uint16_t* a, const uint16_t* b, bool first, float* c, long stride) {{
  asm volatile("" ::: "memory");
  if (first) {{
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }} else {{
    _tile_loadd(0, c, stride * 4);
    _tile_loadd(1, c + 16, stride * 4);
    _tile_loadd(2, c + 16 * stride, stride * 4);
    _tile_loadd(3, c + 16 * stride + 16, stride * 4);
  }}
  for (long step = 0; step < steps; ++step, a += kParts * 1024, b += kParts * 1024) {{
{}  }}
  _tile_stored(0, c, stride * 4);
  _tile_stored(1, c + 16, stride * 4);
  _tile_stored(2, c + 16 * stride, stride * 4);
  _tile_stored(3, c + 16 * stride + 16, stride * 4);
  asm volatile("" ::: "memory");
}}
)",
                      step_source(s));
  text += finish_source(c, s, true);
  const std::string a_item = c.a.batch.empty() ? "" : "a_item(batch) * kRowPanels + ",
                    b_item = c.b.batch.empty() ? "" : "b_item(batch) * kColumnPanels + ";
  text += fmt::format(R"(
void multiply_block(const Tensors& t, long batch, long first_row, long last_row, long first_column, long last_column,
                    const uint16_t* packed_a, const uint16_t* packed_b, float* sums) {{
  const long stride = kBlockColumns * 32 + 16;
  for (long step = 0; step < kSteps; step += kBlockSteps) {{
    const long steps = kSteps - step < kBlockSteps ? kSteps - step : kBlockSteps;
    for (long column = first_column; column < last_column; ++column) {{
      const uint16_t* const b = packed_b + ({0}column) * kPanel + step * kParts * 1024;
      for (long row = first_row; row < last_row; ++row) {{
        const uint16_t* const a = packed_a + ({1}row) * kPanel + step * kParts * 1024;
        float* const tile = sums + (row - first_row) * 32 * stride + (column - first_column) * 32;
        multiply_tiles(steps, a, b, step == 0, tile, stride);
        if (step + steps < kSteps) continue;
        const long rows = kM - row * 32 < 32 ? kM - row * 32 : 32, columns = kN - column * 32 < 32 ? kN - column * 32 : 32;
        finish_tile(t, batch, row * 32, column * 32, tile, stride, static_cast<int>(rows), columns);
      }}
    }}
  }}
}}
)",
                      b_item, a_item);
  const auto pack_loop = [&](char which, long items, const std::string& target, bool own_batch) {
    const std::string panels = which == 'a' ? "kRowPanels" : "kColumnPanels";
    return fmt::format(
        "  for (long i = 0; i < {0} * {1}; ++i) pack_{2}_panel(t, {3}, i % {1}, {4} + i * kPanel);\n", items,
        panels, which, own_batch ? fmt::format("{}_batch_of(i / {})", which, panels) : "0", target);
  };
  const bool a_prepared = s.a == Packing::kPrepare, b_prepared = s.b == Packing::kPrepare;
  const long b_at = a_prepared ? a_floats : 0;
  if (a_prepared || b_prepared) {
    text += "\nvoid prepare(const Tensors& t, float* prepared) {\n";
    if (a_prepared)
      text += "#pragma omp parallel for\n" +
              pack_loop('a', a_items, "reinterpret_cast<uint16_t*>(prepared)", !c.a.batch.empty());
    if (b_prepared)
      text += "#pragma omp parallel for\n" +
              pack_loop('b', b_items, fmt::format("reinterpret_cast<uint16_t*>(prepared + {})", b_at),
                        !c.b.batch.empty());
    text += "}\n";
  }
  text +=
      "\n// Called by every thread of a team of at most kThreads.\nvoid work(const Tensors& t, const float* "
      "prepared, float* scratch) {\n";
  long shared = 0;
  for (const char which : {'a', 'b'}) {
    const bool is_a = which == 'a';
    if (is_a ? a_prepared : b_prepared) {
      text += fmt::format(
          "  const uint16_t* const packed_{} = reinterpret_cast<const uint16_t*>(prepared + {});\n", which,
          is_a ? 0 : b_at);
      continue;
    }
    text += fmt::format(
        "  uint16_t* const packed_{} = reinterpret_cast<uint16_t*>(scratch + {});\n#pragma omp for "
        "schedule(static)\n",
        which, shared);
    text += pack_loop(which, is_a ? a_items : b_items, fmt::format("packed_{}", which),
                      !(is_a ? c.a : c.b).batch.empty());
    shared += is_a ? a_floats : b_floats;
  }
  text += fmt::format(R"(  float* const sums = scratch + {} + omp_get_thread_num() * {}L;
  configure_tiles();
#pragma omp for schedule(dynamic) collapse(3)
  for (long batch = 0; batch < kBatch; ++batch)
    for (long column = 0; column < kColumnPanels; column += kBlockColumns)
      for (long row = 0; row < kRowPanels; row += kBlockRows)
        multiply_block(t, batch, row, row + kBlockRows < kRowPanels ? row + kBlockRows : kRowPanels, column,
                       column + kBlockColumns < kColumnPanels ? column + kBlockColumns : kColumnPanels, packed_a, packed_b, sums);
  _tile_release();
{}  (void)prepared;
}}

void run(const Tensors& t, const float* prepared, float* scratch) {{
#pragma omp parallel num_threads(kThreads)
  work(t, prepared, scratch);
}}

}}  // namespace {}
)",
                      shared, sums, s.stream ? "  _mm_sfence();\n" : "", c.name);
  code.definitions = std::move(text);
  code.story = fmt::format("{}: AMX tiles, {}, blocks {}x{}x{}", c.name, name_of(s.arithmetic),
                           block_rows * 32, block_columns * 32, s.block_k);
  return code;
}

}  // namespace kforge::smith
