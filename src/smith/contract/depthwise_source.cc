// A depthwise convolution does few operations on each value it reads: memory is its limit. Planes are read
// where they lie (or, with padding or a stride, through a copy that stays in L2), each output row is summed
// tap by tap into a line in L1, and lines leave as one stream over the whole plane, so that stores past the
// caches need no rows of a round width.
#include "smith/contract/depthwise_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/tile_source.h"

namespace kforge::smith {

namespace {

constexpr long kMostTaps = 64;
constexpr long kGroupVectors = 4;  // sums of a row that are in registers at once

long product(const std::vector<long>& list) {
  long p = 1;
  for (long x : list) p *= x;
  return p;
}
long ceil_div(long a, long b) { return (a + b - 1) / b; }
long lines(long floats) { return ceil_div(floats, 16) * 16; }

struct Shape {
  std::vector<long> out, kernel, strides, dilations;  // three entries each
  long row = 1, plane = 1;                            // strides of what is read
  long phases = 1, width = 1;                         // of the column stride: each lies together
  long pixels = 1, rows = 1;                          // of the output plane
  long taps = 1, rows_at_once = 1;
};

Shape shape_of(const Convolution& c, const StagedImage& image, bool staged) {
  const std::vector<long> in = three(c.input, 1);
  Shape s{three(c.output, 1), three(c.kernel, 1), three(c.strides, 1), three(c.dilations, 1)};
  s.row = staged ? image.row : in[2];
  s.plane = staged ? image.plane : in[1] * in[2];
  s.phases = image.phases;
  s.width = image.width;
  s.rows = s.out[0] * s.out[1];
  s.pixels = s.rows * s.out[2];
  s.taps = product(s.kernel);
  s.rows_at_once = std::clamp<long>(1024 / s.out[2], 1, s.rows);
  return s;
}

// row[j] for all columns of one output row.
std::string row_function(const Shape& s, const ContractionSchedule& schedule) {
  const long taps_hw = s.kernel[1] * s.kernel[2];
  const std::string column = s.phases == 1
                                 ? fmt::format("tap % {} * {}", s.kernel[2], s.dilations[2])
                                 : fmt::format("tap % {0} * {1} % {2} * {3} + tap % {0} * {1} / {2}",
                                               s.kernel[2], s.dilations[2], s.phases, s.width);
  std::string text = fmt::format(R"(
// Where the taps lie, from the first one of an output.
constexpr long tap_offset(long tap) {{
  return tap / {0} * {1} + tap / {2} % {3} * {4} + {5};
}}

// `vectors` neighbouring vectors of an output row.
template <int vectors>
inline void filter_vectors(const float* in, const float* w, float* out) {{
  Vec sum[vectors];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) sum[v] = Vec{{}};
#pragma GCC unroll 64
  for (long tap = 0; tap < kTaps; ++tap)
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) sum[v] += w[tap] * load_vec(in + tap_offset(tap) + v * kLanes);
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) store_vec(out + v * kLanes, sum[v]);
}}

// One output row.
inline void filter_row(const float* in, const float* w, float* out) {{
)",
                                 taps_hw, s.dilations[0] * s.plane, s.kernel[2], s.kernel[1],
                                 s.dilations[1] * s.row, column);
  if (s.out[2] < schedule.lanes)
    return text + R"(  for (long j = 0; j < kOutW; ++j) {
    float sum = 0;
    for (long tap = 0; tap < kTaps; ++tap) sum += w[tap] * in[tap_offset(tap) + j];
    out[j] = sum;
  }
}
)";
  text += fmt::format(R"(  long j = 0;
  for (; j + {0} * kLanes <= kOutW; j += {0} * kLanes) filter_vectors<{0}>(in + j, w, out + j);
  for (; j + kLanes <= kOutW; j += kLanes) filter_vectors<1>(in + j, w, out + j);
)",
                      kGroupVectors);
  if (s.out[2] % schedule.lanes != 0)
    text +=
        "  // The last vector begins earlier and does a few columns again, so that nothing behind the row is "
        "read.\n  filter_vectors<1>(in + kOutW - kLanes, w, out + kOutW - kLanes);\n";
  return text + "}\n";
}

// Rows [first_row, last_row) of one output plane.
std::string rows_function(const Convolution& c, const Shape& s, const ContractionSchedule& schedule) {
  std::string text = fmt::format(R"(
// Output rows [first_row, last_row) of one plane; `line` holds what is not yet stored.
void filter_rows(const Tensors& t, long batch, long filter, long first_row, long last_row, const float* plane, float* line) {{
  const float* const w = t.{} + (batch % kGroups * kFilters + filter) * kTaps;
)",
                                 c.w);
  const std::string in = fmt::format("plane + row / {0} * {1} + row % {0} * {2}", s.out[1],
                                     s.strides[0] * s.plane, s.strides[1] * s.row);
  if (!schedule.stream)
    return text + fmt::format(R"(  for (long row = first_row; row < last_row; ++row) {{
    filter_row({}, w, line);
    finish_tile(t, batch, filter, row * kOutW, line, 0, 1, kOutW);
  }}
}}
)",
                              in);
  return text +
         fmt::format(
             R"(  long stored = first_row * kOutW, held = 0;  // pixels of the plane that are done; in the line
  // Up to the first aligned pixel, one by one.
  long wanted = (kLanes - ((batch * kFilters + filter) * kPixels + stored) % kLanes) % kLanes;
  for (long row = first_row; row < last_row; ++row) {{
    filter_row({0}, w, line + held);
    held += kOutW;
    const bool last = row + 1 == last_row;
    if (held < {1} && !last) continue;
    long from = 0;
    if (wanted > 0 && wanted <= held) {{
      finish_tile(t, batch, filter, stored, line, 0, 1, wanted);
      from = wanted, wanted = 0;
    }}
    if (wanted > 0 && !last) continue;
    const long until = last ? held : from + (held - from) / kLanes * kLanes;
    finish_tile(t, batch, filter, stored + from, line + from, 0, 1, until - from);
    std::memmove(line, line + until, (held - until) * sizeof(float));
    stored += until, held -= until;
  }}
}}
)",
             in, s.rows_at_once * s.out[2]);
}

}  // namespace

bool is_depthwise(const Convolution& c) {
  return c.groups > 1 && c.channels == 1 && !c.transposed && product(c.kernel) <= kMostTaps;
}

Result<ContractionCode> emit_depthwise(const Convolution& conv, const ContractionSchedule& schedule,
                                       const StagedImage& image) {
  const std::vector<long> in = three(conv.input, 1);
  const bool staged = image.begins[0] != 0 || image.begins[1] != 0 || image.begins[2] != 0 ||
                      image.phases > 1 || image.depth > in[0] || image.height > in[1] || image.width > in[2];
  const Shape shape = shape_of(conv, image, staged);
  const Contraction c = conv.contraction();
  if (schedule.arithmetic != Arithmetic::kFp32) return fail("depthwise convolutions are computed in fp32");
  if (schedule.stream && !conv.stream_ok)
    return fail("the result is not written in order: no streaming stores");
  const long planes = conv.images * conv.groups;
  // Planes are shared out; where they are few and nothing is copied, pieces of them.
  const long pieces =
      staged || planes >= 8L * schedule.threads ? 1 : std::min<long>(shape.rows, 4L * schedule.threads);
  const long piece_rows = ceil_div(shape.rows, pieces);
  const long line = lines(shape.rows_at_once * shape.out[2] + shape.out[2] + 64);
  const Staging staging = staging_of(conv, image);
  const long own = line + (staged ? lines(staging.floats) : 0);
  ContractionCode code;
  code.name = c.name;
  code.scratch_floats = own * schedule.threads;
  std::string text = fmt::format(
      R"(// {}
// Depthwise convolution, {} taps: {} planes of {} pixels, limited by memory. {}
// An output row is summed tap by tap with {} vectors of {} in registers; finished pixels leave {}.
// Threads: {} share the planes.
namespace {} {{

)",
      c.what, shape.taps, planes, shape.pixels,
      staged ? "Each is copied, padded, and filtered while it is in L2." : "Each is read where it lies.",
      kGroupVectors, schedule.lanes, schedule.stream ? "as one aligned stream past the caches" : "row by row",
      schedule.threads, c.name);
  text += tensors_struct(c.tensors) + "\n";
  text += fmt::format(R"(constexpr long kPlanes = {}, kGroups = {}, kFilters = {}, kTaps = {};
constexpr long kOutRows = {}, kOutW = {}, kPixels = kOutRows * kOutW;
constexpr int kLanes = {};
constexpr int kThreads = {};
constexpr long kPreparedFloats = 0, kScratchFloats = {};

)",
                      planes, conv.groups, conv.filters, shape.taps, shape.rows, shape.out[2], schedule.lanes,
                      schedule.threads, code.scratch_floats);
  text += vector_source(schedule.lanes);
  if (staged) text += staging.function;
  text += finish_source(c, schedule, true);
  text += row_function(shape, schedule);
  text += rows_function(conv, shape, schedule);
  text += fmt::format(R"(
// Called by every thread of a team of at most kThreads.
void work(const Tensors& t, const float* prepared, float* scratch) {{
  float* const line = scratch + omp_get_thread_num() * {0}L;
)",
                      own);
  if (staged) text += fmt::format("  float* const staged = line + {};\n", line);
  text += fmt::format(R"(#pragma omp for schedule(dynamic) collapse(2)
  for (long batch = 0; batch < kPlanes; ++batch)
    for (long first_row = 0; first_row < kOutRows; first_row += {0}) {{
      const long last_row = first_row + {0} < kOutRows ? first_row + {0} : kOutRows;
{1}      for (long filter = 0; filter < kFilters; ++filter)
        filter_rows(t, batch, filter, first_row, last_row, {2}, line);
    }}
)",
                      piece_rows, staged ? "      stage_item(t, batch, 0, kStagePieces, staged);\n" : "",
                      staged ? "staged" : fmt::format("t.{} + batch * {}", conv.x, product(conv.input)));
  if (schedule.stream)
    text += "  _mm_sfence();  // streaming stores are weakly ordered: each thread makes its own visible\n";
  text += "  (void)prepared;\n}\n" + end_of_code(c.name);
  code.definitions = std::move(text);
  code.story = fmt::format("{}: depthwise, {}, {} thread{}", c.name,
                           staged ? "planes copied with their padding" : "planes read in place",
                           schedule.threads, schedule.threads == 1 ? "" : "s");
  return code;
}

}  // namespace kforge::smith
