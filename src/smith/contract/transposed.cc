// The constants of a transposed convolution; the method itself is kernels/contraction/transposed.h.
#include "smith/contract/transposed.h"

#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/config_text.h"
#include "smith/expr/whole_numbers.h"

namespace kforge::smith {

namespace {

struct TransposedGeometry {
  std::vector<long> in, kernel, out, strides, dilations, pads;  // three entries each
  std::vector<long> first, last;  // q = (o + pad) / stride: range over all outputs
  StagedImage image;

  explicit TransposedGeometry(const Convolution& c)
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

}  // namespace

Result<ContractionCode> emit_transposed(const Convolution& conv, const ContractionSchedule& given) {
  const TransposedGeometry g(conv);
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
  const RowPanels rows = row_panels(c.m, s.rows);
  const ColumnPanels panels = column_panels(c, s);
  const Staging staging = staging_of(conv, g.image);
  const bool staged_alone = staging.private_to_threads(s.threads);
  const long staged = whole_cache_lines(staging.floats()),
             weights = whole_cache_lines(conv.groups * rows.panels * rows.tall * c.k);
  ContractionCode code;
  code.name = c.name;
  code.threads = s.threads;
  code.prepared_floats = s.a == Packing::kPrepare ? weights : 0;
  code.scratch_floats =
      (s.a == Packing::kCall ? weights : 0) + staged * (staged_alone ? s.threads : staging.items);

  const long taps = g.kernel[0] * g.kernel[1] * g.kernel[2], output_rows = g.out[0] * g.out[1];
  const std::string comment = fmt::format(
      R"(// {}
// Transposed convolution by phases: stride {}x{}x{}, so each output sees about {} of {} taps, and no product with an
// inserted zero is made. Registers: a tile of {} rows x {} vectors of {} holds the sums of one phase; the {} phases of a
// row are interleaved in L1 and stored in order. The padded image is read in place.
)",
      c.what, g.strides[0], g.strides[1], g.strides[2],
      std::max<long>(1, taps / (g.strides[0] * g.strides[1] * g.strides[2])), taps, rows.tall, s.vectors,
      s.lanes, g.strides[2]);
  ConfigText text(c.name, c.tensors);
  text.constants({{"kM", c.m}, {"kK", c.k}, {"kGroups", conv.groups}, {"kBatch", c.batch}});
  text.tile(s, rows);
  text.constants(
      {{"kPanelsPerRun", panels.per_run}, {"kColumnPanels", panels.per_run}, {"kEdge", panels.edge}});
  text.flag("kAnyWidth", true);
  text.line(fmt::format("static constexpr Pack kPackA = Pack::{}, kPackB = Pack::kInPlace;",
                        s.a == Packing::kPrepare ? "kPrepare" : "kCall"));
  text.flag("kOffsetTable", true);
  text.constants(
      {{"kTaps", taps}, {"kTapsD", g.kernel[0]}, {"kTapsH", g.kernel[1]}, {"kTapsW", g.kernel[2]}});
  text.constants({{"kStrideD", g.strides[0]}, {"kStrideH", g.strides[1]}, {"kStrideW", g.strides[2]}});
  text.constants(
      {{"kDilationD", g.dilations[0]}, {"kDilationH", g.dilations[1]}, {"kDilationW", g.dilations[2]}});
  text.constants({{"kBeginD", g.pads[0]}, {"kBeginH", g.pads[1]}, {"kBeginW", g.pads[2]}},
                 "padding of the output");
  text.constants({{"kOutRows", output_rows}, {"kOutH", g.out[1]}, {"kOutW", g.out[2]}});
  text.constants({{"kPieceRows", std::max<long>(1, ceil_div(output_rows, 8L * s.threads))}},
                 "output rows of a piece of work");
  text.staged_image(staging);
  text.flag("kStagePrivate", staged_alone);
  text.constants({{"kStagedFloats", staged}});
  text.offsets({{"kAllStaged", s.a == Packing::kCall ? weights : 0}});
  text.flag("kStream", s.stream);
  text.pointer("x", conv.x);
  text.pointer("w", conv.w);
  text.finish(c, s);
  code.definitions = text.text(comment, "TransposedConvolution");
  code.headers = {"contraction/transposed.h"};
  code.summary = fmt::format("{}: transposed by phases, tile {}x{}, {} threads", c.name, rows.tall,
                             s.tile_n(), s.threads);
  return code;
}

}  // namespace kforge::smith
