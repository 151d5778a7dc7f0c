// Loops over sliding windows in plain layout: pooling, depthwise convolution, scattering of columns.
// An output row is accumulated over the taps of the window; the inner loops run along the row.
#include "baseline/onednn/loops/walk.h"

namespace kforge::loops {
namespace {

// Outputs o for which o * stride + shift lies in [0, limit).
Range valid_outputs(Index out, Index stride, Index shift, Index limit) {
  Index first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  Index end = limit - shift <= 0 ? 0 : (limit - shift + stride - 1) / stride;
  return {least(first, out), most(least(end, out), least(first, out))};
}

template <class Join>
void join_row(const float* in, float* out, Range range, Index stride, Index shift, Join join) {
  if (stride == 1) {
    const float* from = in + shift;
#pragma omp simd
    for (Index i = range.begin; i < range.end; ++i) out[i] = join(out[i], from[i]);
  } else if (stride == 2) {
    const float* from = in + shift;
#pragma omp simd
    for (Index i = range.begin; i < range.end; ++i) out[i] = join(out[i], from[2 * i]);
  } else {
    for (Index i = range.begin; i < range.end; ++i) out[i] = join(out[i], in[i * stride + shift]);
  }
}

// For every output row: start(out row), then tap(input row, out row, tap number, valid range, shift), then
// finish.
template <class Row>
void for_output_rows(const Window& w, Row row) {
  const Index rows = w.planes * w.out[0] * w.out[1];
#pragma omp parallel for schedule(static) if (rows * w.out[2] > kSerial / 4)
  for (Index r = 0; r < rows; ++r)
    row(r / (w.out[0] * w.out[1]), r / w.out[1] % w.out[0], r % w.out[1], r * w.out[2]);
}

inline Index plane_size(const Index* dims) { return dims[0] * dims[1] * dims[2]; }

// Calls tap(input row, index of the row's first weight) for each row of the window that lies inside the
// input.
template <class Tap>
void for_taps(const Window& w, const float* plane, Index od, Index oh, Tap tap) {
  for (Index kd = 0; kd < w.kernel[0]; ++kd) {
    Index d = od * w.stride[0] + kd * w.dilation[0] - w.pad[0];
    if (d < 0 || d >= w.in[0]) continue;
    for (Index kh = 0; kh < w.kernel[1]; ++kh) {
      Index h = oh * w.stride[1] + kh * w.dilation[1] - w.pad[1];
      if (h < 0 || h >= w.in[1]) continue;
      tap(plane + (d * w.in[1] + h) * w.in[2], (kd * w.kernel[1] + kh) * w.kernel[2]);
    }
  }
}

// Taps of output `o` along one dimension that count for the average: those inside the input, or, with padding
// counted, inside the padded input (a window that ceil_mode lets hang over is cut there).
Index counted(const Window& w, int d, Index o) {
  Index low = w.count_pad ? -w.pad[d] : 0, high = w.in[d] + (w.count_pad ? w.pad_end[d] : 0), count = 0;
  for (Index k = 0; k < w.kernel[d]; ++k) {
    Index at = o * w.stride[d] + k * w.dilation[d] - w.pad[d];
    count += at >= low && at < high;
  }
  return count;
}

}  // namespace

namespace KF_LEVEL {

void pool_max(const Window& w, const float* x, float* y) {
  for_output_rows(w, [&](Index plane, Index od, Index oh, Index at) {
    float* out = y + at;
    for (Index i = 0; i < w.out[2]; ++i) out[i] = -__builtin_inff();
    for_taps(w, x + plane * plane_size(w.in), od, oh, [&](const float* in, Index) {
      for (Index k = 0; k < w.kernel[2]; ++k) {
        Index shift = k * w.dilation[2] - w.pad[2];
        join_row(in, out, valid_outputs(w.out[2], w.stride[2], shift, w.in[2]), w.stride[2], shift,
                 [](float a, float b) { return a < b || b != b ? b : a; });
      }
    });
  });
}

void pool_average(const Window& w, const float* x, float* y) {
  for_output_rows(w, [&](Index plane, Index od, Index oh, Index at) {
    float* out = y + at;
    for (Index i = 0; i < w.out[2]; ++i) out[i] = 0;
    for_taps(w, x + plane * plane_size(w.in), od, oh, [&](const float* in, Index) {
      for (Index k = 0; k < w.kernel[2]; ++k) {
        Index shift = k * w.dilation[2] - w.pad[2];
        join_row(in, out, valid_outputs(w.out[2], w.stride[2], shift, w.in[2]), w.stride[2], shift,
                 [](float a, float b) { return a + b; });
      }
    });
    const float rows = static_cast<float>(counted(w, 0, od) * counted(w, 1, oh));
    const float full = 1.0f / (rows * static_cast<float>(w.kernel[2]));
    for (Index i = 0; i < w.out[2]; ++i) {
      bool inside = i * w.stride[2] >= w.pad[2] &&
                    i * w.stride[2] - w.pad[2] + (w.kernel[2] - 1) * w.dilation[2] < w.in[2];
      out[i] *= inside ? full : 1.0f / (rows * static_cast<float>(counted(w, 2, i)));
    }
  });
}

void depthwise(const Window& w, const float* x, const float* weights, const float* bias, float* y) {
  const Index taps = plane_size(w.kernel);
  for_output_rows(w, [&](Index plane, Index od, Index oh, Index at) {
    const Index channel = plane % w.channels;
    const float* kernel = weights + channel * taps;
    float* out = y + at;
    const float start = bias ? bias[channel] : 0.0f;
    for (Index i = 0; i < w.out[2]; ++i) out[i] = start;
    for_taps(w, x + plane * plane_size(w.in), od, oh, [&](const float* in, Index first) {
      const float* tap = kernel + first;
      if (w.kernel[2] == 3 && w.stride[2] == 1 && w.out[2] > 2) {  // the common width: three taps in one pass
        const Index d = w.dilation[2], p = w.pad[2];
        Range all = valid_outputs(w.out[2], 1, -p, w.in[2]);
        Range right = valid_outputs(w.out[2], 1, 2 * d - p, w.in[2]);
        const Index begin = all.begin, end = most(begin, right.end);
        for (int k = 0; k < 3; ++k) {
          Range valid = valid_outputs(w.out[2], 1, k * d - p, w.in[2]);
          for (Index i = valid.begin; i < least(begin, valid.end); ++i) out[i] += tap[k] * in[i + k * d - p];
          for (Index i = most(end, valid.begin); i < valid.end; ++i) out[i] += tap[k] * in[i + k * d - p];
        }
        const float t0 = tap[0], t1 = tap[1], t2 = tap[2];
        const float *a = in - p, *b = a + d, *c = b + d;
#pragma omp simd
        for (Index i = begin; i < end; ++i) out[i] += t0 * a[i] + t1 * b[i] + t2 * c[i];
        return;
      }
      for (Index k = 0; k < w.kernel[2]; ++k) {
        Index shift = k * w.dilation[2] - w.pad[2];
        const float t = tap[k];
        join_row(in, out, valid_outputs(w.out[2], w.stride[2], shift, w.in[2]), w.stride[2], shift,
                 [t](float a, float b) { return a + t * b; });
      }
    });
  });
}

// The second half of a transposed convolution done by a matrix product: `columns` is [planes, taps, in...]
// and every input position adds its taps to the output. Here `in` is where columns come from, `out` the
// image.
void columns_to_image(const Window& w, const float* columns, const float* bias, float* y) {
  const Index taps = plane_size(w.kernel), in_size = plane_size(w.in);
  const Index rows = w.planes * w.out[0] * w.out[1];
#pragma omp parallel for schedule(static) if (rows * w.out[2] > kSerial / 4)
  for (Index r = 0; r < rows; ++r) {
    const Index plane = r / (w.out[0] * w.out[1]), od = r / w.out[1] % w.out[0], oh = r % w.out[1];
    const float* from = columns + plane * taps * in_size;
    float* out = y + r * w.out[2];
    const float start = bias ? bias[plane % w.channels] : 0.0f;
    for (Index i = 0; i < w.out[2]; ++i) out[i] = start;
    for (Index kd = 0; kd < w.kernel[0]; ++kd) {
      Index d = od + w.pad[0] - kd * w.dilation[0];
      if (d < 0 || d % w.stride[0] || d / w.stride[0] >= w.in[0]) continue;
      for (Index kh = 0; kh < w.kernel[1]; ++kh) {
        Index h = oh + w.pad[1] - kh * w.dilation[1];
        if (h < 0 || h % w.stride[1] || h / w.stride[1] >= w.in[1]) continue;
        for (Index kw = 0; kw < w.kernel[2]; ++kw) {
          const Index tap = (kd * w.kernel[1] + kh) * w.kernel[2] + kw;
          const float* in = from + tap * in_size + (d / w.stride[0] * w.in[1] + h / w.stride[1]) * w.in[2];
          const Index shift = kw * w.dilation[2] - w.pad[2];
          Range valid = valid_outputs(w.in[2], w.stride[2], shift, w.out[2]);
          if (w.stride[2] == 1) {
#pragma omp simd
            for (Index i = valid.begin; i < valid.end; ++i) out[i + shift] += in[i];
          } else {
            for (Index i = valid.begin; i < valid.end; ++i) out[i * w.stride[2] + shift] += in[i];
          }
        }
      }
    }
  }
}

}  // namespace KF_LEVEL
}  // namespace kforge::loops
