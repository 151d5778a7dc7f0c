// Windows and Fourier transforms. The roots of unity are a table made now, exact to the last bit; the sums
// are plain reductions, as long as the transform.
#include <cmath>
#include <numbers>

#include "smith/expr/arithmetic.h"
#include "smith/graph/native_code.h"

namespace kforge::smith {
namespace {

void window(Lowering& l, double a0, double a1, double a2) {
  const std::int64_t size = l.output_shape()[0];
  const double period = static_cast<double>(l.node().int_attr("periodic", 1) != 0 ? size : size - 1);
  std::vector<double> values;
  for (std::int64_t i = 0; i < size; ++i) {
    const double t = 2 * std::numbers::pi * static_cast<double>(i) / period;
    values.push_back(size == 1 ? 1.0 : a0 - a1 * std::cos(t) + a2 * std::cos(2 * t));
  }
  const Value made = table_of(l, "window", {size}, values);
  const DType dtype = l.output_dtype();
  l.define_map([=](const Position& p) { return cast(made.at(p), dtype); }, 1);
}
void hann(Lowering& l) { window(l, 0.5, 0.5, 0); }
void hamming(Lowering& l) { window(l, 25.0 / 46, 21.0 / 46, 0); }
void blackman(Lowering& l) { window(l, 0.42, 0.5, 0.08); }

// cos and sin of 2 pi j / n, side by side.
Value roots_of_unity(Lowering& l, std::int64_t n, bool inverse) {
  std::vector<double> values;
  for (std::int64_t j = 0; j < n; ++j) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(n);
    values.push_back(std::cos(angle));
    values.push_back(inverse ? std::sin(angle) : -std::sin(angle));
  }
  return table_of(l, "roots_of_unity", {n, 2}, values);
}

// One output element: the sum over n of read(n, part) times the root; `part` 0 is real, 1 imaginary.
using Read = std::function<Expr(const Expr& n, std::int64_t part)>;
Expr term(const Value& roots, const Expr& k, const Expr& n, const Expr& part, bool complex,
          const Read& read) {
  const std::int64_t length = roots.shape[0];
  const Expr at = binary(Op::kMod, binary(Op::kMul, k, n), integer(length));
  const Expr cosine = roots.at({at, integer(0)}), sine = roots.at({at, integer(1)});
  const Expr real = read(n, 0);
  const Expr is_real = binary(Op::kEqual, part, integer(0));
  if (!complex) return mul(real, select(is_real, cosine, sine));
  const Expr imaginary = read(n, 1);
  return select(is_real, sub(mul(real, cosine), mul(imaginary, sine)),
                add(mul(real, sine), mul(imaginary, cosine)));
}

void dft(Lowering& l) {
  const Value x = l.input(0);
  const auto axis = static_cast<std::size_t>(normal_axis(l.node().int_attr("axis", 1), x.rank()));
  const bool inverse = l.node().int_attr("inverse", 0) != 0, complex = x.shape.back() == 2;
  const std::int64_t length = l.has(1) ? l.constant_ints(1)->at(0) : x.shape[axis];
  const std::int64_t known = std::min(length, x.shape[axis]);  // what is missing is zero
  const Value roots = roots_of_unity(l, length, inverse);
  const Value sums = l.reduce(
      Combine::kSum, x.dtype, l.output_shape(), {known},
      [&](const Position& p, const Position& r) {
        return term(roots, p[axis], r[0], p.back(), complex, [&](const Expr& n, std::int64_t part) {
          Position from = p;
          from[axis] = n;
          from.back() = integer(part);
          return x.at(from);
        });
      },
      l.node().outputs[0]);
  if (!inverse) return l.define(0, sums);
  l.define_map(
      [=](const Position& p) {
        const Expr sum = sums.at(p);
        return mul(sum, number(1.0 / static_cast<double>(length), sum->type));
      },
      2);
}

void stft(Lowering& l) {
  const Value x = l.input(0);
  const std::int64_t step = l.constant_ints(1)->at(0);
  const std::int64_t frame = l.has(3) ? l.constant_ints(3)->at(0) : l.input(2).shape[0];
  const std::optional<Value> weights = l.has(2) ? std::optional(l.input(2)) : std::nullopt;
  const bool complex = x.shape[2] == 2;
  const Value roots = roots_of_unity(l, frame, false);
  l.define(0, l.reduce(
                  Combine::kSum, x.dtype, l.output_shape(), {frame},
                  [&](const Position& p, const Position& r) {
                    return term(roots, p[2], r[0], p[3], complex, [&](const Expr& n, std::int64_t part) {
                      const Expr sample = x.at({p[0], plus(times(p[1], step), n), integer(part)});
                      return weights ? mul(weights->at({n}), sample) : sample;
                    });
                  },
                  l.node().outputs[0]));
}

void mel_weight_matrix(Lowering& l) {
  const std::int64_t bands = l.constant_ints(0)->at(0), length = l.constant_ints(1)->at(0),
                     rate = l.constant_ints(2)->at(0);
  const double low = l.constant_doubles(3)->at(0), high = l.constant_doubles(4)->at(0);
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const std::int64_t bins = length / 2 + 1;
  std::vector<std::int64_t> edges;
  for (std::int64_t i = 0; i < bands + 2; ++i) {
    const double at =
        mel(low) + static_cast<double>(i) * (mel(high) - mel(low)) / static_cast<double>(bands + 2);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    const double edge = std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    if (!(edge >= 0 && edge <= static_cast<double>(bins)))
      throw Unsupported{fmt::format("with an edge at {} Hz, outside of the transform", hertz)};
    edges.push_back(static_cast<std::int64_t>(edge));
  }
  std::vector<double> values(static_cast<std::size_t>(bins * bands));
  auto cell = [&](std::int64_t bin, std::int64_t band) -> double& {
    return values[static_cast<std::size_t>(bin * bands + band)];
  };
  for (std::int64_t band = 0; band < bands; ++band) {
    const auto b = static_cast<std::size_t>(band);
    const std::int64_t left = edges[b], centre = edges[b + 1], right = edges[b + 2];
    if (left == centre && centre < bins) cell(centre, band) = 1;
    for (std::int64_t bin = left; left < centre && bin <= std::min(centre, bins - 1); ++bin)
      cell(bin, band) = static_cast<double>(bin - left) / static_cast<double>(centre - left);
    for (std::int64_t bin = centre; bin < std::min(right, bins); ++bin)
      cell(bin, band) = static_cast<double>(right - bin) / static_cast<double>(right - centre);
  }
  const Value made = table_of(l, "bands", {bins, bands}, values);
  const DType dtype = l.output_dtype();
  l.define_map([=](const Position& p) { return cast(made.at(p), dtype); }, 1);
}

}  // namespace

const LowerTable& signal_table() {
  static const LowerTable table = {
      {"HannWindow", hann},
      {"HammingWindow", hamming},
      {"BlackmanWindow", blackman},
      {"DFT", dft},
      {"STFT", stft},
      {"MelWeightMatrix", mel_weight_matrix},
  };
  return table;
}

}  // namespace kforge::smith
