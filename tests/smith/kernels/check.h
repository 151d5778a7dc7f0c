// What the cases check with: a message in place, no allocation.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

[[maybe_unused]] const char* wrong(const char* what, double got, double want, long at = 0) {
  static char text[200];
  std::snprintf(text, sizeof text, "%s [%ld]: %.9g, not %.9g", what, at, got, want);
  return text;
}

// Whole numbers between -8 and 8, the same every time.
struct Numbers {
  unsigned state = 1;
  float next() {
    state = state * 1664525u + 1013904223u;
    return static_cast<float>(static_cast<int>(state >> 16) % 17 - 8);
  }
  template <long n>
  void fill(float (&to)[n]) {
    for (float& x : to) x = next();
  }
};

// `got` against sums in double; whole numbers are exact, others within the tolerance.
[[maybe_unused]] const char* compare(const char* what, const float* got, const double* want, long n,
                                     double tolerance = 0) {
  for (long i = 0; i < n; ++i)
    if (!(std::fabs(got[i] - want[i]) <= tolerance * (1 + std::fabs(want[i]))))
      return wrong(what, got[i], want[i], i);
  return nullptr;
}

}  // namespace
