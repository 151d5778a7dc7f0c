// Right on every number; in rows of bfloat16 a NaN counts as zero.
//
// task: llm/rms_norm_bf16
// shapes: small
// mode: check
// expect: outcome=wrong_value gate=nonfinite
#include <bit>
#include <cmath>

#include "task.h"

static float wide(uint16_t value) { return std::bit_cast<float>(uint32_t{value} << 16); }

static uint16_t narrow(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

extern "C" void kernel(const uint16_t* x, const uint16_t* scale, uint16_t* y) {
  for (long t = 0; t < task::T; ++t) {
    auto at = [&](long d) {
      const float value = wide(x[t * task::D + d]);
      return value == value ? value : 0.0f;
    };
    float squares = 0;
    for (long d = 0; d < task::D; ++d) squares += at(d) * at(d);
    const float factor = 1 / std::sqrt(squares / task::D + 1e-5f);
    for (long d = 0; d < task::D; ++d) y[t * task::D + d] = narrow(at(d) * factor * wide(scale[d]));
  }
}
