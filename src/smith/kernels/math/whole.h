// Arithmetic of whole numbers as ONNX defines it.
#pragma once

#include <cmath>
#include <cstdint>

namespace {

// A floating value as an integer: towards zero; NaN gives 0, what is too large the nearest.
inline int64_t whole(double x) {
  if (x != x) return 0;
  if (x >= 9223372036854775808.0) return INT64_MAX;
  return x < -9223372036854775808.0 ? INT64_MIN : int64_t(x);
}
inline int64_t floor_mod(int64_t a, int64_t b) {
  const int64_t r = b == -1 ? 0 : a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline double floor_mod(double a, double b) {
  const double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
inline int64_t int_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return base == 1 ? 1 : base == -1 ? (exponent % 2 == 0 ? 1 : -1) : 0;
  uint64_t result = 1;
  for (uint64_t square = uint64_t(base); exponent != 0; exponent >>= 1, square *= square)
    if (exponent & 1) result *= square;
  return int64_t(result);
}

}  // namespace
