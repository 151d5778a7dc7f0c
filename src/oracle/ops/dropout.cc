// Dropout. What it drops in training is random, so only the forms that drop nothing have a value to compare
// with.
#include "oracle/call.h"

namespace kforge {

// Inputs: data, ratio, training_mode. Outputs: data, mask of what was kept.
KF_ORACLE_OPERATOR(Dropout) {
  const bool training = call.has(2) && call.scalar_int(2) != 0;
  const F ratio = call.has(1) ? call.scalar_float(1) : F(0.5);
  if (training && ratio != 0) refuse_unsupported("training with a ratio above 0 is random");
  const Tensor<F>& x = call.in(0);
  Tensor<F> mask(DType::kBool, call.wants(1) ? x.shape() : Shape{0});
  std::fill(mask.new_ints().begin(), mask.new_ints().end(), 1);
  return {x, mask};
}

KF_ORACLE_INSTANTIATE(Dropout)

}  // namespace kforge
