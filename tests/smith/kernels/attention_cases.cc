// Attention with panels of keys and with dot products, causal or not.
#include "check.h"
#include "kernel_cases.h"
#include "smith/kernels/attention/attention.h"

namespace kforge {
namespace {

template <long kQ, bool kMasked>
struct AttentionCase {
  struct Tensors {
    const float *q, *k, *v;
    float* y;
  };
  static constexpr long kBatch = 2, kQueries = kQ, kKeys = 37, kDepth = 19, kWidth = 21;
  static constexpr long kRows = 8, kBlock = 32, kCausal = kMasked ? 37 - kQ + 1 : 0;
  static constexpr long kQRow = kDepth, kQColumn = 1, kKRow = kDepth, kKColumn = 1, kVRow = kWidth,
                        kYRow = kWidth;
  static const float* q(const Tensors& t, long batch) { return t.q + batch * kQueries * kDepth; }
  static const float* k(const Tensors& t, long batch) { return t.k + batch * kKeys * kDepth; }
  static const float* v(const Tensors& t, long batch) { return t.v + batch * kKeys * kWidth; }
  static float* y(const Tensors& t, long batch) { return t.y + batch * kQueries * kWidth; }
  template <class F>
  static SMITH_INLINE F score(const Tensors&, long, long query, long first, long column, const float* sums) {
    if constexpr (!kMasked) return load<F>(sums + column) * 0.125f;
    F s = load<F>(sums + column) * 0.125f;
    for (unsigned i = 0; i < sizeof(F) / 4; ++i)
      if (first + column + long(i) >= query + kCausal) (&reinterpret_cast<float&>(s))[i] = -__builtin_inff();
    return s;
  }
};

// Keys and values among those of other heads, and more keys than a block has; the last vector of keys is not
// full.
struct AmongOtherHeads : AttentionCase<29, false> {
  static constexpr long kWidth = 16, kDepth = 32, kBlock = 32, kApart = 3 * 32;
  static constexpr long kQRow = kApart, kKRow = kApart, kVRow = kApart, kYRow = kWidth;
  static const float* q(const Tensors& t, long batch) { return t.q + batch * kQueries * kApart; }
  static const float* k(const Tensors& t, long batch) { return t.k + batch * kKeys * kApart; }
  static const float* v(const Tensors& t, long batch) { return t.v + batch * kKeys * kApart; }
  static float* y(const Tensors& t, long batch) { return t.y + batch * kQueries * kWidth; }
};

template <class P>
const char* check(const char* what) {
  constexpr long size = P::kBatch * P::kQueries * P::kWidth;
  static float q[P::kBatch * P::kQueries * P::kQRow], k[P::kBatch * P::kKeys * P::kKRow],
      v[P::kBatch * P::kKeys * P::kVRow], y[size];
  static double want[size];
  Numbers numbers;
  numbers.fill(q), numbers.fill(k), numbers.fill(v);
  for (long b = 0; b < P::kBatch; ++b)
    for (long i = 0; i < P::kQueries; ++i) {
      double weights[P::kKeys], most = -1e300, total = 0;
      const long keys = P::kCausal > 0 && i + P::kCausal < P::kKeys ? i + P::kCausal : P::kKeys;
      for (long j = 0; j < keys; ++j) {
        double sum = 0;
        for (long d = 0; d < P::kDepth; ++d)
          sum += double(q[(b * P::kQueries + i) * P::kQRow + d]) * k[(b * P::kKeys + j) * P::kKRow + d];
        weights[j] = sum / 8;
        most = weights[j] > most ? weights[j] : most;
      }
      for (long j = 0; j < keys; ++j) total += weights[j] = std::exp(weights[j] - most);
      for (long d = 0; d < P::kWidth; ++d) {
        double sum = 0;
        for (long j = 0; j < keys; ++j) sum += weights[j] / total * v[(b * P::kKeys + j) * P::kVRow + d];
        want[(b * P::kQueries + i) * P::kWidth + d] = sum;
      }
    }
#pragma omp parallel num_threads(2)
  AttentionKernel<P>::work({q, k, v, y});
  return compare(what, y, want, size, 2e-5);
}

const char* panels() {
  if (auto bad = check<AttentionCase<29, false>>("all keys")) return bad;
  if (auto bad = check<AmongOtherHeads>("among other heads")) return bad;
  return check<AttentionCase<29, true>>("causal");
}
const char* dots() {
  if (auto bad = check<AttentionCase<1, false>>("one query")) return bad;
  return check<AttentionCase<3, true>>("three queries, causal");
}

}  // namespace

DEFINE_KERNEL_CASES(attention, {"PanelsOfKeys", panels}, {"DotProducts", dots});

}  // namespace kforge
