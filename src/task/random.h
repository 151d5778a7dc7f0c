// Random numbers by counter: element i of a stream depends on (key, i) alone, so that any part can be made on
// any thread, and on nothing but exact IEEE arithmetic, so that every machine makes the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace kforge {

// A short sequential stream, for the few choices per tensor or shape.
class RandomBits {
 public:
  RandomBits(std::uint64_t seed, std::uint64_t stream);
  std::uint64_t next();
  double uniform();  // in [0, 1)

 private:
  std::uint64_t state_;
};

// Streams of many numbers. `first` is the index of out[0] in the stream and a multiple of kRandomBlock.
inline constexpr std::size_t kRandomBlock = 1024;
void random_uniform(std::uint64_t key, std::size_t first, std::span<float> out, float low, float high);
void random_normal(std::uint64_t key, std::size_t first, std::span<float> out, float mean, float deviation);
// Student's t with 3 degrees of freedom, scaled.
void random_heavy(std::uint64_t key, std::size_t first, std::span<float> out, float mean, float scale);
// Whole numbers in [low, low + range). REQUIRES: 1 <= range.
void random_integers(std::uint64_t key, std::size_t first, std::span<std::int64_t> out, std::int64_t low,
                     std::uint64_t range);
// The same as floats. REQUIRES: range <= 2^24.
void random_whole(std::uint64_t key, std::size_t first, std::span<float> out, float low, std::uint32_t range);

// Conversions of a whole block, rounding to nearest even. REQUIRES: no NaN.
void store_bf16(std::span<const float> from, std::uint16_t* to);
void store_fp16(std::span<const float> from, std::uint16_t* to);

}  // namespace kforge
