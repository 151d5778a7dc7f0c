// Elementwise and row loops on operands stored in 16 bits: pieces that fit the first cache are widened,
// computed in float, and narrowed. What oneDNN has for these types needs instructions most machines lack.
#include "baseline/onednn/loops/walk.h"

namespace kforge::loops {
namespace {

constexpr Index kPiece = 2048;

inline unsigned long bytes_of(Number type) { return type == Number::kFloat ? 4 : 2; }

inline const char* at(const void* base, Number type, Index i) {
  return static_cast<const char*>(base) + i * static_cast<Index>(bytes_of(type));
}
inline char* at(void* base, Number type, Index i) {
  return static_cast<char*>(base) + i * static_cast<Index>(bytes_of(type));
}

// n elements as floats: where they lie, or widened into `buffer`.
inline const float* widened(Number type, const void* x, Index i, Index n, float* buffer) {
  if (type == Number::kFloat) return static_cast<const float*>(x) + i;
  KF_LEVEL::convert(Number::kFloat, type, at(x, type, i), buffer, n);
  return buffer;
}

}  // namespace

namespace KF_LEVEL {

void unary_typed(Unary op, float a, float b, Number from, const void* x, Number to, void* y, Index n) {
#pragma omp parallel if (n > kSerial)
  {
    float in[kPiece], out[kPiece];
    Range mine = my_share(n);
    for (Index i = mine.begin; i < mine.end; i += kPiece) {
      const Index count = least(kPiece, mine.end - i);
      const float* values = widened(from, x, i, count, in);
      if (to == Number::kFloat) {
        unary(op, a, b, values, static_cast<float*>(y) + i, count);
      } else {
        unary(op, a, b, values, out, count);
        convert(to, Number::kFloat, out, at(y, to, i), count);
      }
    }
  }
}

// types: of y, a, b. REQUIRES: innermost strides are 1 for y, 0 or 1 for a and b.
void binary_typed(Binary op, const Number* types, const Walk& walk, void* y, const void* a, const void* b) {
  const int last = walk.rank - 1;
  const Index sa = walk.stride[1][last], sb = walk.stride[2][last];
  for_rows<3>(walk, [=](const Index* offset, Index n) {
    float left[kPiece], right[kPiece], out[kPiece];
    for (Index i = 0; i < n; i += kPiece) {
      const Index count = least(kPiece, n - i);
      const float* p = widened(types[1], a, offset[1] + i * sa, sa ? count : 1, left);
      const float* q = widened(types[2], b, offset[2] + i * sb, sb ? count : 1, right);
      Walk piece;
      piece.rank = 1;
      piece.size[0] = count;
      piece.stride[0][0] = 1;
      piece.stride[1][0] = sa;
      piece.stride[2][0] = sb;
      if (types[0] == Number::kFloat) {
        binary(op, Number::kFloat, piece, static_cast<float*>(y) + offset[0] + i, p, q);
      } else {
        binary(op, Number::kFloat, piece, out, p, q);
        convert(types[0], Number::kFloat, out, at(y, types[0], offset[0] + i), count);
      }
    }
  });
}

void normalise_rows_typed(const NormRows& shape, Number from, const void* x, const float* gamma,
                          const float* beta, Number to, void* y) {
  const Index n = shape.channels * shape.spatial;
#pragma omp parallel if (shape.rows * n > kSerial)
  {
    float* row = static_cast<float*>(__builtin_malloc(static_cast<unsigned long>(2 * n) * sizeof(float)));
    float* result = row + n;
    NormRows one = shape;
    one.rows = one.periods = 1;
#pragma omp for schedule(static)
    for (Index r = 0; r < shape.rows; ++r) {
      const Index first = r % shape.periods * shape.channels;
      const float* values = widened(from, x, r * n, n, row);
      float* out = to == Number::kFloat ? static_cast<float*>(y) + r * n : result;
      normalise_rows(one, values, gamma ? gamma + first : nullptr, beta ? beta + first : nullptr, out);
      if (to != Number::kFloat) convert(to, Number::kFloat, out, at(y, to, r * n), n);
    }
    __builtin_free(row);
  }
}

}  // namespace KF_LEVEL
}  // namespace kforge::loops
