#include "verify/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>

#include "execute/tensor_memory.h"
#include "oracle/rounding.h"
#include "verify/compare_block.h"
#include "verify/pattern.h"

namespace kforge {
namespace {

constexpr std::size_t kKeptWorst = 5;

template <class T>
T load(const std::byte* data, std::int64_t index) {
  T value;
  std::memcpy(&value, data + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

double ratio_of(const WrongElement& element) {
  if (std::isnan(element.error)) return 1e300;
  return element.bound > 0 ? element.error / element.bound : (element.error > 0 ? 1e300 : 0);
}

// Sums and extremes of one part of the elements; parts are merged in order.
struct Part {
  Comparison found;
  double square_error = 0, square_truth = 0;

  void note(const WrongElement& element) {
    double ratio = ratio_of(element);
    if (ratio <= found.worst_ratio && !found.worst.empty()) return;
    found.worst_ratio = std::max(found.worst_ratio, ratio);
    found.bound_at_worst = element.bound;
    found.worst.insert(found.worst.begin(), element);
    if (found.worst.size() > kKeptWorst) found.worst.pop_back();
  }
  void wrong(std::int64_t index, bool nonfinite) {
    if (found.wrong++ == 0) found.first_wrong = index;
    found.wrong_nonfinite += nonfinite;
  }
};

void merge(Part& into, Part&& from) {
  Comparison &a = into.found, &b = from.found;
  if (a.first_wrong < 0) a.first_wrong = b.first_wrong;
  a.wrong += b.wrong;
  a.wrong_nonfinite += b.wrong_nonfinite;
  a.max_abs = std::max(a.max_abs, b.max_abs);
  a.max_rel = std::max(a.max_rel, b.max_rel);
  a.allclose_1e4 = a.allclose_1e4 && b.allclose_1e4;
  if (b.worst_ratio > a.worst_ratio) {
    a.worst_ratio = b.worst_ratio;
    a.bound_at_worst = b.bound_at_worst;
  }
  a.worst.insert(a.worst.end(), b.worst.begin(), b.worst.end());
  std::ranges::stable_sort(a.worst, [](const auto& x, const auto& y) { return ratio_of(x) > ratio_of(y); });
  if (a.worst.size() > kKeptWorst) a.worst.resize(kKeptWorst);
  into.square_error += from.square_error;
  into.square_truth += from.square_truth;
}

std::int64_t row_length(const Shape& shape) {
  return shape.empty() ? 1 : std::max<std::int64_t>(shape.back(), 1);
}

double want_at(const ExpectedOutput& expected, std::int64_t i) {
  return expected.doubles.empty() ? static_cast<double>(expected.values[static_cast<std::size_t>(i)])
                                  : expected.doubles[static_cast<std::size_t>(i)];
}

// Rms of the row about `centre`.
double row_rms(const ExpectedOutput& expected, std::int64_t begin, std::int64_t end, double centre) {
  double sum = 0;
  if (expected.doubles.empty()) {
    sum = finite_square_sum(expected.values.data() + begin, end - begin, centre);
  } else {
    for (std::int64_t i = begin; i < end; ++i)
      if (double b = want_at(expected, i) - centre; std::isfinite(b)) sum += b * b;
  }
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(end - begin, 1)));
}

// The result of a program that is right to the last few bits: what is left where all values are nearly equal.
constexpr double kLastBits = 0.1;  // of the tolerance, relative to the value itself
// What the yardstick's error may widen the bound to where it comes from a long sum: KernelBench's own
// criterion. A program that adds millions of values into one fp32 sum is wrong by more than that, however
// honest.
constexpr double kMostWidened = 1e-4;
// A product of exponentials may be off by this factor: an fp32 argument of some tens has no more digits.
constexpr double kRelative = 1e-3;

// Non-finite values must stand exactly where the truth has them: infinities with their sign, NaN as NaN.
bool same_nonfinite(double got, double want) { return (std::isnan(got) && std::isnan(want)) || got == want; }

// Part of one row of a floating-point output, judged element by element.
class RowJudge {
 public:
  RowJudge(const ExpectedOutput& expected, const std::byte* actual, const CompareOptions& options, Part& part)
      : expected_(expected), actual_(actual), options_(options), part_(part) {}

  void judge(std::int64_t begin, std::int64_t end) {
    const bool ordinary = options_.ordinary;
    bounds_.mean = ordinary ? expected_.mean : 0;
    bounds_.scale = std::max(row_rms(expected_, begin, end, bounds_.mean),
                             ordinary ? expected_.deviation : expected_.rms);
    bounds_.size =
        std::max(bounds_.mean == 0 ? bounds_.scale : row_rms(expected_, begin, end, 0), expected_.rms);
    bounds_.tolerance = options_.exact ? 0 : options_.policy.tolerance;
    bounds_.rounding = (ordinary ? kLastBits : 1) * bounds_.tolerance;
    bounds_.floor = options_.exact ? 0 : kYardstickFactor * expected_.yardstick_worst_abs;
    if (options_.no_outliers && expected_.long_sums)
      bounds_.floor = std::min(bounds_.floor, kMostWidened * bounds_.size);
    if (expected_.yardstick_worst_rel && ordinary)
      bounds_.relative =
          std::max({kRelative, options_.policy.tolerance, kYardstickFactor * *expected_.yardstick_worst_rel});
    std::int64_t i = begin;
    if (plain_float() && bounds_.scale > 0 && bounds_.size > 0)
      for (; i + kCompareBlock <= end; i += kCompareBlock)
        if (!dull_block(i)) each(i, i + kCompareBlock);
    each(i, end);
  }

 private:
  bool plain_float() const { return expected_.dtype == DType::kFloat32; }

  double bound_at(double want) const {
    // Never more than the value's own size: what lies across zero from the mean is far from it, and no larger
    // for that.
    double far = std::min(std::max(std::abs(want - bounds_.mean), bounds_.scale),
                          std::max(std::abs(want), bounds_.size));
    double bound = std::max({bounds_.tolerance * far, bounds_.rounding * std::abs(want), bounds_.floor});
    if (bounds_.relative > 0 && want >= kLeastRelative) bound = std::min(bound, bounds_.relative * want);
    return options_.exact ? bound : bound + rounding_allowance(expected_.dtype, want);
  }

  // True when the block holds nothing worth a closer look; its sums are then taken.
  bool dull_block(std::int64_t begin) {
    float raw[kCompareBlock];
    double got[kCompareBlock], want[kCompareBlock];
    std::memcpy(raw, actual_ + begin * static_cast<std::int64_t>(sizeof(float)), sizeof raw);
    widen(raw, got, kCompareBlock);
    widen(expected_.values.data() + begin, want, kCompareBlock);
    bounds_.worst_ratio = part_.found.worst_ratio;
    BlockGlance glance = glance_at_block(got, want, bounds_);
    if (!glance.dull) return false;
    part_.found.max_abs = std::max(part_.found.max_abs, glance.max_abs);
    part_.found.max_rel = std::max(part_.found.max_rel, glance.max_rel);
    part_.square_error += glance.square_error;
    part_.square_truth += glance.square_truth;
    return true;
  }

  void each(std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      double want = want_at(expected_, i);
      double got = element_as_double(expected_.dtype, actual_, i);
      if (!std::isfinite(want) || !std::isfinite(got)) {
        if (same_nonfinite(got, want) && !is_untouched(expected_.dtype, actual_, i)) continue;
        part_.wrong(i, true);
        part_.note({i, got, want, std::numeric_limits<double>::quiet_NaN(), 0});
        part_.found.allclose_1e4 = false;
        continue;
      }
      double error = std::abs(got - want), size = std::max(std::abs(want), bounds_.size);
      double bound = bound_at(want);
      part_.found.max_abs = std::max(part_.found.max_abs, error);
      if (size > 0) part_.found.max_rel = std::max(part_.found.max_rel, error / size);
      part_.square_error += error * error;
      part_.square_truth += want * want;
      if (error > 1e-4 + 1e-4 * std::abs(want)) part_.found.allclose_1e4 = false;
      if (error > bound) part_.wrong(i, false);
      if (bound > 0 ? error > part_.found.worst_ratio * bound : error > 0)
        part_.note({i, got, want, error, bound});
    }
  }

  const ExpectedOutput& expected_;
  const std::byte* actual_;
  const CompareOptions& options_;
  Part& part_;
  BlockBounds bounds_;
};

// Rows [first, last) of a floating-point output.
void compare_float_rows(const ExpectedOutput& expected, const std::byte* actual,
                        const CompareOptions& options, std::int64_t first, std::int64_t last, Part& part) {
  std::int64_t length = row_length(expected.shape);
  RowJudge judge(expected, actual, options, part);
  for (std::int64_t row = first; row < last; ++row) {
    judge.judge(row * length, (row + 1) * length);
    if (options.stop_when_wrong && part.found.wrong > 0) return;
  }
}

// The value an index stands for: element `index` along the axis, at the position of the output element.
double value_reached(const IndexSource& source, std::int64_t inner, std::int64_t axis_size,
                     std::int64_t outputs_per, std::int64_t flat, std::int64_t index) {
  // flat runs over [outer, outputs_per, inner] of the output.
  std::int64_t outer = flat / (outputs_per * inner), in = flat % inner;
  return static_cast<double>(
      source.values[static_cast<std::size_t>((outer * axis_size + index) * inner + in)]);
}

// How the elements of an output of indices lie: [outer, per, inner], `per` of them chosen along one axis.
struct IndexLayout {
  std::int64_t axis_size = 1, inner = 1, per = 1;
};

IndexLayout layout_of(const ExpectedOutput& expected) {
  const IndexSource& source = *expected.index_source;
  IndexLayout layout{.axis_size = source.shape[static_cast<std::size_t>(source.axis)]};
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < source.shape.size(); ++d) {
    if (static_cast<int>(d) < source.axis) outer *= source.shape[d];
    if (static_cast<int>(d) > source.axis) layout.inner *= source.shape[d];
  }
  const auto count = static_cast<std::int64_t>(expected.ints.size());
  layout.per = std::max<std::int64_t>(count / std::max<std::int64_t>(outer * layout.inner, 1), 1);
  return layout;
}

bool is_as_good(const ExpectedOutput& expected, const IndexLayout& layout, const PrecisionPolicy& policy,
                std::int64_t i, std::int64_t got) {
  const std::int64_t want = expected.ints[static_cast<std::size_t>(i)];
  if (got == want) return true;
  if (got < 0 || got >= layout.axis_size || want < 0 || want >= layout.axis_size) return false;
  const IndexSource& source = *expected.index_source;
  double a = value_reached(source, layout.inner, layout.axis_size, layout.per, i, got);
  double b = value_reached(source, layout.inner, layout.axis_size, layout.per, i, want);
  return std::abs(a - b) <=
         std::max(policy.tolerance * std::abs(b), kYardstickFactor * source.yardstick_worst_abs);
}

// Where several are chosen along an axis each is another one, also where values are equal. Elements whose
// index was named before.
std::vector<bool> named_before(const ExpectedOutput& expected, const IndexLayout& layout,
                               const std::byte* actual) {
  const auto count = static_cast<std::int64_t>(expected.ints.size());
  std::vector<bool> again(static_cast<std::size_t>(count));
  if (layout.per == 1) return again;
  // By the element of the axis: the last row of choices that named it.
  std::vector<std::int64_t> last(static_cast<std::size_t>(layout.axis_size), -1);
  for (std::int64_t row = 0; row < count / layout.per; ++row)
    for (std::int64_t k = 0; k < layout.per; ++k) {
      const std::int64_t i = (row / layout.inner * layout.per + k) * layout.inner + row % layout.inner;
      const auto got = static_cast<std::int64_t>(element_as_double(expected.dtype, actual, i));
      if (got < 0 || got >= layout.axis_size) continue;
      again[static_cast<std::size_t>(i)] = std::exchange(last[static_cast<std::size_t>(got)], row) == row;
    }
  return again;
}

void compare_indices(const ExpectedOutput& expected, const std::byte* actual, const CompareOptions& options,
                     Part& part) {
  const IndexLayout layout = layout_of(expected);
  const std::vector<bool> again = named_before(expected, layout, actual);
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(expected.ints.size()); ++i) {
    const double raw = element_as_double(expected.dtype, actual, i);
    if (!again[static_cast<std::size_t>(i)] &&
        is_as_good(expected, layout, options.policy, i, static_cast<std::int64_t>(raw)))
      continue;
    const auto want = static_cast<double>(expected.ints[static_cast<std::size_t>(i)]);
    part.wrong(i, false);
    part.note({i, raw, want, std::abs(raw - want), 0});
  }
}

void compare_ints(const ExpectedOutput& expected, const std::byte* actual, Part& part) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(expected.ints.size()); ++i) {
    double got = element_as_double(expected.dtype, actual, i);
    auto want = static_cast<double>(expected.ints[static_cast<std::size_t>(i)]);
    if (got == want) continue;
    part.wrong(i, false);
    part.note({i, got, want, std::abs(got - want), 0});
    part.found.max_abs = std::max(part.found.max_abs, std::abs(got - want));
  }
}

}  // namespace

bool is_untouched(DType dtype, const std::byte* data, std::int64_t index) {
  const std::size_t size = size_of(dtype);
  return count_poison(dtype, 0, {data + static_cast<std::size_t>(index) * size, size}) == 1;
}

bool index_as_good(const ExpectedOutput& expected, const PrecisionPolicy& policy, std::int64_t element,
                   std::int64_t index) {
  return is_as_good(expected, layout_of(expected), policy, element, index);
}

double element_as_double(DType dtype, const std::byte* data, std::int64_t index) {
  switch (dtype) {
    case DType::kFloat32:
      return static_cast<double>(load<float>(data, index));
    case DType::kFloat64:
      return load<double>(data, index);
    case DType::kFloat16:
      return static_cast<double>(float_from_fp16(load<std::uint16_t>(data, index)));
    case DType::kBFloat16:
      return static_cast<double>(float_from_bf16(load<std::uint16_t>(data, index)));
    case DType::kInt8:
      return load<std::int8_t>(data, index);
    case DType::kInt16:
      return load<std::int16_t>(data, index);
    case DType::kInt32:
      return load<std::int32_t>(data, index);
    case DType::kInt64:
      return static_cast<double>(load<std::int64_t>(data, index));
    case DType::kUInt8:
    case DType::kBool:
      return load<std::uint8_t>(data, index);
    case DType::kUInt16:
      return load<std::uint16_t>(data, index);
    case DType::kUInt32:
      return load<std::uint32_t>(data, index);
    case DType::kUInt64:
      return static_cast<double>(load<std::uint64_t>(data, index));
    case DType::kString:
      break;
  }
  return 0;
}

Comparison compare_output(const ExpectedOutput& expected, std::span<const std::byte> actual,
                          const CompareOptions& options) {
  std::int64_t elements = element_count(expected.shape);
  KF_CHECK(actual.size() == static_cast<std::size_t>(elements) * size_of(expected.dtype),
           "output {} has {} bytes", expected.name, actual.size());
  Part whole;
  if (elements == 0) {
    // Nothing to compare.
  } else if (!is_float(expected.dtype)) {
    if (expected.index_source) {
      compare_indices(expected, actual.data(), options, whole);
    } else {
      compare_ints(expected, actual.data(), whole);
    }
  } else {
    std::int64_t rows = elements / row_length(expected.shape);
    int workers = elements < (1 << 18) ? 1 : std::max(1, options.threads);
    std::vector<Part> parts(static_cast<std::size_t>(workers));
    std::vector<std::jthread> threads;
    for (int w = 0; w < workers; ++w) {
      auto work = [&, w] {
        compare_float_rows(expected, actual.data(), options, rows * w / workers, rows * (w + 1) / workers,
                           parts[static_cast<std::size_t>(w)]);
      };
      w + 1 < workers ? static_cast<void>(threads.emplace_back(work)) : work();
    }
    threads.clear();
    for (Part& part : parts) merge(whole, std::move(part));
    whole.found.rel_norm = whole.square_truth > 0 ? std::sqrt(whole.square_error / whole.square_truth) : 0;
  }
  whole.found.elements = elements;
  if (whole.found.wrong > 0 && !options.stop_when_wrong)
    whole.found.pattern = error_pattern(expected, actual, options, whole.found);
  return std::move(whole.found);
}

}  // namespace kforge
