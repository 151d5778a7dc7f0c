// Convolutions of one to three spatial dimensions as contractions: filters are rows, pixels of the result are
// columns, and k runs over channels and taps. No matrix of patches is built: the input is copied once,
// padded, and with the columns of a stride side by side (all even ones, then all odd ones), so that every tap
// of a row of pixels is a contiguous piece of it that the micro-kernel reads where it lies.
//
// A transposed convolution of stride 1 is a convolution with its taps turned round. With a stride, outputs
// fall into phases that see different taps; each phase is a small convolution of stride 1
// (transposed.h).
#pragma once

#include <string>
#include <vector>

#include "smith/contract/contraction_code.h"

namespace kforge::smith {

struct Convolution {
  std::string name, what;  // as in Contraction
  std::string x,
      w;  // names of tensors: x[images][groups * channels][input...],
          // w[groups * filters][channels][kernel...], transposed: w[groups * channels][filters][kernel...]
  bool w_param = false;
  bool transposed = false;
  long images = 1, groups = 1, channels = 1, filters = 1;  // channels and filters of one group
  std::vector<long> input, kernel, output;                 // spatial, equally many
  std::vector<long> strides, dilations, begins;            // begins: padding in front
  std::vector<Tensor> tensors;
  // Sees batch = image * groups + group, row = filter of the group, column = pixel of the output plane.
  Finish finish;
  bool stream_ok = true;

  // Shape of a schedule's problem; what emit_convolution multiplies.
  Contraction contraction() const;
};

// The same with trailing dimensions that the kernel does not look along (extent 1, stride 1, no padding)
// merged into the one before: longer rows, fewer ends of rows.
Convolution with_long_rows(Convolution convolution);

// Whether it is computed by phases.
bool has_phases(const Convolution& convolution);

// The first schedule with pixels along vectors; and the better one of that and pixels as rows of the tile.
ContractionSchedule column_schedule(const Convolution& convolution, const Machine& machine, int threads,
                                    std::string_view precision = "fp32");
ContractionSchedule first_schedule(const Convolution& convolution, const Machine& machine, int threads,
                                   std::string_view precision = "fp32");
std::vector<ScheduleMove> neighbours(const ContractionSchedule& schedule, const Convolution& convolution,
                                     const Machine& machine, std::string_view precision = "fp32");
Result<ContractionCode> emit_convolution(const Convolution& convolution, const ContractionSchedule& schedule);

// The copies of its images, padded; laid out as `image`.
Staging staged_copy(const Convolution& convolution);
Staging staging_of(const Convolution& convolution, const StagedImage& image);

}  // namespace kforge::smith
