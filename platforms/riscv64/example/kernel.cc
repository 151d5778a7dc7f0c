// Softmax of rows:  y[b][d] = exp(x[b][d] - max_b) / sum over d of exp(x[b][d] - max_b)
//
// kforge: general
//
// What limits it: exp. Per element it takes some twenty instructions, and memory a load and a store; so exp
// is computed on whole vectors, and a row stays in the first-level cache between its three passes (maximum;
// exp and sum; scale). The length of a vector is asked for (vsetvl), never assumed: the same loop does the
// whole vectors and the tail. Groups of four registers (LMUL 4) make the vectors long enough to hide
// latencies and leave eight groups, of which exp needs five.
#include <riscv_vector.h>

#include "task.h"

namespace {

using Floats = vfloat32m4_t;

// exp(x) for x <= 0, to about 1 ulp: 2^n * exp(r) with n = round(x / ln 2) and |r| <= ln 2 / 2, exp(r) by its
// series. Below -87 the result would be denormal, and it counts for nothing beside the row's largest, which
// is 1: x is held there, which keeps the exponent in range.
Floats exp_of(Floats x, size_t vl) {
  x = __riscv_vfmax_vf_f32m4(x, -87.0f, vl);
  const vint32m4_t whole = __riscv_vfcvt_x_f_v_i32m4(__riscv_vfmul_vf_f32m4(x, 1.44269504f, vl), vl);
  const Floats n = __riscv_vfcvt_f_x_v_f32m4(whole, vl);
  Floats r =
      __riscv_vfnmsac_vf_f32m4(x, 0.693359375f, n, vl);  // ln 2 in two parts: the first is exact times n
  r = __riscv_vfnmsac_vf_f32m4(r, -2.12194440e-4f, n, vl);
  Floats p = __riscv_vfmv_v_f_f32m4(1.0f / 5040, vl);
  for (float coefficient : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f})
    p = __riscv_vfadd_vf_f32m4(__riscv_vfmul_vv_f32m4(p, r, vl), coefficient, vl);
  const vint32m4_t scaled =
      __riscv_vadd_vv_i32m4(__riscv_vreinterpret_v_f32m4_i32m4(p), __riscv_vsll_vx_i32m4(whole, 23, vl), vl);
  return __riscv_vreinterpret_v_i32m4_f32m4(scaled);
}

float row_max(const float* row, long n) {
  vfloat32m1_t most = __riscv_vfmv_s_f_f32m1(row[0], 1);
  for (long i = 0; i < n;) {
    const size_t vl = __riscv_vsetvl_e32m4(n - i);
    most = __riscv_vfredmax_vs_f32m4_f32m1(__riscv_vle32_v_f32m4(row + i, vl), most, vl);
    i += vl;
  }
  return __riscv_vfmv_f_s_f32m1_f32(most);
}

// exp(row - most) to out, and their sum: one partial sum per lane, added up at the end of each vector.
float exp_row(const float* row, float most, float* out, long n) {
  vfloat32m1_t sum = __riscv_vfmv_s_f_f32m1(0, 1);
  for (long i = 0; i < n;) {
    const size_t vl = __riscv_vsetvl_e32m4(n - i);
    const Floats e = exp_of(__riscv_vfsub_vf_f32m4(__riscv_vle32_v_f32m4(row + i, vl), most, vl), vl);
    __riscv_vse32_v_f32m4(out + i, e, vl);
    sum = __riscv_vfredusum_vs_f32m4_f32m1(e, sum, vl);
    i += vl;
  }
  return __riscv_vfmv_f_s_f32m1_f32(sum);
}

void scale_row(float* row, float scale, long n) {
  for (long i = 0; i < n;) {
    const size_t vl = __riscv_vsetvl_e32m4(n - i);
    __riscv_vse32_v_f32m4(row + i, __riscv_vfmul_vf_f32m4(__riscv_vle32_v_f32m4(row + i, vl), scale, vl), vl);
    i += vl;
  }
}

}  // namespace

extern "C" void kernel(const float* x, float* y) {
  for (long row = 0; row < task::B; ++row) {
    const float* from = x + row * task::D;
    float* to = y + row * task::D;
    scale_row(to, 1.0f / exp_row(from, row_max(from, task::D), to, task::D), task::D);
  }
}
