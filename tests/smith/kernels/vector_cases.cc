// Vectors and their way from memory and back.
#include "check.h"
#include "kernel_cases.h"
#include "smith/kernels/memory/allocate.h"
#include "smith/kernels/memory/bf16.h"
#include "smith/kernels/memory/copy.h"
#include "smith/kernels/memory/f16.h"
#include "smith/kernels/memory/integers.h"
#include "smith/kernels/memory/masks.h"
#include "smith/kernels/memory/strided.h"
#include "smith/kernels/memory/transpose.h"
#include "smith/kernels/vectors/accumulators.h"
#include "smith/kernels/vectors/along.h"
#include "smith/kernels/vectors/lanes.h"
#include "smith/kernels/vectors/positions.h"
#include "smith/kernels/vectors/prefix.h"

namespace kforge {
namespace {

const char* lanes_match_the_instruction_set() {
  const long want = KERNEL_LANES;
  return kLanes == want ? nullptr : wrong("kLanes", kLanes, want);
}

const char* loops_touch_every_element_once() {
  for (long n = 0; n < 70; ++n) {
    int seen[80] = {};
    along<3>(n, [&](auto lane, long i) {
      using F = typename decltype(lane)::F;
      for (unsigned j = 0; j < sizeof(F) / 4; ++j) ++seen[i + j];
    });
    for (long i = 0; i < 80; ++i)
      if (seen[i] != (i < n)) return wrong("visits", seen[i], i < n, i);
  }
  return nullptr;
}

const char* partial_results_add_up() {
  for (long n = 1; n < 70; ++n) {
    float x[70];
    double sum = 0, most = -1e30;
    for (long i = 0; i < n; ++i) {
      x[i] = float((i * 7) % 13 - 6);
      sum += x[i];
      most = x[i] > most ? x[i] : most;
    }
    Partial<Plus, 2> plus(0);
    Partial<Larger, 2> larger(-__builtin_inff());
    along<2>(n, [&](auto lane, long i) {
      using F = typename decltype(lane)::F;
      plus.take(lane, load<F>(x + i));
      larger.take(lane, load<F>(x + i));
    });
    if (plus.result() != sum) return wrong("sum", plus.result(), sum, n);
    if (larger.result() != most) return wrong("largest", larger.result(), most, n);
  }
  return nullptr;
}

const char* extrema_and_nan() {
  const float nan = __builtin_nanf("");
  const Vec a = set<Vec>(1), b = set<Vec>(2), n = set<Vec>(nan);
  if (maximum(a, b)[0] != 2 || minimum(a, b)[0] != 1) return wrong("maximum", maximum(a, b)[0], 2);
  if (maximum(a, n)[0] == maximum(a, n)[0] || maximum(n, a)[0] == maximum(n, a)[0])
    return wrong("NaN wins", maximum(a, n)[0], nan);
  if (maximum(nan, 1.0f) == maximum(nan, 1.0f)) return wrong("NaN wins", maximum(nan, 1.0f), nan);
  if (at_least(n, 0.0f)[0] == at_least(n, 0.0f)[0]) return wrong("NaN stays", at_least(n, 0.0f)[0], nan);
  if (at_most(b, 1.5f)[kLanes - 1] != 1.5f) return wrong("at_most", at_most(b, 1.5f)[0], 1.5);
  return nullptr;
}

const char* prefixes_and_shifts() {
  float x[kLanes], y[kLanes];
  for (long i = 0; i < kLanes; ++i) x[i] = float(i + 1);
  store(y, prefix<Plus>(load<Vec>(x), 0));
  for (long i = 0; i < kLanes; ++i)
    if (y[i] != float((i + 1) * (i + 2) / 2)) return wrong("prefix", y[i], (i + 1) * (i + 2) / 2, i);
  store(y, one_up(load<Vec>(x), set<Vec>(-1)));
  for (long i = 0; i < kLanes; ++i)
    if (y[i] != float(i == 0 ? -1 : i)) return wrong("one_up", y[i], i, i);
  store(y, last_lane(load<Vec>(x)));
  for (long i = 0; i < kLanes; ++i)
    if (y[i] != float(kLanes)) return wrong("last_lane", y[i], kLanes, i);
  store(y, mirrored(load<Vec>(x)));
  for (long i = 0; i < kLanes; ++i)
    if (y[i] != float(kLanes - i)) return wrong("mirrored", y[i], kLanes - i, i);
  return nullptr;
}

const char* elements_apart() {
  float x[200];
  for (long i = 0; i < 200; ++i) x[i] = float(i);
  const Vec two = strided<Vec, 2>(x), five = strided<Vec, 5>(x), back = backward<Vec>(x + 100);
  const IVec at = positions<Vec>(3, 4);
  for (long i = 0; i < kLanes; ++i) {
    if (two[i] != float(2 * i)) return wrong("stride 2", two[i], 2 * i, i);
    if (five[i] != float(5 * i)) return wrong("stride 5", five[i], 5 * i, i);
    if (back[i] != float(100 - i)) return wrong("backward", back[i], 100 - i, i);
    if (at[i] != 3 + 4 * i) return wrong("positions", at[i], 3 + 4 * i, i);
  }
  return each<Vec>([](long lane) { return float(lane); })[kLanes - 1] == kLanes - 1 ? nullptr
                                                                                    : wrong("each", 0, 1);
}

const char* squares_and_matrices_are_transposed() {
  Vec v[kLanes];
  for (long i = 0; i < kLanes; ++i)
    for (long j = 0; j < kLanes; ++j) v[i][j] = float(i * 100 + j);
  transpose_square(v);
  for (long i = 0; i < kLanes; ++i)
    for (long j = 0; j < kLanes; ++j)
      if (v[i][j] != float(j * 100 + i)) return wrong("square", v[i][j], j * 100 + i, i);
  alignas(64) static float x[70 * 80], y[80 * 96];
  for (long i = 0; i < 70 * 80; ++i) x[i] = float(i);
  for (const bool streams : {false, true})
    for (const long n : {1L, 17L, 80L})
      for (const long m : {1L, 33L, 64L, 70L}) {
        std::memset(y, 0, sizeof y);
        streams ? transpose<true>(y, 96, x, 80, n, m) : transpose<false>(y, 96, x, 80, n, m);
        stream_end();
        for (long i = 0; i < n; ++i)
          for (long j = 0; j < m; ++j)
            if (y[i * 96 + j] != x[j * 80 + i]) return wrong("matrix", y[i * 96 + j], x[j * 80 + i], i);
      }
  return nullptr;
}

const char* narrow_types() {
  uint16_t b[kLanes], one;
  _Float16 h[kLanes];
  int8_t s[kLanes];
  uint8_t u[kLanes], mask[kLanes];
  int64_t l[kLanes];
  float x[kLanes];
  for (long i = 0; i < kLanes; ++i) {
    x[i] = float(i) * 1.2345f - 3;
    s[i] = int8_t(i * 9 - 60), u[i] = uint8_t(250 - i), l[i] = i * 1000000 - 5;
  }
  x[1] = __builtin_nanf("");
  store_bf16(b, load<Vec>(x));
  store_f16(h, load<Vec>(x));
  for (long i = 0; i < kLanes; ++i) {
    store_bf16(&one, x[i]);
    if (b[i] != one) return wrong("bf16 bits", b[i], one, i);
    const float back = load_bf16<float>(b + i), wide = load_bf16<Vec>(b)[i];
    if (back == back && back != wide) return wrong("bf16", wide, back, i);
    if ((back != back) != (x[i] != x[i])) return wrong("bf16 NaN", back, x[i], i);
    if (back == back && std::fabs(back - x[i]) > std::fabs(x[i]) / 256) return wrong("bf16", back, x[i], i);
    const float half = load_f16<Vec>(h)[i];
    if (half == half && half != float(_Float16(x[i]))) return wrong("f16", half, float(_Float16(x[i])), i);
    if (load_int<Vec>(s)[i] != float(s[i])) return wrong("int8", load_int<Vec>(s)[i], s[i], i);
    if (load_int<Vec>(u)[i] != float(u[i])) return wrong("uint8", load_int<Vec>(u)[i], u[i], i);
    if (load_int<Vec>(l)[i] != float(l[i])) return wrong("int64", load_int<Vec>(l)[i], double(l[i]), i);
  }
  store_mask(mask, load<Vec>(x) > 0.0f);
  const IVec read = load_mask<Vec>(mask);
  for (long i = 0; i < kLanes; ++i)
    if (mask[i] != (x[i] > 0) || (read[i] != 0) != (x[i] > 0)) return wrong("mask", mask[i], x[i] > 0, i);
  return nullptr;
}

const char* copies() {
  alignas(64) uint16_t to[64] = {};
  uint16_t from[64];
  for (int i = 0; i < 64; ++i) from[i] = uint16_t(i * 3);
  copy<Vec>(to, from);
  stream_copy<Vec>(to + 32, from + 32);
  stream_end();
  for (long i = 0; i < kLanes; ++i)
    if (to[i] != from[i] || to[32 + i] != from[32 + i]) return wrong("copy", to[i], from[i], i);
  float* const big = static_cast<float*>(allocated(3 << 20));
  const bool zero = big && big[0] == 0 && big[(3 << 18) - 1] == 0;
  std::free(big);
  return zero ? nullptr : wrong("allocated", 1, 0);
}

}  // namespace

DEFINE_KERNEL_CASES(vector, {"LanesMatchTheInstructionSet", lanes_match_the_instruction_set},
                    {"LoopsTouchEveryElementOnce", loops_touch_every_element_once},
                    {"PartialResultsAddUp", partial_results_add_up}, {"ExtremaAndNan", extrema_and_nan},
                    {"PrefixesAndShifts", prefixes_and_shifts}, {"ElementsApart", elements_apart},
                    {"SquaresAndMatricesAreTransposed", squares_and_matrices_are_transposed},
                    {"NarrowTypes", narrow_types}, {"Copies", copies});

}  // namespace kforge
