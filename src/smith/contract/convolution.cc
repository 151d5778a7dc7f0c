#include "smith/contract/convolution.h"

#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/depthwise.h"
#include "smith/contract/pixel_rows.h"
#include "smith/contract/staging.h"
#include "smith/contract/transposed.h"
#include "smith/contract/winograd.h"

namespace kforge::smith {

namespace {

bool is_pointwise(const Convolution& c) {
  const auto all = [](const std::vector<long>& list, long value) {
    return std::all_of(list.begin(), list.end(), [&](long x) { return x == value; });
  };
  return all(c.kernel, 1) && all(c.strides, 1) && all(c.begins, 0) && c.input == c.output;
}

// A transposed convolution of stride 1 reads as an ordinary one: taps turned round, padding dilation *
// (kernel - 1) - pad.
std::vector<long> effective_begins(const Convolution& c) {
  std::vector<long> begins = c.begins;
  if (c.transposed)
    for (std::size_t d = 0; d < begins.size(); ++d)
      begins[d] = c.dilations[d] * (c.kernel[d] - 1) - c.begins[d];
  return begins;
}

StagedImage image_of(const Convolution& c) {
  const std::vector<long> out = three(c.output, 1), kernel = three(c.kernel, 1),
                          strides = three(c.strides, 1);
  const std::vector<long> dilations = three(c.dilations, 1), begins = three(effective_begins(c), 0);
  std::vector<long> low(3), high(3);
  for (int d = 0; d < 3; ++d) {
    low[d] = -begins[d];
    high[d] = (out[d] - 1) * strides[d] + (kernel[d] - 1) * dilations[d] - begins[d];
  }
  return plan_staging(low, high, strides[2]);
}

// By rows of taps where enough of them look at nothing but padding: a full convolution of a small image.
std::optional<TapRows> tap_rows_of(const Convolution& c) {
  const std::vector<long> out = three(c.output, 1), kernel = three(c.kernel, 1),
                          strides = three(c.strides, 1), dilations = three(c.dilations, 1),
                          begins = three(effective_begins(c), 0), input = three(c.input, 1);
  TapRows rows;
  rows.steps = c.channels * kernel[2];
  rows.width = out[2];
  for (std::size_t d = 0; d < 2; ++d) {
    rows.out[d] = out[d], rows.taps[d] = kernel[d], rows.strides[d] = strides[d];
    rows.dilations[d] = dilations[d], rows.begins[d] = begins[d], rows.input[d] = input[d];
  }
  const bool several = kernel[0] * kernel[1] > 1;
  return several && rows.steps >= 48 && rows.useful() < 0.97 ? std::optional(rows) : std::nullopt;
}

Operand filters_of(const Convolution& c, bool by_rows) {
  const long taps = product(c.kernel);
  Operand a;
  a.pointer = c.w;
  a.param = c.w_param;
  a.batch = {{c.images, 0}, {c.groups, c.channels * c.filters * taps}};
  if (c.groups == 1) a.batch.clear();
  if (c.transposed) {
    a.offset = taps - 1;
    a.side = {{c.filters, taps}};
    a.depth = {{c.channels, c.filters * taps}, {taps, -1}};
  } else {
    a.side = {{c.filters, c.channels * taps}};
    a.depth = {{c.channels * taps, 1}};
  }
  if (by_rows) {
    const std::vector<long> kernel = three(c.kernel, 1);
    const long sign = c.transposed ? -1 : 1;
    a.depth = {{kernel[0], sign * kernel[1] * kernel[2]},
               {kernel[1], sign * kernel[2]},
               {c.channels, c.transposed ? c.filters * taps : taps},
               {kernel[2], sign}};
  }
  return a;
}

}  // namespace

Convolution with_long_rows(Convolution c) {
  if (is_depthwise(c)) return c;  // walks rows one by one anyway
  while (c.kernel.size() > 1) {
    const std::size_t last = c.kernel.size() - 1, before = last - 1;
    if (c.kernel[last] != 1 || c.strides[last] != 1 || c.begins[last] != 0 ||
        c.input[last] != c.output[last] || c.strides[before] != 1)
      break;
    const long length = c.input[last];
    for (auto* list : {&c.input, &c.output, &c.dilations, &c.begins}) (*list)[before] *= length;
    for (auto* list : {&c.input, &c.output, &c.dilations, &c.begins, &c.kernel, &c.strides}) list->pop_back();
  }
  return c;
}

bool has_phases(const Convolution& c) {
  return c.transposed && std::any_of(c.strides.begin(), c.strides.end(), [](long s) { return s > 1; });
}

Contraction Convolution::contraction() const {
  Contraction c;
  c.name = name;
  c.what = what;
  c.batch = images * groups;
  c.m = filters;
  c.n = product(output);
  c.k = channels * product(kernel);
  c.tensors = tensors;
  c.finish = finish;
  c.stream_ok = stream_ok;
  if (!is_pointwise(*this) && !has_phases(*this)) c.tap_rows = tap_rows_of(*this);
  c.a = filters_of(*this, c.tap_rows.has_value());
  c.b.pointer = x;
  if (is_pointwise(*this) && !transposed) {
    c.b.batch = {{c.batch, channels * c.n}};
    c.b.side = {{c.n, 1}};
    c.b.depth = {{channels, c.n}};
    return c;
  }
  c.run = output.back();
  if (has_phases(*this)) {
    // What the schedule is chosen for: one phase in depth and height, all phases of a row.
    c.k = std::max<long>(1, c.k / product(strides) * strides.back());
    c.b.side = {{c.n, 1}};
    c.b.depth = {{c.k, 1}};
    c.b.depth_offset = std::string("i");
    c.run = (output.back() + strides.back() - 1) / strides.back();  // columns of one phase
    c.n = c.n / output.back() * c.run;
    c.phases = true;
    c.stream_ok = stream_ok && output.back() % 16 == 0;
    return c;
  }
  const StagedImage image = image_of(*this);
  c.scattered = image.phases > 1;
  const std::vector<long> out = three(output, 1), taps = three(kernel, 1), step = three(strides, 1),
                          dilation = three(dilations, 1);
  c.b.side = {{out[0], step[0] * image.plane}, {out[1], step[1] * image.row}, {out[2], 1}};
  const Axis channel = {channels, image.channel};
  c.b.depth = {{taps[0], dilation[0] * image.plane}, {taps[1], dilation[1] * image.row}};
  c.b.depth.insert(c.tap_rows ? c.b.depth.end() : c.b.depth.begin(), channel);
  c.b.depth.push_back({taps[2], dilation[2]});
  if (image.phases > 1 && dilation[2] % image.phases == 0) {
    c.b.depth.back().stride = dilation[2] / image.phases;
  } else if (image.phases > 1) {
    std::vector<Axis> rows = c.b.depth;
    rows.back().stride = 0;
    c.b.depth_offset =
        fmt::format("{} + i % {} * {} % {} * {} + i % {} * {} / {}", offset_expression(rows, "i"), taps[2],
                    dilation[2], image.phases, image.width, taps[2], dilation[2], image.phases);
  }
  return c;
}

ContractionSchedule column_schedule(const Convolution& c, const Machine& machine, int threads,
                                    std::string_view precision) {
  const Contraction shape = c.contraction();
  ContractionSchedule s = first_schedule(shape, machine, threads, precision);
  if (is_depthwise(c)) {
    const double bytes = 4.0 * static_cast<double>(shape.batch * shape.m * shape.n);
    // Stores past the caches do not overlap with arithmetic: of more than a few taps, plain ones are faster.
    s.stream = c.stream_ok && product(c.kernel) <= 3 &&
               bytes > 0.5 * static_cast<double>(machine.last_level_bytes());
  }
  return s;
}

ContractionSchedule first_schedule(const Convolution& c, const Machine& machine, int threads,
                                   std::string_view precision) {
  const ContractionSchedule s = column_schedule(c, machine, threads, precision);
  if (is_depthwise(c) || !pixel_rows_fit(c) || s.arithmetic != Arithmetic::kFp32 || s.stream) return s;
  const ContractionSchedule rows = pixel_rows_schedule(c, machine, s.threads);
  constexpr double kClearlyBetter = 0.97;
  return pixel_rows_cost(c, rows, s) < kClearlyBetter ? rows : s;
}

std::vector<ScheduleMove> neighbours(const ContractionSchedule& s, const Convolution& c,
                                     const Machine& machine, std::string_view precision) {
  if (s.winograd) return winograd_neighbours(s, c, first_schedule(c, machine, s.threads, precision));
  if (!is_depthwise(c)) {
    std::vector<ScheduleMove> moves =
        s.pixel_rows ? pixel_rows_neighbours(s, c, column_schedule(c, machine, s.threads, precision))
                     : neighbours(s, c.contraction(), machine, precision);
    if (!s.pixel_rows && pixel_rows_fit(c) && s.arithmetic == Arithmetic::kFp32 && !s.stream)
      moves.insert(moves.begin(),
                   {"pixels as rows", "algorithm", "few pixels fill rows of a tile better than vectors",
                    pixel_rows_schedule(c, machine, s.threads)});
    if (winograd_fits(c) && s.arithmetic == Arithmetic::kFp32)
      moves.insert(moves.begin(), {"winograd", "algorithm", "16 products for four results instead of 36",
                                   winograd_schedule(s)});
    return moves;
  }
  // Nothing but the stores is left to choose.
  ContractionSchedule next = s;
  next.stream = !s.stream;
  if (!c.stream_ok) return {};
  return {{next.stream ? "stream_stores" : "plain_stores", "streaming_stores",
           next.stream ? "the result does not pass through the caches" : "the result may be read soon",
           next}};
}

Staging staging_of(const Convolution& c, const StagedImage& image) {
  Staging staging;
  staging.tensor = c.x;
  staging.channels = c.channels;
  staging.input = three(c.input, 1);
  staging.image = image;
  staging.items = c.images * c.groups;
  return staging;
}

Staging staged_copy(const Convolution& c) { return staging_of(c, image_of(c)); }

Result<ContractionCode> emit_convolution(const Convolution& c, const ContractionSchedule& s) {
  if (s.winograd) return emit_winograd(c, s);
  if (s.pixel_rows) return emit_pixel_rows(c, s);
  if (has_phases(c)) return emit_transposed(c, s);
  if (is_depthwise(c)) return emit_depthwise(c, s, image_of(c));
  const Contraction shape = c.contraction();
  if (shape.run == 0) return emit_contraction(shape, s);
  const Staging staging = staged_copy(c);
  return emit_contraction(shape, s, &staging);
}

}  // namespace kforge::smith
