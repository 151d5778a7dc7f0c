// Plain vectorised OpenMP loops for what oneDNN lacks or has only as reference code. Every file here is
// compiled once for each instruction set level of x86-64 and `loops()` gives the functions for this machine.
// Such files include nothing that holds inline functions of others: the linker would keep one copy for all
// levels.
#pragma once

namespace kforge::loops {

using Index = long;

inline constexpr int kMaxRank = 8;

// An n-dimensional walk over up to four operands; operand 0 is the destination. Strides count elements, 0
// repeats.
struct Walk {
  int rank = 0;  // at least 1; the last dimension is the innermost
  Index size[kMaxRank] = {};
  Index stride[4][kMaxRank] = {};
};

enum class Unary : int {
  kRelu,
  kLeakyRelu,
  kThresholdedRelu,
  kAbs,
  kNeg,
  kExp,
  kLog,
  kSqrt,
  kReciprocal,
  kSigmoid,
  kTanh,
  kErf,
  kGelu,
  kGeluTanh,
  kMish,
  kSwish,
  kHardSwish,
  kHardSigmoid,
  kSelu,
  kElu,
  kCelu,
  kSoftplus,
  kSoftsign,
  kClip,
  kFloor,
  kCeil,
  kRound,
  kSign,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kSquare,
  kCube,
  kLinear,
  kShrink,
  kPow,
};
enum class Binary : int { kAdd, kSub, kMul, kDiv, kMax, kMin, kPow, kPRelu, kMod, kFmod };
enum class Compare : int { kEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual, kAnd, kOr, kXor };
enum class Reduce : int { kSum, kMax, kMin, kProd, kSumAbs, kSumSquare, kLogSumExp };
enum class Number : int { kFloat, kInt8, kUInt8, kInt32, kInt64, kBFloat16, kFloat16 };

// Rows of a normalisation: row r has `channels` groups of `spatial` elements that share gamma and beta. Group
// c of row r uses gamma[(r % periods) * channels + c].
struct NormRows {
  Index rows, channels, spatial, periods;
  float epsilon;
  bool rms;  // no mean is taken off
};

// Pooling or depthwise convolution over planes, always with three spatial dimensions (leading ones are 1).
struct Window {
  Index planes, channels;  // planes = batch * channels
  Index in[3], out[3], kernel[3], stride[3], dilation[3], pad[3], pad_end[3];
  bool average, count_pad;
};

#define KF_LOOPS(X)                                                                                          \
  X(unary, (Unary op, float a, float b, const float* x, float* y, Index n))                                  \
  X(binary, (Binary op, Number type, const Walk& walk, void* y, const void* a, const void* b))               \
  X(unary_typed, (Unary op, float a, float b, Number from, const void* x, Number to, void* y, Index n))      \
  X(binary_typed, (Binary op, const Number* types, const Walk& walk, void* y, const void* a, const void* b)) \
  X(compare, (Compare op, Number type, const Walk& walk, unsigned char* y, const void* a, const void* b))    \
  X(select,                                                                                                  \
    (int bytes, const Walk& walk, void* y, const unsigned char* condition, const void* a, const void* b))    \
  X(copy, (int bytes, const Walk& walk, void* y, const void* x))                                             \
  X(convert, (Number to, Number from, const void* x, void* y, Index n))                                      \
  X(reduce, (Reduce op, const float* x, float* y, Index outer, Index n, Index inner))                        \
  X(arg_extreme, (bool max, bool last, const float* x, long long* y, Index outer, Index n, Index inner))     \
  X(softmax, (bool log, const float* x, float* y, Index outer, Index n, Index inner))                        \
  X(scan, (bool product, bool exclusive, bool reverse, const float* x, float* y, Index outer, Index n,       \
           Index inner))                                                                                     \
  X(topk,                                                                                                    \
    (bool largest, const float* x, float* y, long long* where, Index outer, Index n, Index inner, Index k))  \
  X(normalise_rows,                                                                                          \
    (const NormRows& shape, const float* x, const float* gamma, const float* beta, float* y))                \
  X(normalise_rows_typed, (const NormRows& shape, Number from, const void* x, const float* gamma,            \
                           const float* beta, Number to, void* y))                                           \
  X(channel_moments,                                                                                         \
    (Index batch, Index channels, Index spatial, const float* x, float* mean, float* variance))              \
  X(channel_affine, (Index batch, Index channels, Index spatial, const float* x, const float* scale,         \
                     const float* shift, float* y))                                                          \
  X(pool_max, (const Window& window, const float* x, float* y))                                              \
  X(pool_average, (const Window& window, const float* x, float* y))                                          \
  X(depthwise, (const Window& window, const float* x, const float* w, const float* bias, float* y))          \
  X(gather, (int bytes, const void* x, const long long* index, void* y, Index outer, Index limit,            \
             Index count, Index inner))                                                                      \
  X(matvec, (Number weight_type, const float* x, const void* w, const float* bias, float* y, Index m,        \
             Index n, Index k))                                                                              \
  X(vecmat, (Number weight_type, const float* x, const void* w, const float* bias, float* y, Index m,        \
             Index n, Index k))                                                                              \
  X(columns_to_image, (const Window& window, const float* columns, const float* bias, float* y))             \
  X(image_to_columns, (const Window& window, const float* x, float* columns))

// The functions of one instruction set level.
struct Table {
#define KF_FIELD(name, arguments) void(*name) arguments;
  KF_LOOPS(KF_FIELD)
#undef KF_FIELD
  const char* level;
};

// For this machine, chosen once.
const Table& loops();

#ifdef KF_LEVEL  // inside the loop files
namespace KF_LEVEL {
#define KF_DECLARE(name, arguments) void name arguments;
KF_LOOPS(KF_DECLARE)
#undef KF_DECLARE
}  // namespace KF_LEVEL
#endif

}  // namespace kforge::loops
