// Loops that move elements: strided copies (transposes among them), conversions, gathers.
#include "baseline/onednn/loops/walk.h"

namespace kforge::loops {
namespace {

template <class T>
void copy_rows(const Walk& walk, T* y, const T* x) {
  const int last = walk.rank - 1;
  const Index sy = walk.stride[0][last], sx = walk.stride[1][last];
  for_rows<2>(walk, [=](const Index* at, Index n) {
    T* out = y + at[0];
    const T* in = x + at[1];
    if (sy == 1 && sx == 1) {
      __builtin_memcpy(out, in, static_cast<unsigned long>(n) * sizeof(T));
    } else if (sy == 1 && sx == 0) {
      T fixed = *in;
      for (Index i = 0; i < n; ++i) out[i] = fixed;
    } else {
      for (Index i = 0; i < n; ++i) out[i * sy] = in[i * sx];
    }
  });
}

// A transpose: the destination runs along the last dimension, the source along dimension `other`. Tiles keep
// both sides in cache.
template <class T>
void copy_tiles(const Walk& walk, int other, T* y, const T* x) {
  constexpr Index kTile = 32;
  const int last = walk.rank - 1;
  const Index rows = walk.size[other], columns = walk.size[last];
  const Index y_row = walk.stride[0][other], x_column = walk.stride[1][last];
  const Index row_tiles = (rows + kTile - 1) / kTile, column_tiles = (columns + kTile - 1) / kTile;
  Index outer = 1;
  for (int d = 0; d < last; ++d)
    if (d != other) outer *= walk.size[d];
  const Index units = outer * row_tiles * column_tiles;
#pragma omp parallel for schedule(static) if (units > 8)
  for (Index unit = 0; unit < units; ++unit) {
    Index c0 = unit % column_tiles * kTile, rest = unit / column_tiles;
    Index r0 = rest % row_tiles * kTile;
    rest /= row_tiles;
    Index y_at = r0 * y_row + c0, x_at = r0 + c0 * x_column;
    for (int d = last - 1; d >= 0; --d) {
      if (d == other) continue;
      Index i = rest % walk.size[d];
      rest /= walk.size[d];
      y_at += i * walk.stride[0][d];
      x_at += i * walk.stride[1][d];
    }
    const Index height = least(kTile, rows - r0), width = least(kTile, columns - c0);
    T* out = y + y_at;
    const T* in = x + x_at;
    if (height == kTile && width == kTile) {
      T tile[kTile][kTile];
      for (Index c = 0; c < kTile; ++c)
        for (Index r = 0; r < kTile; ++r) tile[r][c] = in[c * x_column + r];
      for (Index r = 0; r < kTile; ++r) __builtin_memcpy(out + r * y_row, tile[r], sizeof tile[r]);
    } else {
      for (Index r = 0; r < height; ++r)
        for (Index c = 0; c < width; ++c) out[r * y_row + c] = in[c * x_column + r];
    }
  }
}

template <class T>
void copy_as(const Walk& walk, T* y, const T* x) {
  const int last = walk.rank - 1;
  if (walk.stride[0][last] == 1 && walk.stride[1][last] > 1 && walk.size[last] >= 8)
    for (int d = 0; d < last; ++d)
      if (walk.stride[1][d] == 1 && walk.size[d] >= 8) return copy_tiles(walk, d, y, x);
  copy_rows(walk, y, x);
}

unsigned short narrow(float value) {
  unsigned bits = __builtin_bit_cast(unsigned, value);
  unsigned rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<unsigned short>(value != value ? (bits >> 16) | 0x40u : rounded);
}

template <class T>
float to_float(T value) {
  return static_cast<float>(value);
}
inline float to_float(BFloat16 value) { return float_of(value); }

template <class To, class From>
struct Cast {
  static To apply(From value) { return static_cast<To>(value); }
};
template <class From>
struct Cast<BFloat16, From> {
  static BFloat16 apply(From value) { return {narrow(to_float(value))}; }
};
template <class To>
struct Cast<To, BFloat16> {
  static To apply(BFloat16 value) { return static_cast<To>(float_of(value)); }
};
template <>
struct Cast<BFloat16, BFloat16> {
  static BFloat16 apply(BFloat16 value) { return value; }
};

template <class To, class From>
void convert_as(const From* x, To* y, Index n) {
#pragma omp parallel for simd schedule(static) if (n > kSerial)
  for (Index i = 0; i < n; ++i) y[i] = Cast<To, From>::apply(x[i]);
}

template <class To>
void convert_to(Number from, const void* x, To* y, Index n) {
  switch (from) {
    case Number::kFloat:
      return convert_as(static_cast<const float*>(x), y, n);
    case Number::kInt8:
      return convert_as(static_cast<const signed char*>(x), y, n);
    case Number::kUInt8:
      return convert_as(static_cast<const unsigned char*>(x), y, n);
    case Number::kInt32:
      return convert_as(static_cast<const int*>(x), y, n);
    case Number::kInt64:
      return convert_as(static_cast<const long long*>(x), y, n);
    case Number::kBFloat16:
      return convert_as(static_cast<const BFloat16*>(x), y, n);
    case Number::kFloat16:
      return convert_as(static_cast<const _Float16*>(x), y, n);
  }
}

template <class T>
void gather_as(const T* x, const long long* index, T* y, Index outer, Index limit, Index count, Index inner) {
#pragma omp parallel for collapse(2) schedule(static) if (outer * count * inner > kSerial)
  for (Index o = 0; o < outer; ++o)
    for (Index i = 0; i < count; ++i) {
      Index from = index[i] < 0 ? index[i] + limit : index[i];
      T* out = y + (o * count + i) * inner;
      // An index out of range is the task's fault; it must not become an access out of range.
      if (from < 0 || from >= limit)
        __builtin_memset(out, 0, static_cast<unsigned long>(inner) * sizeof(T));
      else
        __builtin_memcpy(out, x + (o * limit + from) * inner, static_cast<unsigned long>(inner) * sizeof(T));
    }
}

}  // namespace

namespace KF_LEVEL {

void copy(int bytes, const Walk& walk, void* y, const void* x) {
  switch (bytes) {
    case 1:
      return copy_as(walk, static_cast<char*>(y), static_cast<const char*>(x));
    case 2:
      return copy_as(walk, static_cast<short*>(y), static_cast<const short*>(x));
    case 4:
      return copy_as(walk, static_cast<int*>(y), static_cast<const int*>(x));
    default:
      return copy_as(walk, static_cast<long long*>(y), static_cast<const long long*>(x));
  }
}

void convert(Number to, Number from, const void* x, void* y, Index n) {
  switch (to) {
    case Number::kFloat:
      return convert_to(from, x, static_cast<float*>(y), n);
    case Number::kInt8:
      return convert_to(from, x, static_cast<signed char*>(y), n);
    case Number::kUInt8:
      return convert_to(from, x, static_cast<unsigned char*>(y), n);
    case Number::kInt32:
      return convert_to(from, x, static_cast<int*>(y), n);
    case Number::kInt64:
      return convert_to(from, x, static_cast<long long*>(y), n);
    case Number::kBFloat16:
      return convert_to(from, x, static_cast<BFloat16*>(y), n);
    case Number::kFloat16:
      return convert_to(from, x, static_cast<_Float16*>(y), n);
  }
}

void gather(int bytes, const void* x, const long long* index, void* y, Index outer, Index limit, Index count,
            Index inner) {
  switch (bytes) {
    case 1:
      return gather_as(static_cast<const char*>(x), index, static_cast<char*>(y), outer, limit, count, inner);
    case 2:
      return gather_as(static_cast<const short*>(x), index, static_cast<short*>(y), outer, limit, count,
                       inner);
    case 4:
      return gather_as(static_cast<const int*>(x), index, static_cast<int*>(y), outer, limit, count, inner);
    default:
      return gather_as(static_cast<const long long*>(x), index, static_cast<long long*>(y), outer, limit,
                       count, inner);
  }
}

}  // namespace KF_LEVEL
}  // namespace kforge::loops
