// Determinants.
#pragma once

#include <cmath>
#include <utility>

namespace {

// y[m] = determinant of a[m][n][n], by elimination with the largest pivot of each column; a is worked on in
// place. Called by every thread of a team.
template <class T, long kCount, long kN>
inline void determinants(T* matrices, T* y) {
#pragma omp for schedule(static)
  for (long m = 0; m < kCount; ++m) {
    T* const a = matrices + m * kN * kN;
    T det = 1;
    for (long k = 0; k < kN && det != 0; ++k) {
      long pivot = k;
      for (long row = k + 1; row < kN; ++row)
        if (std::fabs(a[row * kN + k]) > std::fabs(a[pivot * kN + k])) pivot = row;
      if (pivot != k) {
        for (long c = 0; c < kN; ++c) std::swap(a[pivot * kN + c], a[k * kN + c]);
        det = -det;
      }
      det *= a[k * kN + k];
      for (long row = k + 1; row < kN && det != 0; ++row) {
        const T factor = a[row * kN + k] / a[k * kN + k];
        for (long c = k; c < kN; ++c) a[row * kN + c] -= factor * a[k * kN + c];
      }
    }
    y[m] = det;
  }
}

}  // namespace
