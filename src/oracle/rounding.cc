#include "oracle/rounding.h"

#include <algorithm>
#include <cmath>

#include "oracle/tensor.h"

namespace kforge {

double rounding_allowance(DType dtype, double want) {
  if (dtype != DType::kFloat16 && dtype != DType::kBFloat16) return 0;
  const bool half = dtype == DType::kFloat16;
  const int smallest = half ? -14 : -126, digits = half ? 10 : 7;  // behind the leading one
  int exponent = smallest;
  if (want != 0) exponent = std::max(smallest, std::ilogb(want));
  const double unit = std::ldexp(1.0, exponent - digits);
  return round_to(dtype, want) == want ? unit : unit / 2;
}

}  // namespace kforge
