// Output o of a transposed convolution gets x[i] * w[k] where o + pad = i * stride + k * dilation. Outputs
// with the same (o + pad) % stride (a phase) see the same taps, and neighbours among them see neighbouring
// inputs: a phase is a convolution of stride 1 with a part of the taps. Nothing is multiplied by a zero that
// a stride put there.
//
// Output rows are done one after another; within a row the phases of the columns are computed tile by tile
// and interleaved in L1 before they are finished, so that results are stored in order.
#include "smith/contract/transposed_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/staging.h"
#include "smith/contract/tile_source.h"

namespace kforge::smith {

namespace {

long ceil_div(long a, long b) { return (a + b - 1) / b; }
long lines(long floats) { return ceil_div(floats, 16) * 16; }

struct Geometry {
  std::vector<long> in, kernel, out, strides, dilations, pads;  // three entries each
  std::vector<long> first, last;  // q = (o + pad) / stride: range over all outputs
  StagedImage image;

  explicit Geometry(const Convolution& c)
      : in(three(c.input, 1)),
        kernel(three(c.kernel, 1)),
        out(three(c.output, 1)),
        strides(three(c.strides, 1)),
        dilations(three(c.dilations, 1)),
        pads(three(c.begins, 0)) {
    std::vector<long> low(3), high(3);
    for (std::size_t d = 0; d < 3; ++d) {
      first.push_back(pads[d] / strides[d]);
      last.push_back((out[d] - 1 + pads[d]) / strides[d]);
      low[d] = first[d] - (kernel[d] - 1) * dilations[d] / strides[d];
      high[d] = last[d];
    }
    image = plan_staging(low, high, 1);
  }
};

std::string phase_tables(const Convolution& c, const Geometry& g) {
  const StagedImage& image = g.image;
  return fmt::format(R"(
// Steps of k by phase: phase p has [first[p], first[p + 1]).
struct Phases {{
  int first[{0} * {1} * {2} + 1];
  int offset[kK];  // where the staged image is read, from position q
  int weight[kK];  // where the weight lies in w, for filter 0
  constexpr Phases() : first(), offset(), weight() {{
    int n = 0, phase = 0;
    for (int pd = 0; pd < {0}; ++pd)
      for (int ph = 0; ph < {1}; ++ph)
        for (int pw = 0; pw < {2}; ++pw) {{
          first[phase++] = n;
          for (int channel = 0; channel < {3}; ++channel)
            for (int kd = 0; kd < {4}; ++kd)
              for (int kh = 0; kh < {5}; ++kh)
                for (int kw = 0; kw < {6}; ++kw) {{
                  if (kd * {7} % {0} != pd || kh * {8} % {1} != ph || kw * {9} % {2} != pw) continue;
                  offset[n] = channel * {10} - (kd * {7} - pd) / {0} * {11} - (kh * {8} - ph) / {1} * {12} - (kw * {9} - pw) / {2};
                  weight[n] = channel * {13} + (kd * {5} + kh) * {6} + kw;
                  ++n;
                }}
        }}
    first[phase] = n;
  }}
}};
constexpr Phases kPhases;
)",
                     g.strides[0], g.strides[1], g.strides[2], c.channels, g.kernel[0], g.kernel[1],
                     g.kernel[2], g.dilations[0], g.dilations[1], g.dilations[2], image.channel, image.plane,
                     image.row, c.filters * g.kernel[0] * g.kernel[1] * g.kernel[2]);
}

// Lanes [v * lanes, (v + 1) * lanes) of interleaved phases: those of `phase` come from its vector (b), the
// others stay what the earlier phases made of them (a).
std::string phase_lanes(int lanes, long phases, long v, long phase) {
  std::string text;
  for (long lane = 0; lane < lanes; ++lane) {
    const long at = v * lanes + lane, from = at / phases;
    long pick = lane;
    if (at % phases == phase) pick = lanes + from;
    if (phase == 1 && at % phases == 0) pick = from;
    text += fmt::format("{}{}", lane ? ", " : "", pick);
  }
  return text;
}

std::string interleave_source(const ContractionSchedule& s, long phases) {
  std::string text = fmt::format(R"(
// line[i][{0} * j + phase] = sums[phase][i][j]
inline void interleave(const float* sums, int rows, float* line) {{
  for (int i = 0; i < rows; ++i)
)",
                                 phases);
  if (phases > 4)
    return text + fmt::format(R"(    for (long j = 0; j < kTileN; ++j)
      for (long phase = 0; phase < {0}; ++phase) line[i * kLine + j * {0} + phase] = sums[phase * kRows * kTileN + i * kTileN + j];
}}
)",
                              phases);
  text += "    for (long j = 0; j < kTileN; j += kLanes) {\n";
  for (long phase = 0; phase < phases; ++phase)
    text += fmt::format("      const Vec p{0} = load_vec(sums + ({0} * kRows + i) * kTileN + j);\n", phase);
  for (long v = 0; v < phases; ++v) {
    std::string value = "p0";
    for (long phase = 1; phase < phases; ++phase)
      value = fmt::format("__builtin_shufflevector({}, p{}, {})", value, phase,
                          phase_lanes(s.lanes, phases, v, phase));
    text += fmt::format("      store_vec(line + i * kLine + {} * j + {} * kLanes, {});\n", phases, v, value);
  }
  return text + "    }\n}\n";
}

// Output rows [first_row, last_row) of one image and group.
std::string rows_function(const Geometry& g) {
  return fmt::format(R"(
void transpose_rows(const Tensors& t, long batch, long first_row, long last_row, const float* packed_a, const float* staged) {{
  alignas(64) float sums[{0} * kRows * kTileN];
  alignas(64) float line[kRows * kLine];
  for (long output_row = first_row; output_row < last_row; ++output_row) {{
    // Which phase this row belongs to, and which input rows it looks at.
    const long d = output_row / {1} + {2}, h = output_row % {1} + {3};
    const long phase0 = (d % {4} * {5} + h % {5}) * {0};
    const float* const row_start = staged + (d / {4} + kPadD) * {6} + (h / {5} + kPadH) * {7} + kPadW;
    for (long column_panel = 0; column_panel < kPanelsPerRun; ++column_panel) {{
      const bool edge = column_panel == kPanelsPerRun - 1;
      const long first = column_panel * kTileN * {0};  // output column
      const long columns = {9} - first < kLine ? {9} - first : kLine;
      for (long panel = 0; panel < kRowPanels; ++panel) {{
        const int rows = panel_rows(panel);
        // Columns first + r, first + r + {0}, ... are of one phase.
        for (long r = 0; r < {0}; ++r) {{
          const long phase = phase0 + (r + {8}) % {0};
          const long step = kPhases.first[phase], depth = kPhases.first[phase + 1] - step;
          const float* const a = packed_a + (batch % kGroups * kRowPanels + panel) * kRows * kK + step * rows;
          multiply_any(rows, edge, depth, a, row_start + column_panel * kTileN + (r + {8}) / {0}, kPhases.offset + step, true, {10});
        }}
        {11}
        finish_tile(t, batch, panel_row(panel), output_row * {9} + first, line, kLine, rows, columns);
      }}
    }}
  }}
}}
)",
                     g.strides[2], g.out[1], g.pads[0], g.pads[1], g.strides[0], g.strides[1], g.image.plane,
                     g.image.row, g.pads[2], g.out[2],
                     g.strides[2] == 1 ? "line, kLine" : "sums + r * kRows * kTileN, kTileN",
                     g.strides[2] == 1 ? "" : "interleave(sums, rows, line);");
}

}  // namespace

Result<ContractionCode> emit_transposed(const Convolution& conv, const ContractionSchedule& given) {
  const Geometry g(conv);
  ContractionSchedule s = given;
  s.b = Packing::kInPlace;
  s.splits = 1;
  if (s.a == Packing::kInPlace || s.a == Packing::kBlock)
    s.a = conv.w_param ? Packing::kPrepare : Packing::kCall;
  // One row of columns of one phase is what the micro-kernel sees.
  Contraction c = conv.contraction();
  const long columns = ceil_div(g.out[2], g.strides[2]);
  c.k = conv.channels * g.kernel[0] * g.kernel[1] * g.kernel[2];
  c.run = columns;
  c.n = columns * g.out[0] * g.out[1];
  KF_TRY_VOID(check(s, c));
  if (s.arithmetic != Arithmetic::kFp32) return fail("transposed convolutions are computed in fp32");
  const RowPanels rows = deal_rows(c.m, s.rows);
  const ColumnPanels panels = deal_columns(c, s);
  const Staging staging = staging_of(conv, g.image);
  const bool staged_alone = staging.items % s.threads == 0 || staging.items >= 4L * s.threads;
  const long staged = lines(staging.floats), weights = lines(conv.groups * rows.panels * rows.tall * c.k);
  ContractionCode code;
  code.name = c.name;
  code.prepared_floats = s.a == Packing::kPrepare ? weights : 0;
  code.scratch_floats =
      (s.a == Packing::kCall ? weights : 0) + staged * (staged_alone ? s.threads : staging.items);

  std::string text = fmt::format(R"(// {}
// Transposed convolution by phases: stride {}x{}x{}, so each output sees about {} of {} taps, and no product with an
// inserted zero is made. Registers: a tile of {} rows x {} vectors of {} holds the sums of one phase; the {} phases of a
// row are interleaved in L1 and stored in order. The padded image is read in place.
namespace {} {{

)",
                                 c.what, g.strides[0], g.strides[1], g.strides[2],
                                 std::max<long>(1, g.kernel[0] * g.kernel[1] * g.kernel[2] /
                                                       (g.strides[0] * g.strides[1] * g.strides[2])),
                                 g.kernel[0] * g.kernel[1] * g.kernel[2], rows.tall, s.vectors, s.lanes,
                                 g.strides[2], c.name);
  text += tensors_struct(c.tensors) + "\n";
  text += fmt::format(R"(constexpr long kM = {}, kK = {}, kGroups = {}, kBatch = {};
constexpr int kLanes = {}, kVectors = {}, kRows = {};
constexpr long kTileN = kVectors * kLanes, kLine = kTileN * {};
constexpr long kRowPanels = {}, kPanelsPerRun = {};
constexpr int kThreads = {};
constexpr long kPreparedFloats = {}, kScratchFloats = {};

)",
                      c.m, c.k, conv.groups, c.batch, s.lanes, s.vectors, rows.tall, g.strides[2],
                      rows.panels, panels.per_run, s.threads, code.prepared_floats, code.scratch_floats);
  text += vector_source(s.lanes);
  text += row_panel_functions(rows);
  text += phase_tables(conv, g);
  text += fmt::format(R"(
// One panel of filters, phase after phase: out[k][i].
void pack_a_panel(const Tensors& t, long group, long panel, float* out) {{
  const float* const source = t.{} + group * {} + panel_row(panel) * {};
  const int rows = panel_rows(panel);
  for (long k = 0; k < kK; ++k)
    for (int i = 0; i < rows; ++i) out[k * rows + i] = source[kPhases.weight[k] + i * {}];
}}
)",
                      conv.w, conv.channels * conv.filters * (c.k / conv.channels), c.k / conv.channels,
                      c.k / conv.channels);
  text += staging.function;
  text += micro_kernel_source(c, s);
  text += finish_source(c, s, true);
  if (g.strides[2] > 1) text += interleave_source(s, g.strides[2]);
  text += rows_function(g);
  if (s.a == Packing::kPrepare)
    text += R"(
void prepare(const Tensors& t, float* prepared) {
#pragma omp parallel for schedule(static)
  for (long i = 0; i < kGroups * kRowPanels; ++i) pack_a_panel(t, i / kRowPanels, i % kRowPanels, prepared + i * kRows * kK);
}
)";
  text +=
      "\n// Called by every thread of a team of at most kThreads.\nvoid work(const Tensors& t, const float* "
      "prepared, float* scratch) {\n";
  long shared = 0;
  if (s.a == Packing::kCall) {
    text += R"(  float* const packed_a = scratch;
#pragma omp for schedule(static)
  for (long i = 0; i < kGroups * kRowPanels; ++i) pack_a_panel(t, i / kRowPanels, i % kRowPanels, packed_a + i * kRows * kK);
)";
    shared = weights;
  } else {
    text += "  const float* const packed_a = prepared;\n";
  }
  const long output_rows = g.out[0] * g.out[1];
  if (staged_alone)
    text += fmt::format(R"(  float* const staged = scratch + {} + omp_get_thread_num() * {}L;
#pragma omp for schedule(dynamic)
  for (long batch = 0; batch < kBatch; ++batch) {{
    stage_item(t, batch, 0, kStagePieces, staged);
    transpose_rows(t, batch, 0, {}, packed_a, staged);
  }}
)",
                        shared, staged, output_rows);
  else
    text +=
        fmt::format(R"(  float* const all_staged = scratch + {0};
#pragma omp for schedule(static)
  for (long piece = 0; piece < kBatch * kStagePieces; ++piece)
    stage_item(t, piece / kStagePieces, piece % kStagePieces, piece % kStagePieces + 1, all_staged + piece / kStagePieces * {1});
#pragma omp for schedule(dynamic) collapse(2)
  for (long batch = 0; batch < kBatch; ++batch)
    for (long first_row = 0; first_row < {2}; first_row += {3})
      transpose_rows(t, batch, first_row, first_row + {3} < {2} ? first_row + {3} : {2}, packed_a, all_staged + batch * {1});
)",
                    shared, staged, output_rows, std::max<long>(1, ceil_div(output_rows, 8L * s.threads)));
  if (s.stream)
    text += "  _mm_sfence();  // streaming stores are weakly ordered: each thread makes its own visible\n";
  text += "  (void)prepared;\n  (void)scratch;\n}\n" + end_of_code(c.name);
  code.definitions = std::move(text);
  code.story = fmt::format("{}: transposed by phases, tile {}x{}, {} threads", c.name, rows.tall, s.tile_n(),
                           s.threads);
  return code;
}

}  // namespace kforge::smith
