// Whether this processor, and the system that runs on it, have the instructions a kernel was compiled for.
// Asked before the kernel is called: afterwards there is only "illegal instruction".
#pragma once

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__linux__)
#include <sys/auxv.h>
#endif

namespace kforge_export {

#if defined(__x86_64__)

struct Feature {
  const char* name;
  unsigned leaf, subleaf, reg, bit;  // of cpuid; reg: 0 eax, 1 ebx, 2 ecx, 3 edx
  unsigned state;  // bits of XCR0 that the system must have set: what it saves of the registers
};

inline constexpr unsigned kYmm = 0x6, kZmm = 0xe6, kTiles = 0x60000;
inline constexpr Feature kFeatures[] = {
    {"avx2", 7, 0, 1, 5, kYmm},
    {"fma", 1, 0, 2, 12, kYmm},
    {"f16c", 1, 0, 2, 29, kYmm},
    {"bmi2", 7, 0, 1, 8, 0},
    {"avx512f", 7, 0, 1, 16, kZmm},
    {"avx512dq", 7, 0, 1, 17, kZmm},
    {"avx512cd", 7, 0, 1, 28, kZmm},
    {"avx512bw", 7, 0, 1, 30, kZmm},
    {"avx512vl", 7, 0, 1, 31, kZmm},
    {"avx512_ifma", 7, 0, 1, 21, kZmm},
    {"avx512_vbmi", 7, 0, 2, 1, kZmm},
    {"avx512_vbmi2", 7, 0, 2, 6, kZmm},
    {"avx512_vnni", 7, 0, 2, 11, kZmm},
    {"avx512_bitalg", 7, 0, 2, 12, kZmm},
    {"avx512_vpopcntdq", 7, 0, 2, 14, kZmm},
    {"avx512_fp16", 7, 0, 3, 23, kZmm},
    {"avx512_bf16", 7, 1, 0, 5, kZmm},
    {"avx_vnni", 7, 1, 0, 4, kYmm},
    {"amx", 7, 0, 3, 24, kTiles},
};

inline unsigned saved_registers() {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 27))) return 0;
  unsigned low, high;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

inline bool has(const char* name) {
  for (const Feature& feature : kFeatures) {
    if (std::strcmp(feature.name, name) != 0) continue;
    unsigned r[4] = {};
    if (!__get_cpuid_count(feature.leaf, feature.subleaf, &r[0], &r[1], &r[2], &r[3])) return false;
    return (r[feature.reg] >> feature.bit & 1) && (saved_registers() & feature.state) == feature.state;
  }
  return false;  // unknown: not promised
}

#elif defined(__linux__) && (defined(__aarch64__) || defined(__riscv))

// The system's word for it, from AT_HWCAP.
inline bool has(const char* name) {
  unsigned long said = getauxval(AT_HWCAP);
  if (std::strcmp(name, "sve") == 0) return said >> 22 & 1;           // HWCAP_SVE
  if (std::strcmp(name, "rvv") == 0) return said >> ('v' - 'a') & 1;  // a bit for each letter
  return false;
}

#else

inline bool has(const char*) { return false; }

#endif

// The first of a list, ended by null, that is not there; null: all are.
inline const char* first_missing(const char* const* needs) {
  for (; *needs; ++needs)
    if (!has(*needs)) return *needs;
  return nullptr;
}

}  // namespace kforge_export
