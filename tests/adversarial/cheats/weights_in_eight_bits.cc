// Weights rounded to 8-bit integers, a scale per row: bfloat16 outputs hid an error of percents.
//
// task: llm/skinny_gemm_bf16
// shapes: small
// mode: check
// expect: outcome=wrong_value gate=accuracy
#include <cmath>
#include <cstring>

#include "task.h"

static float widened(uint16_t bits) {
  const uint32_t word = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

static uint16_t rounded(float value) {
  uint32_t word;
  std::memcpy(&word, &value, sizeof word);
  return static_cast<uint16_t>((word + 0x7fff + (word >> 16 & 1)) >> 16);
}

extern "C" void kernel(const uint16_t* x, const uint16_t* w, uint16_t* y) {
  for (long n = 0; n < task::N; ++n) {
    float largest = 1e-20f;
    for (long k = 0; k < task::K; ++k) largest = std::fmax(largest, std::fabs(widened(w[n * task::K + k])));
    const float step = largest / 127;
    for (long t = 0; t < task::T; ++t) {
      float sum = 0;
      for (long k = 0; k < task::K; ++k)
        sum += widened(x[t * task::K + k]) * std::nearbyint(widened(w[n * task::K + k]) / step) * step;
      y[t * task::N + n] = rounded(sum);
    }
  }
}
