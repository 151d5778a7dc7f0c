// Normalisations: the variance always in a second pass over the centred values.
#include "baseline/onednn/loops/vector_math.h"
#include "baseline/onednn/loops/walk.h"

namespace kforge::loops {
namespace {

constexpr Index kBlock = 4096;

double sum_run(const float* x, Index n) {
  double all = 0;
  for (Index i = 0; i < n; i += kBlock) {
    const Index end = least(n, i + kBlock);
    float part = 0;
#pragma omp simd reduction(+ : part)
    for (Index j = i; j < end; ++j) part += x[j];
    all += part;
  }
  return all;
}

double square_run(const float* x, Index n, float mean) {
  double all = 0;
  for (Index i = 0; i < n; i += kBlock) {
    const Index end = least(n, i + kBlock);
    float part = 0;
#pragma omp simd reduction(+ : part)
    for (Index j = i; j < end; ++j) part += (x[j] - mean) * (x[j] - mean);
    all += part;
  }
  return all;
}

// y = (x - mean) * scale * gamma + beta on elements [begin, end) of a row.
void apply_row(const NormRows& s, const float* x, const float* gamma, const float* beta, float* y, float mean,
               float scale, Index begin, Index end) {
  if (s.spatial == 1) {
    if (gamma && beta) {
#pragma omp simd
      for (Index i = begin; i < end; ++i) y[i] = (x[i] - mean) * scale * gamma[i] + beta[i];
    } else if (gamma) {
#pragma omp simd
      for (Index i = begin; i < end; ++i) y[i] = (x[i] - mean) * scale * gamma[i];
    } else {
#pragma omp simd
      for (Index i = begin; i < end; ++i) y[i] = (x[i] - mean) * scale;
    }
    return;
  }
  for (Index i = begin; i < end;) {
    const Index c = i / s.spatial, stop = least(end, (c + 1) * s.spatial);
    const float g = scale * (gamma ? gamma[c] : 1.0f), b = beta ? beta[c] : 0.0f;
#pragma omp simd
    for (Index j = i; j < stop; ++j) y[j] = (x[j] - mean) * g + b;
    i = stop;
  }
}

}  // namespace

namespace KF_LEVEL {

void normalise_rows(const NormRows& s, const float* x, const float* gamma, const float* beta, float* y) {
  const Index n = s.channels * s.spatial;
  if (s.rows >= omp_get_max_threads() || n < kSerial) {
#pragma omp parallel for schedule(static) if (s.rows * n > kSerial)
    for (Index r = 0; r < s.rows; ++r) {
      const float* row = x + r * n;
      const Index first = r % s.periods * s.channels;
      float mean = s.rms ? 0.0f : static_cast<float>(sum_run(row, n) / static_cast<double>(n));
      double variance = square_run(row, n, mean) / static_cast<double>(n);
      float scale = static_cast<float>(1.0 / __builtin_sqrt(variance + static_cast<double>(s.epsilon)));
      apply_row(s, row, gamma ? gamma + first : nullptr, beta ? beta + first : nullptr, y + r * n, mean,
                scale, 0, n);
    }
    return;
  }
  for (Index r = 0; r < s.rows; ++r) {  // few long rows: the threads share each
    const float* row = x + r * n;
    const Index first = r % s.periods * s.channels;
    double sum = 0, squares = 0;
#pragma omp parallel reduction(+ : sum)
    {
      Range mine = my_share(n);
      if (!s.rms) sum += sum_run(row + mine.begin, mine.end - mine.begin);
    }
    const float mean = static_cast<float>(sum / static_cast<double>(n));
#pragma omp parallel reduction(+ : squares)
    {
      Range mine = my_share(n);
      squares += square_run(row + mine.begin, mine.end - mine.begin, mean);
    }
    const float scale = static_cast<float>(
        1.0 / __builtin_sqrt(squares / static_cast<double>(n) + static_cast<double>(s.epsilon)));
#pragma omp parallel
    {
      Range mine = my_share(n);
      apply_row(s, row, gamma ? gamma + first : nullptr, beta ? beta + first : nullptr, y + r * n, mean,
                scale, mine.begin, mine.end);
    }
  }
}

void channel_moments(Index batch, Index channels, Index spatial, const float* x, float* mean,
                     float* variance) {
  const double count = static_cast<double>(batch * spatial);
  if (spatial == 1) {  // columns of a matrix
    constexpr Index kStrip = 256;
#pragma omp parallel for schedule(static) if (batch * channels > kSerial)
    for (Index c0 = 0; c0 < channels; c0 += kStrip) {
      const Index width = least(kStrip, channels - c0);
      double sum[kStrip] = {}, squares[kStrip] = {};
      for (Index b = 0; b < batch; ++b)
        for (Index c = 0; c < width; ++c) sum[c] += x[b * channels + c0 + c];
      for (Index c = 0; c < width; ++c) sum[c] /= count;
      for (Index b = 0; b < batch; ++b)
        for (Index c = 0; c < width; ++c) {
          double d = x[b * channels + c0 + c] - sum[c];
          squares[c] += d * d;
        }
      for (Index c = 0; c < width; ++c) {
        mean[c0 + c] = static_cast<float>(sum[c]);
        variance[c0 + c] = static_cast<float>(squares[c] / count);
      }
    }
    return;
  }
#pragma omp parallel for schedule(static) if (batch * channels * spatial > kSerial)
  for (Index c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (Index b = 0; b < batch; ++b) sum += sum_run(x + (b * channels + c) * spatial, spatial);
    float centre = static_cast<float>(sum / count);
    for (Index b = 0; b < batch; ++b)
      squares += square_run(x + (b * channels + c) * spatial, spatial, centre);
    mean[c] = centre;
    variance[c] = static_cast<float>(squares / count);
  }
}

void channel_affine(Index batch, Index channels, Index spatial, const float* x, const float* scale,
                    const float* shift, float* y) {
  if (spatial == 1) {
#pragma omp parallel for schedule(static) if (batch * channels > kSerial)
    for (Index b = 0; b < batch; ++b)
#pragma omp simd
      for (Index c = 0; c < channels; ++c) y[b * channels + c] = x[b * channels + c] * scale[c] + shift[c];
    return;
  }
#pragma omp parallel for schedule(static) if (batch * channels * spatial > kSerial)
  for (Index p = 0; p < batch * channels; ++p) {
    const float a = scale[p % channels], b = shift[p % channels];
    const float* from = x + p * spatial;
    float* to = y + p * spatial;
#pragma omp simd
    for (Index i = 0; i < spatial; ++i) to[i] = from[i] * a + b;
  }
}

}  // namespace KF_LEVEL
}  // namespace kforge::loops
