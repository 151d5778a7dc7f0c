#include "machine/peak_loops.h"

#include <immintrin.h>

namespace kforge {
namespace {

// Twelve independent chains: two units times the latency of four or five cycles need at least ten, and AVX2
// has sixteen registers. x*a + b with a just below one keeps the values ordinary numbers. The body is a macro
// because a function with a target attribute cannot be a template argument's lambda.
#define KF_FLOP_LOOP(Vector, Scalar, set1, multiply_add)                                        \
  constexpr int kChains = 12;                                                                   \
  Vector a = set1(Scalar(0.99999)), b = set1(Scalar(0.00001)), x[kChains];                      \
  for (int i = 0; i < kChains; ++i) x[i] = set1(Scalar(1 + 0.37 * i));                          \
  for (long round = 0; round < rounds; ++round)                                                 \
    _Pragma("GCC unroll 12") for (int i = 0; i < kChains; ++i) x[i] = multiply_add(x[i], a, b); \
  for (int i = 0; i < kChains; ++i) asm volatile("" : : "x"(x[i]));                             \
  return 2.0 * kChains * (sizeof(Vector) / sizeof(Scalar)) * static_cast<double>(rounds)

inline __m128 sse_multiply_add_ps(__m128 x, __m128 a, __m128 b) { return _mm_add_ps(_mm_mul_ps(x, a), b); }
inline __m128d sse_multiply_add_pd(__m128d x, __m128d a, __m128d b) {
  return _mm_add_pd(_mm_mul_pd(x, a), b);
}

double fp32_sse2(long rounds) { KF_FLOP_LOOP(__m128, float, _mm_set1_ps, sse_multiply_add_ps); }
double fp64_sse2(long rounds) { KF_FLOP_LOOP(__m128d, double, _mm_set1_pd, sse_multiply_add_pd); }
[[gnu::target("avx2,fma")]] double fp32_avx2(long rounds) {
  KF_FLOP_LOOP(__m256, float, _mm256_set1_ps, _mm256_fmadd_ps);
}
[[gnu::target("avx2,fma")]] double fp64_avx2(long rounds) {
  KF_FLOP_LOOP(__m256d, double, _mm256_set1_pd, _mm256_fmadd_pd);
}
[[gnu::target("avx512f")]] double fp32_avx512(long rounds) {
  KF_FLOP_LOOP(__m512, float, _mm512_set1_ps, _mm512_fmadd_ps);
}
[[gnu::target("avx512f")]] double fp64_avx512(long rounds) {
  KF_FLOP_LOOP(__m512d, double, _mm512_set1_pd, _mm512_fmadd_pd);
}

// 512 bytes a round. Reading keeps four sums, so that no chain of dependences limits it.
#define KF_READ_LOOP(Vector, load, add, zero)                                        \
  constexpr std::size_t kVectors = 512 / sizeof(Vector);                             \
  Vector sum[4] = {zero(), zero(), zero(), zero()};                                  \
  for (std::size_t at = 0; at < bytes; at += 512)                                    \
    _Pragma("GCC unroll 32") for (std::size_t i = 0; i < kVectors; ++i) sum[i % 4] = \
        add(sum[i % 4], load(reinterpret_cast<const Vector*>(source + at) + i));     \
  for (int i = 0; i < 4; ++i) asm volatile("" : : "x"(sum[i]))

#define KF_COPY_LOOP(Vector, load, store)                               \
  constexpr std::size_t kVectors = 512 / sizeof(Vector);                \
  for (std::size_t at = 0; at < bytes; at += 512)                       \
    _Pragma("GCC unroll 32") for (std::size_t i = 0; i < kVectors; ++i) \
        store(reinterpret_cast<Vector*>(destination + at) + i,          \
              load(reinterpret_cast<const Vector*>(source + at) + i));  \
  asm volatile("" : : "r"(destination) : "memory")

void read_sse2(const char* source, std::size_t bytes) {
  KF_READ_LOOP(__m128i, _mm_load_si128, _mm_add_epi32, _mm_setzero_si128);
}
void copy_sse2(char* destination, const char* source, std::size_t bytes) {
  KF_COPY_LOOP(__m128i, _mm_load_si128, _mm_store_si128);
}
void stream_sse2(char* destination, const char* source, std::size_t bytes) {
  KF_COPY_LOOP(__m128i, _mm_load_si128, _mm_stream_si128);
  _mm_sfence();
}
[[gnu::target("avx2")]] void read_avx2(const char* source, std::size_t bytes) {
  KF_READ_LOOP(__m256i, _mm256_load_si256, _mm256_add_epi32, _mm256_setzero_si256);
}
[[gnu::target("avx2")]] void copy_avx2(char* destination, const char* source, std::size_t bytes) {
  KF_COPY_LOOP(__m256i, _mm256_load_si256, _mm256_store_si256);
}
[[gnu::target("avx2")]] void stream_avx2(char* destination, const char* source, std::size_t bytes) {
  KF_COPY_LOOP(__m256i, _mm256_load_si256, _mm256_stream_si256);
  _mm_sfence();
}
[[gnu::target("avx512f")]] void read_avx512(const char* source, std::size_t bytes) {
  KF_READ_LOOP(__m512i, _mm512_load_si512, _mm512_add_epi32, _mm512_setzero_si512);
}
[[gnu::target("avx512f")]] void copy_avx512(char* destination, const char* source, std::size_t bytes) {
  KF_COPY_LOOP(__m512i, _mm512_load_si512, _mm512_store_si512);
}
[[gnu::target("avx512f")]] void stream_avx512(char* destination, const char* source, std::size_t bytes) {
  KF_COPY_LOOP(__m512i, _mm512_load_si512, _mm512_stream_si512);
  _mm_sfence();
}

}  // namespace

FlopLoop choose_flop_loop(const std::set<std::string>& features) {
  if (features.contains("avx512f")) return {fp32_avx512, fp64_avx512};
  if (features.contains("avx2") && features.contains("fma")) return {fp32_avx2, fp64_avx2};
  return {fp32_sse2, fp64_sse2};
}

MemoryLoops choose_memory_loops(const std::set<std::string>& features) {
  if (features.contains("avx512f")) return {read_avx512, copy_avx512, stream_avx512};
  if (features.contains("avx2")) return {read_avx2, copy_avx2, stream_avx2};
  return {read_sse2, copy_sse2, stream_sse2};
}

}  // namespace kforge
