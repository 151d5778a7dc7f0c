// One small computation per instruction set, with a known answer. Each function carries its own target
// attribute, so the rest of the program runs on any x86-64. Inputs go through opaque(), or the compiler would
// compute the answer itself and execute nothing.
#include <immintrin.h>

#include <cmath>
#include <cstring>

#include "machine/amx.h"
#include "machine/features.h"

namespace kforge {
namespace {

template <class T>
[[gnu::always_inline]] inline T opaque(T value) {
  asm volatile("" : "+m"(value));
  return value;
}

template <class T, class V>
[[gnu::always_inline]] inline T lane(const V& vector, int index) {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(&vector) + index * sizeof(T), sizeof value);
  return value;
}

[[gnu::target("avx2")]] bool avx2() {
  __m256i sum = _mm256_add_epi32(_mm256_set1_epi32(opaque(40)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  return lane<int>(sum, 7) == 47;
}
[[gnu::target("avx2,fma")]] bool fma() {
  __m256 r =
      _mm256_fmadd_ps(_mm256_set1_ps(opaque(3.f)), _mm256_set1_ps(opaque(5.f)), _mm256_set1_ps(opaque(7.f)));
  return lane<float>(r, 5) == 22.f;
}
[[gnu::target("avx,f16c")]] bool f16c() {
  __m128i half = _mm256_cvtps_ph(_mm256_set1_ps(opaque(1.5f)), _MM_FROUND_TO_NEAREST_INT);
  return lane<unsigned short>(half, 3) == 0x3e00 && lane<float>(_mm256_cvtph_ps(half), 2) == 1.5f;
}
[[gnu::target("bmi,bmi2")]] bool bmi2() {
  return _pdep_u64(opaque(0b101ull), opaque(0xf0ull)) == 0x50 && _andn_u64(opaque(1ull), opaque(3ull)) == 2;
}
[[gnu::target("avx512f")]] bool avx512f() {
  __m512 r =
      _mm512_fmadd_ps(_mm512_set1_ps(opaque(3.f)), _mm512_set1_ps(opaque(5.f)), _mm512_set1_ps(opaque(7.f)));
  return lane<float>(r, 15) == 22.f;
}
[[gnu::target("avx512f,avx512bw")]] bool avx512bw() {
  __m512i r = _mm512_add_epi8(_mm512_set1_epi8(opaque<char>(3)), _mm512_set1_epi8(opaque<char>(4)));
  return lane<char>(r, 63) == 7;
}
[[gnu::target("avx512f,avx512dq")]] bool avx512dq() {
  __m512i r = _mm512_mullo_epi64(_mm512_set1_epi64(opaque(1ll << 33)), _mm512_set1_epi64(opaque(3ll)));
  return lane<long long>(r, 7) == 3ll << 33;
}
[[gnu::target("avx512f,avx512vl")]] bool avx512vl() {
  __m256i r = _mm256_rolv_epi32(_mm256_set1_epi32(opaque(1)), _mm256_set1_epi32(opaque(5)));
  return lane<int>(r, 7) == 32;
}
[[gnu::target("avx512f,avx512cd")]] bool avx512cd() {
  return lane<int>(_mm512_lzcnt_epi32(_mm512_set1_epi32(opaque(1))), 9) == 31;
}
[[gnu::target("avx512f,avx512ifma")]] bool avx512_ifma() {
  __m512i r = _mm512_madd52lo_epu64(_mm512_set1_epi64(opaque(1ll)), _mm512_set1_epi64(opaque(6ll)),
                                    _mm512_set1_epi64(opaque(7ll)));
  return lane<long long>(r, 4) == 43;
}
[[gnu::target("avx512f,avx512bw,avx512vbmi")]] bool avx512_vbmi() {
  __m512i r =
      _mm512_permutexvar_epi8(_mm512_set1_epi8(opaque<char>(2)), _mm512_set1_epi32(opaque(0x00cc0000)));
  return lane<unsigned char>(r, 40) == 0xcc;
}
[[gnu::target("avx512f,avx512bw,avx512vbmi2")]] bool avx512_vbmi2() {
  __m512i r = _mm512_shldi_epi32(_mm512_set1_epi32(opaque(1)), _mm512_set1_epi32(opaque(0)), 4);
  return lane<int>(r, 3) == 16;
}
[[gnu::target("avx512f,avx512vpopcntdq")]] bool avx512_vpopcntdq() {
  return lane<int>(_mm512_popcnt_epi32(_mm512_set1_epi32(opaque(0xff))), 2) == 8;
}
[[gnu::target("avx512f,avx512bw,avx512bitalg")]] bool avx512_bitalg() {
  return lane<char>(_mm512_popcnt_epi8(_mm512_set1_epi8(opaque<char>(7))), 33) == 3;
}
[[gnu::target("avx512f,avx512vnni")]] bool avx512_vnni() {
  __m512i r = _mm512_dpbusd_epi32(_mm512_set1_epi32(opaque(100)), _mm512_set1_epi8(opaque<char>(2)),
                                  _mm512_set1_epi8(opaque<char>(-3)));
  return lane<int>(r, 11) == 100 - 24;
}
[[gnu::target("avx512f,avx512bw,avx512vl,avx512bf16")]] bool avx512_bf16() {
  __m512bh two = _mm512_cvtne2ps_pbh(_mm512_set1_ps(opaque(2.f)), _mm512_set1_ps(opaque(2.f)));
  __m512 r = _mm512_dpbf16_ps(_mm512_set1_ps(opaque(1.f)), two, two);
  return lane<float>(r, 6) == 9.f;
}
[[gnu::target("avx512f,avx512bw,avx512vl,avx512fp16")]] bool avx512_fp16() {
  __m512h r = _mm512_fmadd_ph(_mm512_castsi512_ph(_mm512_set1_epi16(opaque<short>(0x4000))),   // 2
                              _mm512_castsi512_ph(_mm512_set1_epi16(opaque<short>(0x4200))),   // 3
                              _mm512_castsi512_ph(_mm512_set1_epi16(opaque<short>(0x3c00))));  // 1
  return lane<unsigned short>(r, 30) == 0x4700;                                                // 7
}
[[gnu::target("avx2,avxvnni")]] bool avx_vnni() {
  __m256i r = _mm256_dpbusd_avx_epi32(_mm256_set1_epi32(opaque(100)), _mm256_set1_epi8(opaque<char>(2)),
                                      _mm256_set1_epi8(opaque<char>(-3)));
  return lane<int>(r, 5) == 100 - 24;
}

float float_of_bf16(std::uint16_t bits) {
  std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

// A whole tile product on random numbers against plain arithmetic: a configuration that was only half taken,
// or a palette the hypervisor mangles, shows as wrong numbers.
bool amx_bf16() {
  if (!amx::request_permission()) return false;
  alignas(64) std::uint16_t a[16 * 32], b[16 * 32];
  alignas(64) float c[16 * 16] = {};
  std::uint32_t state = 12345;
  auto random_bf16 = [&] {
    state = state * 1664525u + 1013904223u;
    // Sign, exponent of values in [1/2, 2), seven random bits of mantissa.
    return static_cast<std::uint16_t>((state >> 31) << 15 | (126 + (state >> 30 & 1)) << 7 |
                                      (state >> 20 & 127));
  };
  for (std::uint16_t& x : a) x = random_bf16();
  for (std::uint16_t& x : b) x = random_bf16();
  amx::configure_full_tiles();
  amx::multiply_tile(c, a, b);
  amx::release_tiles();
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 16; ++n) {
      double sum = 0;
      for (int k = 0; k < 32; ++k)
        sum += double(float_of_bf16(a[m * 32 + k])) * float_of_bf16(b[(k / 2) * 32 + 2 * n + k % 2]);
      if (!(std::fabs(c[m * 16 + n] - sum) <= 1e-4 * 32)) return false;
    }
  }
  return true;
}

}  // namespace

const std::vector<FeatureTrial>& feature_trials() {
  static const std::vector<FeatureTrial> trials = {
      {"avx2", avx2},
      {"fma", fma},
      {"f16c", f16c},
      {"bmi2", bmi2},
      {"avx512f", avx512f},
      {"avx512bw", avx512bw},
      {"avx512dq", avx512dq},
      {"avx512vl", avx512vl},
      {"avx512cd", avx512cd},
      {"avx512_ifma", avx512_ifma},
      {"avx512_vbmi", avx512_vbmi},
      {"avx512_vbmi2", avx512_vbmi2},
      {"avx512_vpopcntdq", avx512_vpopcntdq},
      {"avx512_bitalg", avx512_bitalg},
      {"avx512_vnni", avx512_vnni},
      {"avx512_bf16", avx512_bf16},
      {"avx512_fp16", avx512_fp16},
      {"avx_vnni", avx_vnni},
      {"amx", amx_bf16},
  };
  return trials;
}

}  // namespace kforge
