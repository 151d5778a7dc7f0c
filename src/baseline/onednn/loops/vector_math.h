// Mathematical functions that loops may vectorise: glibc's libmvec has a vector form of each (at most 4 ulp
// off). glibc's own header offers them only under -ffast-math, so they are declared here; files that include
// this must not include <math.h>.
#pragma once

#define KF_SIMD __attribute__((simd("notinbranch"), const, nothrow))

extern "C" {
KF_SIMD float expf(float);
KF_SIMD float expm1f(float);
KF_SIMD float logf(float);
KF_SIMD float log1pf(float);
KF_SIMD float powf(float, float);
KF_SIMD float tanhf(float);
KF_SIMD float erff(float);
KF_SIMD float sinf(float);
KF_SIMD float cosf(float);
KF_SIMD float tanf(float);
KF_SIMD float asinf(float);
KF_SIMD float acosf(float);
KF_SIMD float atanf(float);
KF_SIMD float sinhf(float);
KF_SIMD float coshf(float);
KF_SIMD float asinhf(float);
KF_SIMD float acoshf(float);
KF_SIMD float atanhf(float);
}

namespace kforge::loops {
namespace {

inline float absolute(float x) { return __builtin_fabsf(x); }
inline float square_root(float x) { return __builtin_sqrtf(x); }
// Selects that keep NaN in x, as ONNX's Max, Min and Clip do.
inline float larger(float x, float y) { return x < y ? y : x; }
inline float smaller(float x, float y) { return x > y ? y : x; }
inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
inline float softplus(float x) { return larger(x, 0.0f) + log1pf(expf(-absolute(x))); }

}  // namespace
}  // namespace kforge::loops
