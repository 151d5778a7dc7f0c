// exp over the whole range.
#pragma once

#include "smith/kernels/math/exp_parts.h"

namespace {

template <class F>
SMITH_INLINE F exp_of(F x) {
  const F cut = at_most(at_least(x, -104.5f), 89.0f);  // 0 and infinity beyond
  return scaled(exp_parts<254>(cut), set<F>(1.0f));
}

}  // namespace
