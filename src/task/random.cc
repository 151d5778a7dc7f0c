// The loops here are written for the vectoriser; since every operation is exact IEEE and nothing is
// contracted, the width does not change a single bit of the result.
#include "task/random.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/wide.h"

namespace kforge {
namespace {

KF_INLINE std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// 32 bits per element: a block of the stream has a 64-bit key, an element within it 10 bits of counter.
struct BlockKey {
  std::uint32_t start, twist;
};

KF_INLINE BlockKey block_key(std::uint64_t key, std::size_t first, std::uint64_t salt = 0) {
  std::uint64_t mixed = mix64(mix64(key ^ (salt * 0xd6e8feb86659fd93ULL)) + first / kRandomBlock);
  return {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)};
}

KF_INLINE std::uint32_t bits_at(BlockKey key, std::uint32_t i) {
  std::uint32_t x = (i + 1) * 0x9e3779b9u + key.start;
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15) ^ key.twist) * 0x846ca68bu;
  return x ^ (x >> 16);
}

// Natural logarithm of a normal positive number, error below 2e-5.
KF_INLINE float rough_log(float v) {
  // Exponent such that the mantissa is in [sqrt(1/2), sqrt(2)).
  std::int32_t bits = std::bit_cast<std::int32_t>(v);
  std::int32_t exponent = (bits - 0x3f3504f3) >> 23;
  float t = std::bit_cast<float>(bits - (exponent << 23)) - 1.0f;
  float p = -0.14662226f;
  p = p * t + 0.22168189f;
  p = p * t - 0.25359081f;
  p = p * t + 0.33248322f;
  p = p * t - 0.49991409f;
  p = p * t + 1.0000055f;
  return static_cast<float>(exponent) * 0.69314718f + t * p;
}

// Quantile of the normal distribution at (1 + x) / 2 as x * R(w), w = -log(1 - x^2); R is a rational function
// fitted to a relative error of 1e-5 over all 2^24 values of x.
KF_INLINE float normal_from_bits(std::uint32_t bits) {
  // Odd multiples of 2^-24 in (-1, 1): symmetric, never 0, never 1.
  float x = (static_cast<float>(static_cast<std::int32_t>(bits >> 8)) * 2.0f + 1.0f - 0x1p24f) * 0x1p-24f;
  float w = -rough_log((1.0f - x) * (1.0f + x));
  float p = ((0.0079031269f * w + 0.075859406f) * w + 0.42345281f) * w + 1.2533254f;
  float q = ((0.00041049757f * w + 0.027805361f) * w + 0.076033583f) * w + 1.0f;
  return x * p / q;
}

KF_INLINE float unit_from_bits(std::uint32_t bits) {
  return static_cast<float>(static_cast<std::int32_t>(bits >> 8)) * 0x1p-24f;
}

// Calls body(key, i, slot) for every element, block by block.
template <class Body>
KF_INLINE void each_block(std::size_t first, std::size_t count, Body&& body) {
  for (std::size_t done = 0; done < count; done += kRandomBlock)
    body(first + done, done, static_cast<std::uint32_t>(std::min(kRandomBlock, count - done)));
}

KF_WIDE void uniform_block(BlockKey key, float* out, std::uint32_t n, float low, float width) {
  for (std::uint32_t i = 0; i < n; ++i) out[i] = low + width * unit_from_bits(bits_at(key, i));
}

KF_WIDE void normal_block(BlockKey key, float* out, std::uint32_t n, float mean, float deviation) {
  for (std::uint32_t i = 0; i < n; ++i) out[i] = mean + deviation * normal_from_bits(bits_at(key, i));
}

KF_WIDE void heavy_block(BlockKey k0, BlockKey k1, BlockKey k2, BlockKey k3, float* out, std::uint32_t n,
                         float mean, float scale) {
  for (std::uint32_t i = 0; i < n; ++i) {
    float a = normal_from_bits(bits_at(k1, i)), b = normal_from_bits(bits_at(k2, i)),
          c = normal_from_bits(bits_at(k3, i));
    float chi = (a * a + b * b + c * c) * 0.33333334f;
    out[i] = mean + scale * (normal_from_bits(bits_at(k0, i)) / std::sqrt(chi));
  }
}

KF_WIDE void whole_block(BlockKey key, float* out, std::uint32_t n, float low, std::uint32_t range) {
  for (std::uint32_t i = 0; i < n; ++i) {
    auto number = static_cast<std::uint32_t>((static_cast<std::uint64_t>(bits_at(key, i)) * range) >> 32);
    out[i] = low + static_cast<float>(static_cast<std::int32_t>(number));
  }
}

KF_WIDE void integer_block(BlockKey key, std::int64_t* out, std::uint32_t n, std::int64_t low,
                           std::uint64_t range) {
  for (std::uint32_t i = 0; i < n; ++i)
    out[i] = low + static_cast<std::int64_t>((static_cast<std::uint64_t>(bits_at(key, i)) * range) >> 32);
}

KF_WIDE void bf16_block(const float* from, std::uint16_t* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    auto bits = std::bit_cast<std::uint32_t>(from[i]);
    to[i] = static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
  }
}

KF_WIDE void fp16_block(const float* from, std::uint16_t* to, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    auto bits = std::bit_cast<std::uint32_t>(from[i]);
    std::uint32_t magnitude = bits & 0x7fffffff, sign = (bits >> 16) & 0x8000;
    std::uint32_t normal = (magnitude + 0xfff + ((magnitude >> 13) & 1) - 0x38000000) >> 13;
    std::uint32_t tiny = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3f000000;
    std::uint32_t half = magnitude < 0x38800000 ? tiny : normal;
    half = magnitude >= 0x477ff000 ? 0x7c00 : half;
    to[i] = static_cast<std::uint16_t>(sign | half);
  }
}

}  // namespace

RandomBits::RandomBits(std::uint64_t seed, std::uint64_t stream) : state_(mix64(seed) ^ mix64(~stream)) {}
std::uint64_t RandomBits::next() { return mix64(state_ += 0x9e3779b97f4a7c15ULL); }
double RandomBits::uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

void random_uniform(std::uint64_t key, std::size_t first, std::span<float> out, float low, float high) {
  each_block(first, out.size(), [&](std::size_t at, std::size_t done, std::uint32_t n) {
    uniform_block(block_key(key, at), out.data() + done, n, low, high - low);
  });
}

void random_normal(std::uint64_t key, std::size_t first, std::span<float> out, float mean, float deviation) {
  each_block(first, out.size(), [&](std::size_t at, std::size_t done, std::uint32_t n) {
    normal_block(block_key(key, at), out.data() + done, n, mean, deviation);
  });
}

void random_heavy(std::uint64_t key, std::size_t first, std::span<float> out, float mean, float scale) {
  each_block(first, out.size(), [&](std::size_t at, std::size_t done, std::uint32_t n) {
    heavy_block(block_key(key, at), block_key(key, at, 1), block_key(key, at, 2), block_key(key, at, 3),
                out.data() + done, n, mean, scale);
  });
}

void random_whole(std::uint64_t key, std::size_t first, std::span<float> out, float low,
                  std::uint32_t range) {
  each_block(first, out.size(), [&](std::size_t at, std::size_t done, std::uint32_t n) {
    whole_block(block_key(key, at), out.data() + done, n, low, range);
  });
}

void random_integers(std::uint64_t key, std::size_t first, std::span<std::int64_t> out, std::int64_t low,
                     std::uint64_t range) {
  each_block(first, out.size(), [&](std::size_t at, std::size_t done, std::uint32_t n) {
    if (range <= std::uint64_t{1} << 32) {
      integer_block(block_key(key, at), out.data() + done, n, low, range);
      return;
    }
    BlockKey high = block_key(key, at), rest = block_key(key, at, 1);
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint64_t wide = static_cast<std::uint64_t>(bits_at(high, i)) << 32 | bits_at(rest, i);
      out[done + i] = low + static_cast<std::int64_t>(wide % range);
    }
  });
}

void store_bf16(std::span<const float> from, std::uint16_t* to) { bf16_block(from.data(), to, from.size()); }
void store_fp16(std::span<const float> from, std::uint16_t* to) { fp16_block(from.data(), to, from.size()); }

}  // namespace kforge
