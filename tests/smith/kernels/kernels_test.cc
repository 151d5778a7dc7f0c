// The kernel headers as code: every check on every instruction set that this machine has.
#include <gtest/gtest.h>

#include <regex>
#include <sstream>
#include <vector>

#include "kernel_cases.h"
#include "machine/amx.h"
#include "machine/machine.h"
#include "smith/graph/names.h"
#include "smith/kernels/kernel_text.h"

namespace kforge {

#define DECLARE_KERNEL_CASES(isa)                                                                      \
  extern const KernelCases vector_cases_##isa, math_cases_##isa, contraction_cases_##isa,              \
      convolution_cases_##isa, attention_cases_##isa, amx_cases_##isa, operators_cases_##isa;          \
  std::vector<KernelCases> all_cases_##isa() {                                                         \
    return {vector_cases_##isa,    math_cases_##isa, contraction_cases_##isa, convolution_cases_##isa, \
            attention_cases_##isa, amx_cases_##isa,  operators_cases_##isa};                           \
  }
DECLARE_KERNEL_CASES(v2)
DECLARE_KERNEL_CASES(v3)
DECLARE_KERNEL_CASES(v4)
#ifdef KFORGE_SIMDE
DECLARE_KERNEL_CASES(emulated)
#endif
extern const KernelCases amx_cases_amx;

namespace {

void run(const std::vector<KernelCases>& all) {
  for (const KernelCases& cases : all)
    for (const KernelCase* c = cases.begin; c != cases.begin + cases.count; ++c) {
      SCOPED_TRACE(c->name);
      EXPECT_STREQ(c->run(), nullptr);
    }
}

TEST(SmithKernels, WithSse4) { run(all_cases_v2()); }
TEST(SmithKernels, WithAvx2) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP() << "no AVX2";
  run(all_cases_v3());
}
TEST(SmithKernels, WithAvx512) {
  for (const bool has : {__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512bw"),
                         __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512vl")})
    if (!has) GTEST_SKIP() << "no AVX-512";
  run(all_cases_v4());
}

// The text for AVX-512 as it is, over SIMDe: also where the machine has none.
TEST(SmithKernels, WithAvx512Emulated) {
#ifdef KFORGE_SIMDE
  run(all_cases_emulated());
#else
  GTEST_SKIP() << "built without libsimde-dev";
#endif
}
TEST(SmithKernels, WithTileInstructions) {
  const auto machine = describe_machine();
  ASSERT_TRUE(machine) << machine.error().text();
  if (!machine->features.contains("amx")) GTEST_SKIP() << "no AMX";
  ASSERT_TRUE(amx::request_permission());
  run({amx_cases_amx});
}

// Tensors must not be called what the kernel headers declare: a parameter of that name would hide it.
TEST(SmithKernels, DeclareNoNameThatATensorMayHave) {
  const std::regex patterns[] = {
      std::regex(R"(^(?:template <.*> )?struct (\w+).*)"),
      std::regex(R"(^enum class (\w+).*)"),
      std::regex(R"(^using (\w+) =.*)"),
      std::regex(R"(^typedef .*? (\w+) __attribute__.*)"),
      std::regex(R"(^constexpr .*?(\w+)( = .*)?;$)"),
      std::regex(R"(^(?:SMITH_INLINE|inline|__attribute__\(\(noinline\)\)) [\w:<>&\* ]*?(\w+)\(.*)")};
  int found = 0;
  for (const smith::KernelHeader& header : smith::kernel_headers()) {
    std::istringstream lines{std::string(header.text)};
    for (std::string line; std::getline(lines, line);)
      for (const std::regex& pattern : patterns)
        if (std::smatch match; std::regex_match(line, match, pattern)) {
          EXPECT_TRUE(smith::is_taken_name(match[1].str())) << match[1] << " of " << header.path;
          ++found;
        }
  }
  EXPECT_GT(found, 80);
}

}  // namespace
}  // namespace kforge
