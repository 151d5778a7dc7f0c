// Windows and Fourier transforms.
#include <cmath>
#include <numbers>

#include "oracle/call.h"
#include "oracle/ops/operators.h"

namespace kforge {
namespace {

constexpr double kPi = std::numbers::pi;

// A window a0 - a1 cos(t) + a2 cos(2 t); periodic ones are those of size + 1 without the last element.
template <class F>
Outputs<F> cosine_window(const Call<F>& call, double a0, double a1, double a2) {
  const std::int64_t size = call.scalar_int(0);
  if (size < 0) refuse("a window of size {}", size);
  const double period = static_cast<double>(call.int_attr("periodic", 1) != 0 ? size : size - 1);
  Tensor<F> y(dtype_attr(call, "output_datatype", DType::kFloat32), {size});
  for (std::int64_t i = 0; i < size; ++i) {
    const double t = 2 * kPi * static_cast<double>(i) / period;
    y.new_floats()[static_cast<std::size_t>(i)] =
        static_cast<F>(size == 1 ? 1.0 : a0 - a1 * std::cos(t) + a2 * std::cos(2 * t));
  }
  return {y};
}

// One transform by definition: out[k] = sum over n of in[n] exp(-+ 2 pi i k n / length).
template <class F>
struct Transform {
  std::int64_t length;
  bool inverse;
  std::vector<F> cosine, sine;  // of 2 pi j / length

  Transform(std::int64_t n, bool inverted) : length(n), inverse(inverted) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double angle = 2 * kPi * static_cast<double>(j) / static_cast<double>(n);
      cosine.push_back(static_cast<F>(std::cos(angle)));
      sine.push_back(static_cast<F>(inverted ? std::sin(angle) : -std::sin(angle)));
    }
  }

  // read(n) gives the pair (real, imaginary) of the input.
  template <class Read>
  std::pair<F, F> at(std::int64_t k, const Read& read) const {
    F real = 0, imaginary = 0;
    for (std::int64_t n = 0; n < length; ++n) {
      const auto angle = static_cast<std::size_t>(k * n % length);
      const auto [re, im] = read(n);
      real += re * cosine[angle] - im * sine[angle];
      imaginary += re * sine[angle] + im * cosine[angle];
    }
    const F scale = inverse ? 1 / static_cast<F>(length) : F(1);
    return {real * scale, imaginary * scale};
  }
};

void require_signal(const Shape& shape) {
  if (shape.size() < 2 || (shape.back() != 1 && shape.back() != 2))
    refuse("a signal of shape {}: the last axis holds real (and imaginary) parts", to_string(shape));
}

}  // namespace

KF_ORACLE_OPERATOR(HannWindow) { return cosine_window(call, 0.5, 0.5, 0); }
KF_ORACLE_OPERATOR(HammingWindow) { return cosine_window(call, 25.0 / 46, 21.0 / 46, 0); }
KF_ORACLE_OPERATOR(BlackmanWindow) { return cosine_window(call, 0.42, 0.5, 0.08); }

// Inputs: signal [batch]...[1 or 2], length (the axis is cut or filled with zeros).
KF_ORACLE_OPERATOR(DFT) {
  const Tensor<F>& x = call.in(0);
  require_signal(x.shape());
  const std::int64_t axis = normal_axis(call.int_attr("axis", 1), x.rank());
  if (axis == x.rank() - 1) refuse("the axis of real and imaginary parts is transformed");
  const bool inverse = call.int_attr("inverse", 0) != 0, onesided = call.int_attr("onesided", 0) != 0;
  const std::int64_t length = call.has(1) ? call.scalar_int(1) : x.dim(axis);
  if (length < 1) refuse("a transform of length {}", length);
  checked_count({length});
  const std::int64_t kept = onesided ? length / 2 + 1 : length, parts = x.dim(x.rank() - 1);
  Shape shape = x.shape();
  shape[static_cast<std::size_t>(axis)] = kept;
  shape.back() = 2;
  Tensor<F> y(x.dtype(), shape);
  const AxisView view(x.shape(), axis);
  const std::int64_t inner = view.inner / parts;
  const Transform<F> transform(length, inverse);
  const F* from = x.floats().data();
  F* to = y.new_floats().data();
  call.parallel(view.outer * kept * inner, 4 * length, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t outer = i / inner / kept, k = i / inner % kept, in = i % inner;
      const auto [real, imaginary] = transform.at(k, [&](std::int64_t n) {
        if (n >= view.length) return std::pair(F(0), F(0));
        const F* element = from + ((outer * view.length + n) * inner + in) * parts;
        return std::pair(element[0], parts == 2 ? element[1] : F(0));
      });
      to[2 * i] = real;
      to[2 * i + 1] = imaginary;
    }
  });
  return {y};
}

// Inputs: signal [batch][length][1 or 2], step, window, frame length. Output [batch][frames][bins][2].
KF_ORACLE_OPERATOR(STFT) {
  const Tensor<F>& x = call.in(0);
  require_signal(x.shape());
  if (x.rank() != 3) refuse("a signal of shape {}", to_string(x.shape()));
  const std::int64_t step = call.scalar_int(1), samples = x.dim(1), parts = x.dim(2);
  const std::int64_t frame = call.has(3) ? call.scalar_int(3) : call.in(2).size();
  if (step < 1 || frame < 1 || frame > samples)
    refuse("frames of {} in steps of {} over {} samples", frame, step, samples);
  if (call.has(2) && call.in(2).size() != frame)
    refuse("a window of {} for frames of {}", call.in(2).size(), frame);
  const std::int64_t frames = (samples - frame) / step + 1;
  const std::int64_t bins = call.int_attr("onesided", 1) != 0 ? frame / 2 + 1 : frame;
  Tensor<F> y(x.dtype(), {x.dim(0), frames, bins, 2});
  const Transform<F> transform(frame, false);
  const F* from = x.floats().data();
  F* to = y.new_floats().data();
  call.parallel(x.dim(0) * frames * bins, 4 * frame, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t start = i / bins / frames * samples + i / bins % frames * step;
      const auto [real, imaginary] = transform.at(i % bins, [&](std::int64_t n) {
        const F weight = call.has(2) ? call.floats(2)[static_cast<std::size_t>(n)] : F(1);
        const F* sample = from + (start + n) * parts;
        return std::pair(weight * sample[0], parts == 2 ? weight * sample[1] : F(0));
      });
      to[2 * i] = real;
      to[2 * i + 1] = imaginary;
    }
  });
  return {y};
}

// Triangular filters, evenly spaced in mels. Inputs: bands, length of the transform, sample rate, lower and
// upper edge.
KF_ORACLE_OPERATOR(MelWeightMatrix) {
  const std::int64_t bands = call.scalar_int(0), length = call.scalar_int(1), rate = call.scalar_int(2);
  const auto low = static_cast<double>(call.scalar_float(3)),
             high = static_cast<double>(call.scalar_float(4));
  if (bands < 0 || length < 1 || rate < 1)
    refuse("{} bands of a transform of {} at {} samples per second", bands, length, rate);
  checked_count({length / 2 + 1, bands + 2});
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  std::vector<std::int64_t> edges;
  const std::int64_t bins = length / 2 + 1;
  for (std::int64_t i = 0; i < bands + 2; ++i) {
    const double at =
        mel(low) + static_cast<double>(i) * (mel(high) - mel(low)) / static_cast<double>(bands + 2);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    edges.push_back(
        int_from_float(std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
    if (edges.back() < 0 || edges.back() > bins)
      refuse("the edge {} Hz lies outside of the transform", hertz);
  }
  Tensor<F> y(dtype_attr(call, "output_datatype", DType::kFloat32), {bins, bands});
  auto cell = [&](std::int64_t bin, std::int64_t band) -> F& {
    return y.new_floats()[static_cast<std::size_t>(bin * bands + band)];
  };
  for (std::int64_t band = 0; band < bands; ++band) {
    const std::int64_t left = edges[static_cast<std::size_t>(band)],
                       centre = edges[static_cast<std::size_t>(band + 1)];
    const std::int64_t right = edges[static_cast<std::size_t>(band + 2)];
    if (left == centre && centre < bins) cell(centre, band) = 1;
    for (std::int64_t bin = left; left < centre && bin <= std::min(centre, bins - 1); ++bin)
      cell(bin, band) = static_cast<F>(bin - left) / static_cast<F>(centre - left);
    for (std::int64_t bin = centre; bin < std::min(right, bins); ++bin)
      cell(bin, band) = static_cast<F>(right - bin) / static_cast<F>(right - centre);
  }
  return {y};
}

KF_ORACLE_INSTANTIATE(HannWindow)
KF_ORACLE_INSTANTIATE(HammingWindow)
KF_ORACLE_INSTANTIATE(BlackmanWindow)
KF_ORACLE_INSTANTIATE(DFT)
KF_ORACLE_INSTANTIATE(STFT)
KF_ORACLE_INSTANTIATE(MelWeightMatrix)

}  // namespace kforge
