// The sign of a float, by its bits.
#pragma once

#include "smith/kernels/vectors/vectors.h"

namespace {

template <class F>
SMITH_INLINE F magnitude(F x) {
  return __builtin_bit_cast(F, __builtin_bit_cast(Int<F>, x) & 0x7fffffff);
}
template <class F>
SMITH_INLINE F negative_magnitude(F x) {
  return __builtin_bit_cast(F, __builtin_bit_cast(Int<F>, x) | int(0x80000000));
}  // -|x|
template <class F>
SMITH_INLINE F with_sign_of(F x, F sign) {
  return __builtin_bit_cast(
      F, __builtin_bit_cast(Int<F>, x) | (__builtin_bit_cast(Int<F>, sign) & int(0x80000000)));
}

}  // namespace
