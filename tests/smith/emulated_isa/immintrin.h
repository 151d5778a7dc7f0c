// Stands in for the compiler's <immintrin.h>: AVX-512 and AMX on any machine, so that the very text of a
// kernel for them is compiled and run everywhere. SIMDe gives the vector types and most intrinsics in
// portable C++; the few that its version in Debian 12 lacks are composed here of narrower ones, and tiles.h
// does the tile instructions by loops.
//
// For a build whose own instruction set is below AVX (-march=x86-64-v2): named by -include and found before
// the compiler's own by -I.
#pragma once

#ifdef __AVX__
#error "the compiler's own AVX would take the place of what is emulated: build for -march=x86-64-v2"
#endif

#define SIMDE_ENABLE_NATIVE_ALIASES
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpsabi"  // vectors wider than the machine's are passed through memory
#include <simde/x86/avx2.h>
#include <simde/x86/avx512/max.h>
#include <simde/x86/avx512/min.h>
#include <simde/x86/avx512/sqrt.h>
#include <simde/x86/avx512/types.h>
#include <simde/x86/f16c.h>

// What kernels ask the compiler for. After SIMDe, which would ask too.
#define __AVX__ 1
#define __AVX2__ 1
#define __FMA__ 1
#define __F16C__ 1
#define __AVX512F__ 1
#define __AVX512BW__ 1
#define __AVX512DQ__ 1
#define __AVX512VL__ 1

namespace {

template <class Wide, class Narrow>
inline __attribute__((always_inline)) Wide emulated_pair(Narrow low, Narrow high) {
  Wide r;
  __builtin_memcpy(&r, &low, sizeof low);
  __builtin_memcpy(reinterpret_cast<char*>(&r) + sizeof low, &high, sizeof high);
  return r;
}
template <class Narrow, class Wide>
inline __attribute__((always_inline)) Narrow emulated_part(Wide x, int part) {
  Narrow r;
  __builtin_memcpy(&r, reinterpret_cast<const char*>(&x) + part * sizeof r, sizeof r);
  return r;
}
inline __attribute__((always_inline)) __m128i emulated_half(__m256i x, int part) {
  return emulated_part<__m128i>(x, part);
}
inline __attribute__((always_inline)) __m256 emulated_half(__m512 x, int part) {
  return emulated_part<__m256>(x, part);
}

inline __attribute__((always_inline)) __m512i _mm512_cvtepi8_epi32(__m128i x) {
  return emulated_pair<__m512i>(_mm256_cvtepi8_epi32(x), _mm256_cvtepi8_epi32(_mm_srli_si128(x, 8)));
}
inline __attribute__((always_inline)) __m512i _mm512_cvtepu8_epi32(__m128i x) {
  return emulated_pair<__m512i>(_mm256_cvtepu8_epi32(x), _mm256_cvtepu8_epi32(_mm_srli_si128(x, 8)));
}
inline __attribute__((always_inline)) __m512i _mm512_cvtepi16_epi32(__m256i x) {
  return emulated_pair<__m512i>(_mm256_cvtepi16_epi32(emulated_half(x, 0)),
                                _mm256_cvtepi16_epi32(emulated_half(x, 1)));
}
inline __attribute__((always_inline)) __m512i _mm512_cvtepu16_epi32(__m256i x) {
  return emulated_pair<__m512i>(_mm256_cvtepu16_epi32(emulated_half(x, 0)),
                                _mm256_cvtepu16_epi32(emulated_half(x, 1)));
}
inline __attribute__((always_inline)) __m512 _mm512_cvtph_ps(__m256i x) {
  return emulated_pair<__m512>(_mm256_cvtph_ps(emulated_half(x, 0)), _mm256_cvtph_ps(emulated_half(x, 1)));
}
// Rounds to nearest, as kernels ask.
inline __attribute__((always_inline)) __m256i _mm512_cvtps_ph(__m512 x, int) {
  return emulated_pair<__m256i>(_mm256_cvtps_ph(emulated_half(x, 0), 0),
                                _mm256_cvtps_ph(emulated_half(x, 1), 0));
}
inline __attribute__((always_inline)) void _mm512_stream_ps(void* p, __m512 x) {
  // As strict as the instruction: an address that is not aligned ends the program.
  if (reinterpret_cast<unsigned long>(p) % 64 != 0) __builtin_trap();
  __builtin_memcpy(p, &x, sizeof x);
}

}  // namespace

#include "tiles.h"
#pragma GCC diagnostic pop
