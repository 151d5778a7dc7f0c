#include "machine/flush_lines.h"

#include <cstdint>

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace kforge {

#ifdef __x86_64__
namespace {

constexpr std::uintptr_t kLineBytes = 64;

bool has_clflushopt() {
  static const bool has = [] {
    unsigned a = 7, b = 0, c = 0, d = 0;
    asm volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return (b >> 23 & 1) != 0;
  }();
  return has;
}

}  // namespace

bool can_flush_lines() { return has_clflushopt(); }

__attribute__((target("clflushopt"))) void flush_lines(std::span<const std::byte> memory) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data()) / kLineBytes * kLineBytes;
  const auto end = reinterpret_cast<std::uintptr_t>(memory.data() + memory.size());
  for (std::uintptr_t line = begin; line < end; line += kLineBytes)
    _mm_clflushopt(reinterpret_cast<void*>(line));
  _mm_sfence();  // flushes are ordered with nothing but fences
}
#else
bool can_flush_lines() { return false; }

void flush_lines(std::span<const std::byte>) {}
#endif

}  // namespace kforge
