// Elementwise loops: one pass over memory each.
#include "baseline/onednn/loops/vector_math.h"
#include "baseline/onednn/loops/walk.h"

namespace kforge::loops {
namespace {

template <class F>
void map(const float* x, float* y, Index n, F f) {
#pragma omp parallel for simd schedule(static) if (n > kSerial)
  for (Index i = 0; i < n; ++i) y[i] = f(x[i]);
}

// One run of a binary operator: the usual strides 0 and 1 get loops the compiler vectorises.
template <class T, class R, class F>
inline void run(const T* a, Index sa, const T* b, Index sb, R* y, Index sy, Index n, F f) {
  if (sy == 1 && sa == 1 && sb == 1) {
#pragma omp simd
    for (Index i = 0; i < n; ++i) y[i] = f(a[i], b[i]);
  } else if (sy == 1 && sa == 1 && sb == 0) {
    T fixed = *b;
#pragma omp simd
    for (Index i = 0; i < n; ++i) y[i] = f(a[i], fixed);
  } else if (sy == 1 && sa == 0 && sb == 1) {
    T fixed = *a;
#pragma omp simd
    for (Index i = 0; i < n; ++i) y[i] = f(fixed, b[i]);
  } else {
    for (Index i = 0; i < n; ++i) y[i * sy] = f(a[i * sa], b[i * sb]);
  }
}

template <class T, class R, class F>
void zip(const Walk& walk, R* y, const T* a, const T* b, F f) {
  const int last = walk.rank - 1;
  const Index sy = walk.stride[0][last], sa = walk.stride[1][last], sb = walk.stride[2][last];
  for_rows<3>(walk,
              [=](const Index* at, Index n) { run(a + at[1], sa, b + at[2], sb, y + at[0], sy, n, f); });
}

template <class T>
void whole_number_binary(Binary op, const Walk& walk, T* y, const T* a, const T* b) {
  switch (op) {
    case Binary::kAdd:
      return zip(walk, y, a, b, [](T p, T q) -> T { return static_cast<T>(p + q); });
    case Binary::kSub:
      return zip(walk, y, a, b, [](T p, T q) -> T { return static_cast<T>(p - q); });
    case Binary::kMul:
      return zip(walk, y, a, b, [](T p, T q) -> T { return static_cast<T>(p * q); });
    case Binary::kDiv:
      return zip(walk, y, a, b, [](T p, T q) -> T { return q ? static_cast<T>(p / q) : T(0); });
    case Binary::kMax:
      return zip(walk, y, a, b, [](T p, T q) -> T { return p > q ? p : q; });
    case Binary::kMin:
      return zip(walk, y, a, b, [](T p, T q) -> T { return p < q ? p : q; });
    case Binary::kFmod:
      return zip(walk, y, a, b, [](T p, T q) -> T { return q ? static_cast<T>(p % q) : T(0); });
    case Binary::kMod:  // the sign follows the divisor
      return zip(walk, y, a, b, [](T p, T q) -> T {
        if (!q) return 0;
        T r = static_cast<T>(p % q);
        return r && ((r < 0) != (q < 0)) ? static_cast<T>(r + q) : r;
      });
    default:
      return;
  }
}

void float_binary(Binary op, const Walk& walk, float* y, const float* a, const float* b) {
  switch (op) {
    case Binary::kAdd:
      return zip(walk, y, a, b, [](float p, float q) { return p + q; });
    case Binary::kSub:
      return zip(walk, y, a, b, [](float p, float q) { return p - q; });
    case Binary::kMul:
      return zip(walk, y, a, b, [](float p, float q) { return p * q; });
    case Binary::kDiv:
      return zip(walk, y, a, b, [](float p, float q) { return p / q; });
    case Binary::kMax:
      return zip(walk, y, a, b, [](float p, float q) { return p < q || q != q ? q : p; });
    case Binary::kMin:
      return zip(walk, y, a, b, [](float p, float q) { return p > q || q != q ? q : p; });
    case Binary::kPow:
      return zip(walk, y, a, b, [](float p, float q) { return powf(p, q); });
    case Binary::kPRelu:
      return zip(walk, y, a, b, [](float p, float q) { return p < 0 ? p * q : p; });
    default:
      return zip(walk, y, a, b, [](float p, float q) { return __builtin_fmodf(p, q); });
  }
}

template <class T>
void compare_as(Compare op, const Walk& walk, unsigned char* y, const T* a, const T* b) {
  using B = unsigned char;
  switch (op) {
    case Compare::kEqual:
      return zip(walk, y, a, b, [](T p, T q) -> B { return p == q; });
    case Compare::kLess:
      return zip(walk, y, a, b, [](T p, T q) -> B { return p < q; });
    case Compare::kLessOrEqual:
      return zip(walk, y, a, b, [](T p, T q) -> B { return p <= q; });
    case Compare::kGreater:
      return zip(walk, y, a, b, [](T p, T q) -> B { return p > q; });
    case Compare::kGreaterOrEqual:
      return zip(walk, y, a, b, [](T p, T q) -> B { return p >= q; });
    case Compare::kAnd:
      return zip(walk, y, a, b, [](T p, T q) -> B { return (p != T(0)) & (q != T(0)); });
    case Compare::kOr:
      return zip(walk, y, a, b, [](T p, T q) -> B { return (p != T(0)) | (q != T(0)); });
    case Compare::kXor:
      return zip(walk, y, a, b, [](T p, T q) -> B { return (p != T(0)) != (q != T(0)); });
  }
}

template <class T>
void select_as(const Walk& walk, T* y, const unsigned char* condition, const T* a, const T* b) {
  const int last = walk.rank - 1;
  const Index sy = walk.stride[0][last], sc = walk.stride[1][last], sa = walk.stride[2][last],
              sb = walk.stride[3][last];
  for_rows<4>(walk, [=](const Index* at, Index n) {
    T* out = y + at[0];
    const unsigned char* c = condition + at[1];
    const T *p = a + at[2], *q = b + at[3];
    if (sy == 1 && sc == 1 && sa == 1 && sb == 1) {
#pragma omp simd
      for (Index i = 0; i < n; ++i) out[i] = c[i] ? p[i] : q[i];
    } else if (sy == 1 && sc == 1 && sa == 1 && sb == 0) {
      T fixed = *q;
#pragma omp simd
      for (Index i = 0; i < n; ++i) out[i] = c[i] ? p[i] : fixed;
    } else if (sy == 1 && sc == 1 && sa == 0 && sb == 1) {
      T fixed = *p;
#pragma omp simd
      for (Index i = 0; i < n; ++i) out[i] = c[i] ? fixed : q[i];
    } else {
      for (Index i = 0; i < n; ++i) out[i * sy] = c[i * sc] ? p[i * sa] : q[i * sb];
    }
  });
}

}  // namespace

namespace KF_LEVEL {

void unary(Unary op, float a, float b, const float* x, float* y, Index n) {
  constexpr float kRootHalf = 0.70710678f, kGeluScale = 0.79788456f;
  switch (op) {
    case Unary::kRelu:
      return map(x, y, n, [](float v) { return larger(v, 0.0f); });
    case Unary::kLeakyRelu:
      return map(x, y, n, [a](float v) { return v < 0 ? a * v : v; });
    case Unary::kThresholdedRelu:
      return map(x, y, n, [a](float v) { return v > a ? v : 0.0f; });
    case Unary::kAbs:
      return map(x, y, n, [](float v) { return absolute(v); });
    case Unary::kNeg:
      return map(x, y, n, [](float v) { return -v; });
    case Unary::kExp:
      return map(x, y, n, [](float v) { return exponential(v); });
    case Unary::kLog:
      return map(x, y, n, [](float v) { return logf(v); });
    case Unary::kSqrt:
      return map(x, y, n, [](float v) { return square_root(v); });
    case Unary::kReciprocal:
      return map(x, y, n, [](float v) { return 1.0f / v; });
    case Unary::kSigmoid:
      return map(x, y, n, [](float v) { return sigmoid(v); });
    case Unary::kTanh:
      return map(x, y, n, [](float v) { return hyperbolic_tangent(v); });
    case Unary::kErf:
      return map(x, y, n, [](float v) { return erff(v); });
    case Unary::kGelu:
      return map(x, y, n, [](float v) { return 0.5f * v * (1.0f + erff(v * kRootHalf)); });
    case Unary::kGeluTanh:
      return map(x, y, n, [](float v) {
        return 0.5f * v * (1.0f + hyperbolic_tangent(kGeluScale * (v + 0.044715f * v * v * v)));
      });
    case Unary::kMish:
      return map(x, y, n, [](float v) { return mish(v); });
    case Unary::kSwish:
      return map(x, y, n, [a](float v) { return v * sigmoid(a * v); });
    case Unary::kHardSwish:
      return map(x, y, n, [](float v) { return v * larger(0.0f, smaller(1.0f, v * (1.0f / 6.0f) + 0.5f)); });
    case Unary::kHardSigmoid:
      return map(x, y, n, [a, b](float v) { return larger(0.0f, smaller(1.0f, a * v + b)); });
    case Unary::kSelu:
      return map(x, y, n, [a, b](float v) {
        float e = a * expm1f(v);
        return b * (v > 0 ? v : e);
      });
    case Unary::kElu:
      return map(x, y, n, [a](float v) {
        float e = a * expm1f(v);
        return v > 0 ? v : e;
      });
    case Unary::kCelu:
      return map(x, y, n, [a](float v) { return larger(v, 0.0f) + smaller(0.0f, a * expm1f(v / a)); });
    case Unary::kSoftplus:
      return map(x, y, n, [](float v) { return softplus(v); });
    case Unary::kSoftsign:
      return map(x, y, n, [](float v) { return v / (1.0f + absolute(v)); });
    case Unary::kClip:
      return map(x, y, n, [a, b](float v) { return smaller(larger(v, a), b); });
    case Unary::kFloor:
      return map(x, y, n, [](float v) { return __builtin_floorf(v); });
    case Unary::kCeil:
      return map(x, y, n, [](float v) { return __builtin_ceilf(v); });
    case Unary::kRound:
      return map(x, y, n, [](float v) { return __builtin_rintf(v); });
    case Unary::kSign:
      return map(x, y, n, [](float v) { return v > 0 ? 1.0f : v < 0 ? -1.0f : v; });
    case Unary::kSin:
      return map(x, y, n, [](float v) { return sinf(v); });
    case Unary::kCos:
      return map(x, y, n, [](float v) { return cosf(v); });
    case Unary::kTan:
      return map(x, y, n, [](float v) { return tanf(v); });
    case Unary::kAsin:
      return map(x, y, n, [](float v) { return asinf(v); });
    case Unary::kAcos:
      return map(x, y, n, [](float v) { return acosf(v); });
    case Unary::kAtan:
      return map(x, y, n, [](float v) { return atanf(v); });
    case Unary::kSinh:
      return map(x, y, n, [](float v) { return sinhf(v); });
    case Unary::kCosh:
      return map(x, y, n, [](float v) { return coshf(v); });
    case Unary::kAsinh:
      return map(x, y, n, [](float v) { return asinhf(v); });
    case Unary::kAcosh:
      return map(x, y, n, [](float v) { return acoshf(v); });
    case Unary::kAtanh:
      return map(x, y, n, [](float v) { return atanhf(v); });
    case Unary::kSquare:
      return map(x, y, n, [](float v) { return v * v; });
    case Unary::kCube:
      return map(x, y, n, [](float v) { return v * v * v; });
    case Unary::kLinear:
      return map(x, y, n, [a, b](float v) { return a * v + b; });
    case Unary::kShrink:  // a: lambd, b: bias
      return map(x, y, n, [a, b](float v) { return v < -a ? v + b : v > a ? v - b : 0.0f; });
    case Unary::kPow:
      return map(x, y, n, [a](float v) { return powf(v, a); });
  }
}

void binary(Binary op, Number type, const Walk& walk, void* y, const void* a, const void* b) {
  switch (type) {
    case Number::kInt64:
      return whole_number_binary(op, walk, static_cast<long long*>(y), static_cast<const long long*>(a),
                                 static_cast<const long long*>(b));
    case Number::kInt32:
      return whole_number_binary(op, walk, static_cast<int*>(y), static_cast<const int*>(a),
                                 static_cast<const int*>(b));
    case Number::kInt8:
      return whole_number_binary(op, walk, static_cast<signed char*>(y), static_cast<const signed char*>(a),
                                 static_cast<const signed char*>(b));
    case Number::kUInt8:
      return whole_number_binary(op, walk, static_cast<unsigned char*>(y),
                                 static_cast<const unsigned char*>(a), static_cast<const unsigned char*>(b));
    default:
      return float_binary(op, walk, static_cast<float*>(y), static_cast<const float*>(a),
                          static_cast<const float*>(b));
  }
}

void compare(Compare op, Number type, const Walk& walk, unsigned char* y, const void* a, const void* b) {
  switch (type) {
    case Number::kInt64:
      return compare_as(op, walk, y, static_cast<const long long*>(a), static_cast<const long long*>(b));
    case Number::kInt32:
      return compare_as(op, walk, y, static_cast<const int*>(a), static_cast<const int*>(b));
    case Number::kInt8:
      return compare_as(op, walk, y, static_cast<const signed char*>(a), static_cast<const signed char*>(b));
    case Number::kUInt8:
      return compare_as(op, walk, y, static_cast<const unsigned char*>(a),
                        static_cast<const unsigned char*>(b));
    default:
      return compare_as(op, walk, y, static_cast<const float*>(a), static_cast<const float*>(b));
  }
}

void select(int bytes, const Walk& walk, void* y, const unsigned char* condition, const void* a,
            const void* b) {
  switch (bytes) {
    case 1:
      return select_as(walk, static_cast<char*>(y), condition, static_cast<const char*>(a),
                       static_cast<const char*>(b));
    case 2:
      return select_as(walk, static_cast<short*>(y), condition, static_cast<const short*>(a),
                       static_cast<const short*>(b));
    case 4:
      return select_as(walk, static_cast<int*>(y), condition, static_cast<const int*>(a),
                       static_cast<const int*>(b));
    default:
      return select_as(walk, static_cast<long long*>(y), condition, static_cast<const long long*>(a),
                       static_cast<const long long*>(b));
  }
}

}  // namespace KF_LEVEL
}  // namespace kforge::loops
