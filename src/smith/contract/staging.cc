#include "smith/contract/staging.h"

#include <fmt/format.h>

namespace kforge::smith {

std::vector<long> three(const std::vector<long>& list, long fill) {
  std::vector<long> out(3 - list.size(), fill);
  out.insert(out.end(), list.begin(), list.end());
  return out;
}

StagedImage plan_staging(const std::vector<long>& low, const std::vector<long>& high, long phases) {
  StagedImage image;
  image.begins = {-low[0], -low[1], -low[2]};
  image.depth = high[0] - low[0] + 1;
  image.height = high[1] - low[1] + 1;
  image.phases = phases;
  image.width = (high[2] - low[2] + phases) / phases;
  image.row = image.width * phases;
  image.plane = image.height * image.row;
  image.channel = (image.depth * image.plane + 15) / 16 * 16;
  // Channels that lie a multiple of 4 KB apart would share cache sets.
  if (image.channel % 256 == 0) image.channel += 16;
  return image;
}

Staging staging_of(const Convolution& c, const StagedImage& image) {
  const std::vector<long> in = three(c.input, 1);
  Staging staging;
  staging.items = c.images * c.groups;
  staging.floats = c.channels * image.channel + 256;  // slack: whole vectors are read behind the last row
  std::string row_copy;
  if (image.phases == 1)
    row_copy = R"(        // Zeros in front, the row (its part that is used), zeros behind.
        const long first = kPadW > 0 ? kPadW : 0, from = kPadW < 0 ? -kPadW : 0;
        const long count = kInW - from < kStagedW - first ? kInW - from : kStagedW - first;
        for (long w = 0; w < first; ++w) row[w] = 0;
        if (count > 0) std::memcpy(row + first, source + from, count * sizeof(float));
        for (long w = first + (count > 0 ? count : 0); w < kStagedW; ++w) row[w] = 0;
)";
  else
    row_copy = fmt::format(
        R"(        // Columns of one phase of the stride side by side; zeros where there is no column.
        for (long phase = 0; phase < {0}; ++phase) {{
          float* const part = row + phase * kStagedW;
          const long at = phase - kPadW;  // column w is source[w * {0} + at]
          const long first = at < 0 ? (-at + {1}) / {0} : 0;
          long last = kInW > at ? (kInW - at + {1}) / {0} : 0;
          if (last > kStagedW) last = kStagedW;
          if (last < first) last = first;
          for (long w = 0; w < first; ++w) part[w] = 0;
          for (long w = first; w < last; ++w) part[w] = source[w * {0} + at];
          for (long w = last; w < kStagedW; ++w) part[w] = 0;
        }}
)",
        image.phases, image.phases - 1);
  staging.function =
      fmt::format(R"(
// The padded copy of an image: channels {0} floats apart, planes {1}, rows {2}.
constexpr long kStagePieces = {3};  // channels
constexpr long kInD = {4}, kInH = {5}, kInW = {6};
constexpr long kPadD = {7}, kPadH = {8}, kPadW = {9};
constexpr long kStagedW = {10};
void stage_item(const Tensors& t, long item, long first_channel, long last_channel, float* staged) {{
  for (long channel = first_channel; channel < last_channel; ++channel)
    for (long d = 0; d < {11}; ++d)
      for (long h = 0; h < {12}; ++h) {{
        float* const row = staged + channel * {0} + d * {1} + h * {2};
        const long from_d = d - kPadD, from_h = h - kPadH;
        if (from_d < 0 || from_d >= kInD || from_h < 0 || from_h >= kInH) {{
          std::memset(row, 0, {2} * sizeof(float));
          continue;
        }}
        const float* const source = t.{13} + (((item * kStagePieces + channel) * kInD + from_d) * kInH + from_h) * kInW;
{14}      }}
}}
)",
                  image.channel, image.plane, image.row, c.channels, in[0], in[1], in[2], image.begins[0],
                  image.begins[1], image.begins[2], image.width, image.depth, image.height, c.x, row_copy);
  return staging;
}

}  // namespace kforge::smith
