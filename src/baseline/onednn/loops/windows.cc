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

// Calls row(plane, depth, height, offset of the output row, scratch) for every output row; scratch has
// `floats` elements of the thread's own.
template <class Row>
void for_output_rows(const Window& w, Index floats, Row row) {
  const Index rows = w.planes * w.out[0] * w.out[1];
#pragma omp parallel if (rows * w.out[2] > kSerial / 4)
  {
    float* scratch =
        static_cast<float*>(__builtin_malloc(static_cast<unsigned long>(floats + 1) * sizeof(float)));
#pragma omp for schedule(static)
    for (Index r = 0; r < rows; ++r)
      row(r / (w.out[0] * w.out[1]), r / w.out[1] % w.out[0], r % w.out[1], r * w.out[2], scratch);
    __builtin_free(scratch);
  }
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

// One output row: first the rows of the window joined to one, then the neighbours in it. Both run along
// memory.
template <class Join>
void pool_row(const Window& w, const float* plane, Index od, Index oh, float start, Join join, float* scratch,
              float* out) {
  const float* line = nullptr;
  for_taps(w, plane, od, oh, [&](const float* in, Index) {
    if (!line) {
      line = in;
      return;
    }
#pragma omp simd
    for (Index i = 0; i < w.in[2]; ++i) scratch[i] = join(line[i], in[i]);
    line = scratch;
  });
  for (Index i = 0; i < w.out[2]; ++i) out[i] = start;
  if (!line) return;
  for (Index k = 0; k < w.kernel[2]; ++k) {
    const Index shift = k * w.dilation[2] - w.pad[2];
    join_row(line, out, valid_outputs(w.out[2], w.stride[2], shift, w.in[2]), w.stride[2], shift, join);
  }
}

}  // namespace

namespace KF_LEVEL {

void pool_max(const Window& w, const float* x, float* y) {
  auto join = [](float a, float b) { return a < b || b != b ? b : a; };
  for_output_rows(w, w.in[2], [&](Index plane, Index od, Index oh, Index at, float* scratch) {
    pool_row(w, x + plane * plane_size(w.in), od, oh, -__builtin_inff(), join, scratch, y + at);
  });
}

void pool_average(const Window& w, const float* x, float* y) {
  auto join = [](float a, float b) { return a + b; };
  for_output_rows(w, w.in[2], [&](Index plane, Index od, Index oh, Index at, float* scratch) {
    float* out = y + at;
    pool_row(w, x + plane * plane_size(w.in), od, oh, 0.0f, join, scratch, out);
    const float rows = static_cast<float>(counted(w, 0, od) * counted(w, 1, oh));
    const float full = 1.0f / (rows * static_cast<float>(w.kernel[2]));
    // Windows that lie inside along the row share one divisor.
    Range inside = {least(w.out[2], (w.pad[2] + w.stride[2] - 1) / w.stride[2]), 0};
    const Index room = w.in[2] - 1 - (w.kernel[2] - 1) * w.dilation[2] + w.pad[2];
    inside.end = room < 0 ? 0 : least(w.out[2], room / w.stride[2] + 1);
    inside.end = most(inside.begin, inside.end);
    for (Index i = 0; i < inside.begin; ++i) out[i] *= 1.0f / (rows * static_cast<float>(counted(w, 2, i)));
#pragma omp simd
    for (Index i = inside.begin; i < inside.end; ++i) out[i] *= full;
    for (Index i = inside.end; i < w.out[2]; ++i)
      out[i] *= 1.0f / (rows * static_cast<float>(counted(w, 2, i)));
  });
}

void depthwise(const Window& w, const float* x, const float* weights, const float* bias, float* y) {
  const Index taps = plane_size(w.kernel);
  for_output_rows(w, 0, [&](Index plane, Index od, Index oh, Index at, float*) {
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
// image. With a stride the outputs of a row are kept by their remainder, so that neighbours lie together
// until the row is put in order.
void columns_to_image(const Window& w, const float* columns, const float* bias, float* y) {
  const Index taps = plane_size(w.kernel), in_size = plane_size(w.in), step = w.stride[2];
  const Index length = (w.out[2] + step - 1) / step;
  for_output_rows(w, length * step, [&](Index plane, Index od, Index oh, Index at, float* phases) {
    const float* from = columns + plane * taps * in_size;
    const float start = bias ? bias[plane % w.channels] : 0.0f;
    float* rows = step == 1 ? y + at : phases;
    for (Index i = 0; i < length * step; ++i) rows[i] = start;
    for (Index kd = 0; kd < w.kernel[0]; ++kd) {
      const Index d = od + w.pad[0] - kd * w.dilation[0];
      if (d < 0 || d % w.stride[0] || d / w.stride[0] >= w.in[0]) continue;
      for (Index kh = 0; kh < w.kernel[1]; ++kh) {
        const Index h = oh + w.pad[1] - kh * w.dilation[1];
        if (h < 0 || h % w.stride[1] || h / w.stride[1] >= w.in[1]) continue;
        for (Index kw = 0; kw < w.kernel[2]; ++kw) {
          const Index tap = (kd * w.kernel[1] + kh) * w.kernel[2] + kw;
          const float* in = from + tap * in_size + (d / w.stride[0] * w.in[1] + h / w.stride[1]) * w.in[2];
          const Index shift = kw * w.dilation[2] - w.pad[2];
          const Index whole = (shift >= 0 ? shift : shift - step + 1) / step;  // rounded down
          const Range valid = valid_outputs(w.in[2], step, shift, w.out[2]);
          float* row = rows + (shift - whole * step) * length + whole;
#pragma omp simd
          for (Index i = valid.begin; i < valid.end; ++i) row[i] += in[i];
        }
      }
    }
    if (step == 1) return;
    float* out = y + at;
    for (Index phase = 0; phase < step; ++phase)
      for (Index i = 0; i * step + phase < w.out[2]; ++i) out[i * step + phase] = phases[phase * length + i];
  });
}

// What a convolution sums, as a matrix [channels * taps, outputs] for one image; padding is zero.
void image_to_columns(const Window& w, const float* x, float* columns) {
  const Index taps = plane_size(w.kernel), out_size = plane_size(w.out), rows = w.planes * taps;
#pragma omp parallel for schedule(static) if (rows * out_size > kSerial)
  for (Index r = 0; r < rows; ++r) {
    const Index tap = r % taps, kw = tap % w.kernel[2], kh = tap / w.kernel[2] % w.kernel[1],
                kd = tap / (w.kernel[2] * w.kernel[1]);
    const float* plane = x + r / taps * plane_size(w.in);
    const Index shift = kw * w.dilation[2] - w.pad[2];
    const Range valid = valid_outputs(w.out[2], w.stride[2], shift, w.in[2]);
    for (Index od = 0; od < w.out[0]; ++od)
      for (Index oh = 0; oh < w.out[1]; ++oh) {
        float* out = columns + r * out_size + (od * w.out[1] + oh) * w.out[2];
        const Index d = od * w.stride[0] + kd * w.dilation[0] - w.pad[0];
        const Index h = oh * w.stride[1] + kh * w.dilation[1] - w.pad[1];
        const bool inside = d >= 0 && d < w.in[0] && h >= 0 && h < w.in[1];
        const Range used = inside ? valid : Range{w.out[2], w.out[2]};
        const float* in = plane + (d * w.in[1] + h) * w.in[2] + shift;
        for (Index i = 0; i < used.begin; ++i) out[i] = 0;
        if (w.stride[2] == 1)
          for (Index i = used.begin; i < used.end; ++i) out[i] = in[i];
        else
          for (Index i = used.begin; i < used.end; ++i) out[i] = in[i * w.stride[2]];
        for (Index i = used.end; i < w.out[2]; ++i) out[i] = 0;
      }
  }
}

}  // namespace KF_LEVEL
}  // namespace kforge::loops
