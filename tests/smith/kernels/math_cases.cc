// Mathematical functions: within 4 ulp over the whole range, and the same on vectors as on elements.
#include "check.h"
#include "kernel_cases.h"
#include "smith/kernels/math/erf.h"
#include "smith/kernels/math/exp.h"
#include "smith/kernels/math/exp_low.h"
#include "smith/kernels/math/expm1.h"
#include "smith/kernels/math/log.h"
#include "smith/kernels/math/log1p.h"
#include "smith/kernels/math/normal_cdf.h"
#include "smith/kernels/math/round_bf16.h"
#include "smith/kernels/math/rounding.h"
#include "smith/kernels/math/sigmoid.h"
#include "smith/kernels/math/softplus.h"
#include "smith/kernels/math/sqrt.h"
#include "smith/kernels/math/tanh.h"
#include "smith/kernels/math/whole.h"

namespace kforge {
namespace {

double ulp_of(double x) {
  const float f = std::fabs(static_cast<float>(x));
  return f < 1.17549435e-38f ? 1.4012984643e-45 : std::nextafter(f, __builtin_inff()) - double(f);
}

// Points of every magnitude of both signs between low and high, and some that are special.
template <class Wide, class One, class Exact>
const char* accurate(const char* name, float low, float high, Wide wide, One one, Exact exact) {
  static const float special[] = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, 1e-30f, -1e-30f, 1e-40f};
  long n = 0;
  float x[kLanes];
  for (unsigned bits = 0; bits < 0x7f800000u; bits += 0x1234u * 64) {
    for (const float sign : {1.0f, -1.0f}) {
      float at = sign * __builtin_bit_cast(float, bits);
      if (n < 8) at = special[n];
      if (!(at >= low && at <= high)) at = low / 2 + high / 2;
      x[n++ % kLanes] = at;
      if (n % kLanes != 0) continue;
      const Vec got = wide(load<Vec>(x));
      for (long i = 0; i < kLanes; ++i) {
        const double want = exact(double(x[i]));
        const float single = one(x[i]);
        if (!(got[i] == single || (got[i] != got[i] && single != single)) &&
            std::fabs(double(got[i]) - single) > ulp_of(want))
          return wrong(name, got[i], single, i);
        if (std::isinf(float(want)) && float(want) == got[i]) continue;
        if (!(std::fabs(got[i] - want) <= 4 * ulp_of(want))) {
          static char text[120];
          std::snprintf(text, sizeof text, "%s(%.9g) is %.9g, not %.9g", name, x[i], got[i], want);
          return text;
        }
      }
    }
  }
  return nullptr;
}
#define ACCURATE(fn, low, high, exact) \
  accurate(                            \
      #fn, low, high, [](Vec x) { return fn(x); }, [](float x) { return fn(x); }, exact)

const char* exponentials() {
  if (auto bad = ACCURATE(exp_of, -104, 89, [](double x) { return std::exp(x); })) return bad;
  if (auto bad = ACCURATE(exp_low, -104, 60, [](double x) { return std::exp(x); })) return bad;
  return ACCURATE(expm1_of, -30, 88, [](double x) { return std::expm1(x); });
}
const char* logarithms() {
  if (auto bad = ACCURATE(log_of, 1e-44f, 3e38f, [](double x) { return std::log(x); })) return bad;
  return ACCURATE(log1p_of, -0.9999f, 3e38f, [](double x) { return std::log1p(x); });
}
const char* activations() {
  if (auto bad = ACCURATE(tanh_of, -1e30f, 1e30f, [](double x) { return std::tanh(x); })) return bad;
  if (auto bad = ACCURATE(sigmoid_of, -80, 1e30f, [](double x) { return 1 / (1 + std::exp(-x)); }))
    return bad;
  return ACCURATE(softplus_of, -80, 1e30f,
                  [](double x) { return (x > 0 ? x : 0) + std::log1p(std::exp(-std::fabs(x))); });
}
const char* error_functions() {
  if (auto bad = ACCURATE(erf_of, -1e30f, 1e30f, [](double x) { return std::erf(x); })) return bad;
  if (auto bad = ACCURATE(erfc_of, -1e30f, 9, [](double x) { return std::erfc(x); })) return bad;
  // Plus 1: in the tail the square of x has fewer digits than this asks for.
  return ACCURATE(1.0f + normal_cdf, -12, 1e30f,
                  [](double x) { return 1 + 0.5 * std::erfc(-x * 0.70710678118654752); });
}
const char* roots_and_rounding() {
  if (auto bad = ACCURATE(sqrt_of, 0, 3e38f, [](double x) { return std::sqrt(x); })) return bad;
  if (auto bad = ACCURATE(floor_of, -1e30f, 1e30f, [](double x) { return std::floor(x); })) return bad;
  if (auto bad = ACCURATE(ceil_of, -1e30f, 1e30f, [](double x) { return std::ceil(x); })) return bad;
  return ACCURATE(round_of, -1e30f, 1e30f, [](double x) { return std::nearbyint(x); });
}
const char* whole_numbers() {
  if (whole(1e300) != INT64_MAX || whole(-1e300) != INT64_MIN || whole(-2.9) != -2)
    return wrong("whole", 0, 1);
  if (floor_mod(int64_t(-7), int64_t(3)) != 2 || floor_mod(-7.0, 3.0) != 2) return wrong("floor_mod", 0, 2);
  if (int_power(3, 5) != 243 || int_power(2, -1) != 0) return wrong("int_power", 0, 243);
  return to_bf16(1.00390625f) == 1.0f ? nullptr : wrong("to_bf16", to_bf16(1.00390625f), 1);
}

}  // namespace

DEFINE_KERNEL_CASES(math, {"Exponentials", exponentials}, {"Logarithms", logarithms},
                    {"Activations", activations}, {"ErrorFunctions", error_functions},
                    {"RootsAndRounding", roots_and_rounding}, {"WholeNumbers", whole_numbers});

}  // namespace kforge
