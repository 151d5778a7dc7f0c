// Contractions on AMX tiles. Compiled once more for machines that have them (KERNEL_AMX: the instructions
// themselves, run where they work); everywhere else the instructions are emulated.
#include "check.h"
#include "kernel_cases.h"
#ifndef KERNEL_AMX
#include <immintrin.h>

#include "../emulated_isa/tiles.h"
#endif
#include "smith/kernels/contraction/amx.h"

namespace kforge {
namespace {

template <long kSplit>
struct AmxCase : ContractionDefaults {
  struct Tensors {
    const float *a, *b;
    float* y;
  };
  static constexpr long kBatch = 2, kM = 45, kN = 70, kK = 100, kParts = kSplit;
  static constexpr long kRowPanels = 2, kColumnPanels = 3, kBlockRowPanels = 1, kBlockColumnPanels = 2,
                        kBlockSteps = 2;
  static constexpr bool kAnyWidth = true;
  static constexpr Pack kPackA = Pack::kCall, kPackB = Pack::kPrepare;
  static constexpr long kAItems = 2;
  static constexpr long a_item(long i) { return i; }
  static constexpr long a_batch_of(long i) { return i; }
  static float a_element(const Tensors& t, long batch, long side, long depth) {
    return t.a[(batch * kM + side) * kK + depth];
  }
  static float b_element(const Tensors& t, long, long side, long depth) { return t.b[side * kK + depth]; }
  static constexpr long kPanelFloats = 4 * kParts * 512;
  static constexpr long kThreadScratch = kAItems * kRowPanels * kPanelFloats, kPerThread = 32 * (64 + 16);
  static void finish_vector(const Tensors& t, long batch, long row, long column, const float* sum_at) {
    store(t.y + (batch * kM + row) * kN + column, load<Vec>(sum_at + column));
  }
  static void finish_element(const Tensors& t, long batch, long row, long column, const float* sum_at) {
    t.y[(batch * kM + row) * kN + column] = sum_at[column];
  }
};

// Values with full mantissas, so that the accuracy of the splits shows.
template <class P>
const char* check(const char* what, double tolerance) {
  static float a[P::kBatch * P::kM * P::kK], b[P::kN * P::kK], y[P::kBatch * P::kM * P::kN];
  alignas(64) static float prepared[3 * P::kPanelFloats], scratch[P::kThreadScratch + 2 * P::kPerThread];
  Numbers numbers;
  for (float& x : a) x = std::sin(numbers.next() * 7.3f + 0.1f);
  for (float& x : b) x = std::cos(numbers.next() * 3.1f + 0.2f);
  AmxContraction<P>::prepare({a, b, y}, prepared);
#pragma omp parallel num_threads(2)
  AmxContraction<P>::work({a, b, y}, prepared, scratch);
  static double want[P::kBatch * P::kM * P::kN];
  double scale = 0;
  for (long i = 0; i < P::kBatch * P::kM; ++i)
    for (long j = 0; j < P::kN; ++j) {
      double sum = 0;
      for (long k = 0; k < P::kK; ++k) sum += double(a[i * P::kK + k]) * b[j * P::kK + k];
      want[i * P::kN + j] = sum;
      scale = std::fmax(scale, std::fabs(sum));
    }
  for (long i = 0; i < P::kBatch * P::kM * P::kN; ++i)
    if (!(std::fabs(y[i] - want[i]) <= tolerance * scale)) return wrong(what, y[i], want[i], i);
  return nullptr;
}

const char* every_split() {
  if (auto bad = check<AmxCase<1>>("bf16", 1e-2)) return bad;
  if (auto bad = check<AmxCase<2>>("bf16x3", 3e-5)) return bad;
  return check<AmxCase<3>>("bf16x6", 1e-6);
}
const char* fewer_parts_are_less_accurate() {
  return check<AmxCase<1>>("bf16", 1e-5) ? nullptr
                                         : wrong("bf16 as good as fp32: this test says nothing", 0, 1);
}

}  // namespace

DEFINE_KERNEL_CASES(amx, {"EverySplit", every_split},
                    {"FewerPartsAreLessAccurate", fewer_parts_are_less_accurate});

}  // namespace kforge
