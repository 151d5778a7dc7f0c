// When a convolution is one, and its constants; the method itself is kernels/contraction/depthwise.h.
#include "smith/contract/depthwise.h"

#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/config_text.h"
#include "smith/expr/whole_numbers.h"

namespace kforge::smith {

namespace {

constexpr long kMostTaps = 64;
// Floats of small planes, with their copies, that are filtered together: what L1 holds.
constexpr long kSmallPlanes = 8192;

}  // namespace

bool is_depthwise(const Convolution& c) {
  return c.groups > 1 && c.channels == 1 && !c.transposed && product(c.kernel) <= kMostTaps;
}

Result<ContractionCode> emit_depthwise(const Convolution& conv, const ContractionSchedule& schedule,
                                       const StagedImage& image) {
  const std::vector<long> in = three(conv.input, 1);
  const bool staged = image.begins[0] != 0 || image.begins[1] != 0 || image.begins[2] != 0 ||
                      image.phases > 1 || image.depth > in[0] || image.height > in[1] ||
                      image.width > in[2] || conv.output.back() < schedule.lanes;  // read past its end
  const Contraction c = conv.contraction();
  if (schedule.arithmetic != Arithmetic::kFp32) return fail("depthwise convolutions are computed in fp32");
  if (schedule.stream && !conv.stream_ok)
    return fail("the result is not written in order: no streaming stores");
  const std::vector<long> out = three(conv.output, 1), taps = three(conv.kernel, 1),
                          strides = three(conv.strides, 1), dilations = three(conv.dilations, 1);
  const long planes = conv.images * conv.groups, rows = out[0] * out[1];
  const long rows_at_once = std::clamp<long>(1024 / out[2], 1, rows);
  // Planes are shared out; where they are few and nothing is copied, pieces of them.
  const long pieces =
      staged || planes >= 8L * schedule.threads ? 1 : std::min<long>(rows, 4L * schedule.threads);
  const long line = whole_cache_lines(rows_at_once * out[2] + out[2] + 64);
  Staging staging = staging_of(conv, image);
  const long copy = staged ? whole_cache_lines(staging.floats()) : 0;
  // Small planes that are copied, some together: what L1 holds, and enough groups for all threads.
  long together = 1;
  if (staged && !schedule.stream && rows_at_once == rows && 8 * (line + copy) <= kSmallPlanes)
    together =
        std::clamp<long>(std::min(kSmallPlanes / (line + copy), planes / (4L * schedule.threads)), 1, 16);
  const long own = together * (line + copy);
  ContractionCode code;
  code.name = c.name;
  code.threads = schedule.threads;
  code.scratch_floats = own * schedule.threads;
  const std::string comment = fmt::format(
      R"(// {}
// Depthwise convolution, {} taps: {} planes of {} pixels, limited by memory. {}
// An output row is summed tap by tap with vectors of {} in registers; finished pixels leave {}.
// Threads: {} share the planes.
)",
      c.what, product(conv.kernel), planes, rows * out[2],
      staged ? "Each is copied, padded, and filtered while it is in L2." : "Each is read where it lies.",
      schedule.lanes, schedule.stream ? "as one aligned stream of non-temporal stores" : "row by row",
      schedule.threads);
  // Read in place, the image is its own copy.
  if (!staged) staging.image.row = in[2], staging.image.plane = in[1] * in[2];
  ConfigText text(c.name, c.tensors);
  text.line(fmt::format("static_assert(kLanes == {0}, \"the schedule is for vectors of {0} floats\");",
                        schedule.lanes));
  text.constants({{"kPlanes", planes}, {"kGroups", conv.groups}, {"kFilters", conv.filters}});
  text.constants({{"kTaps", product(conv.kernel)}, {"kTapsH", taps[1]}, {"kTapsW", taps[2]}});
  text.constants({{"kStrideD", strides[0]}, {"kStrideH", strides[1]}});
  text.constants({{"kDilationD", dilations[0]}, {"kDilationH", dilations[1]}, {"kDilationW", dilations[2]}});
  text.constants({{"kOutRows", rows}, {"kOutH", out[1]}, {"kOutW", out[2]}});
  text.constants({{"kPieceRows", ceil_div(rows, pieces)}, {"kRowsAtOnce", rows_at_once}});
  text.constants({{"kInputPlane", product(conv.input)}});
  text.staged_image(staging);
  text.flag("kStaged", staged);
  text.flag("kStream", schedule.stream);
  text.flag("kAnyWidth", true);
  if (together > 1)
    text.constants({{"kPlanesAtOnce", together}, {"kLineFloats", line}, {"kStagedFloats", copy}},
                   "small planes, some together");
  text.constants({{"kPerThread", own}, {"kOwnStaged", together * line}}, "floats of scratch memory");
  text.pointer("x", conv.x);
  text.pointer("w", conv.w);
  text.finish(c, schedule);
  code.definitions = text.text(comment, "Depthwise");
  code.headers = {"contraction/depthwise.h"};
  code.summary = fmt::format("{}: depthwise, {}, {} thread{}", c.name,
                             staged ? "planes copied with their padding" : "planes read in place",
                             schedule.threads, schedule.threads == 1 ? "" : "s");
  return code;
}

}  // namespace kforge::smith
