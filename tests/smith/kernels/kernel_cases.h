// Checks of the kernel headers, compiled once for each instruction set. These files include the headers
// directly and little else: what they compile for a wide machine must not end up in code for a narrow one.
#pragma once

namespace kforge {

struct KernelCase {
  const char* name;
  const char* (*run)();  // nullptr: good; else what was wrong
};
struct KernelCases {
  const KernelCase* begin;
  long count;
};

// KERNEL_ISA: v2 (SSE4), v3 (AVX2) or v4 (AVX-512), given by the build.
#define KERNEL_CASES_NAME2(family, isa) family##_cases_##isa
#define KERNEL_CASES_NAME(family, isa) KERNEL_CASES_NAME2(family, isa)
#define DEFINE_KERNEL_CASES(family, ...)                           \
  extern const KernelCases KERNEL_CASES_NAME(family, KERNEL_ISA);  \
  static constexpr KernelCase k_##family##_list[] = {__VA_ARGS__}; \
  const KernelCases KERNEL_CASES_NAME(family, KERNEL_ISA) = {      \
      k_##family##_list, long(sizeof(k_##family##_list) / sizeof(KernelCase))}

}  // namespace kforge
