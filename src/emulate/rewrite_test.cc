#include "emulate/rewrite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kforge::emulate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// As a compiler's -E would give it.
Rewritten rewritten(std::string_view source, Language language = Language::kCuda) {
  return rewrite(language, "# 1 \"../src/kernel.cu\"\n" + std::string(source), "../src/");
}

int lines_of(std::string_view text) { return static_cast<int>(std::count(text.begin(), text.end(), '\n')); }

TEST(Tokens, KeepTheTextAsItWas) {
  const std::string source =
      "# 1 \"../src/a.cu\"\nint a = 0x1p-3f + 1'000; // c\nconst char* s = R\"x(\"<<<)x\" \"\\\"\" 'a';\n"
      "# 1 \"/usr/include/b.h\" 1 3\n__shared__ asm whatever\n# 4 \"../src/a.cu\" 2\nx<<=y>>>z;\n";
  const TokenList list = tokenise(source, "../src/");
  EXPECT_THAT(list.text(), HasSubstr("R\"x(\"<<<)x\""));
  EXPECT_THAT(list.text(), HasSubstr("__shared__ asm whatever"));
  EXPECT_THAT(list.text(), HasSubstr("# 4 \"a.cu\"\nx<<=y>>>z;\n"));
  EXPECT_EQ(list.files, std::vector<std::string>{"a.cu"});
}

TEST(Rewrite, KernelsAreFoundWithTheirParameters) {
  const Rewritten r = rewritten(
      "template <class T> __global__ void one(const T* a, Pair<int, T> b) {}\n"
      "extern \"C\" __global__ void __attribute__((noinline)) two() {}\n__global__ void three(float* x);\n");
  ASSERT_EQ(r.kernels.size(), 3u);
  EXPECT_EQ(r.kernels[0].name, "one");
  EXPECT_EQ(r.kernels[0].parameters.size(), 2u);
  EXPECT_EQ(r.kernels[1].name, "two");
  EXPECT_EQ(r.kernels[1].parameters.size(), 0u);
  EXPECT_EQ(r.kernels[1].line, 2);
  EXPECT_EQ(r.kernels[2].parameters.size(), 1u);
  EXPECT_THAT(r.text, Not(HasSubstr("__global__")));
}

TEST(Rewrite, SharedVariablesAreReferencesIntoTheArena) {
  const std::string source =
      "void f() {\n  __shared__ __attribute__((aligned(32))) float a[4][N +\n 1], b;\n"
      "  volatile __shared__ int* p[2];\n  static __shared__ Pair<int, float> c;\n}\n";
  const Rewritten r = rewritten(source);
  EXPECT_THAT(r.text, HasSubstr("typedef float kfe_t_a [ 4 ] [ N + 1 ] ;"));
  EXPECT_THAT(r.text, HasSubstr("sizeof(kfe_t_a), (32)"));
  EXPECT_THAT(r.text, HasSubstr("kfe_t_b& b = kfe::shared<kfe_t_b>(kfe_s_b);"));
  EXPECT_THAT(r.text, HasSubstr("typedef volatile int * kfe_t_p [ 2 ] ;"));
  EXPECT_THAT(r.text, HasSubstr("typedef Pair < int , float > kfe_t_c ;"));
  EXPECT_EQ(lines_of(r.text), lines_of(source) + 1);  // and the marker
  EXPECT_TRUE(r.errors.empty());
}

TEST(Rewrite, DynamicSharedMemoryIsAPointer) {
  const Rewritten r = rewritten(
      "extern __shared__ float pool[];\nvoid f() { extern __shared__ char raw[]; raw[0] = 1; pool[1] = "
      "s.pool; }\n");
  EXPECT_THAT(r.text, HasSubstr("kfe_t_raw* raw = reinterpret_cast<kfe_t_raw*>(kfe_dynamic_shared);"));
  EXPECT_THAT(r.text, HasSubstr("(reinterpret_cast<float*>(kfe_dynamic_shared))[1] = s.pool;"));
}

TEST(Rewrite, SharedOutsideOfAFunctionIsAnError) {
  const Rewritten r = rewritten("\n__shared__ float a[4];\n");
  ASSERT_EQ(r.errors.size(), 1u);
  EXPECT_EQ(r.errors[0].line, 2);
}

TEST(Rewrite, LaunchesBelongInThePlan) {
  const Rewritten r = rewritten("void host() {\n  k<<<1, 2>>>(x);\n}\n");
  ASSERT_EQ(r.errors.size(), 1u);
  EXPECT_EQ(r.errors[0].line, 2);
  EXPECT_THAT(r.errors[0].what, HasSubstr("plan.json"));
}

TEST(Rewrite, HostCodeIsRefusedByName) {
  for (const char* source :
       {"__attribute__((constructor)) void f() {}", "__attribute__((no_sanitize(\"thread\"))) void f();",
        "thread_local int x;", "[[clang::no_sanitize(\"thread\")]] void f();", "void kfe_barrier();",
        "void f() { __builtin_ia32_rdtsc(); }", "#pragma clang attribute push(x)\n",
        "extern \"C\" void _ZN3kfe4workEv() {}", "void f() { __sanitizer_cov_trace_pc(); }"}) {
    EXPECT_EQ(rewritten(source).refused.size(), 1u) << source;
  }
  EXPECT_TRUE(
      rewritten("struct __attribute__((aligned(16))) A { float x; };\n#pragma unroll\n").refused.empty());
}

TEST(Rewrite, WhatTheEmulatorHasNotIsNamed) {
  Rewritten r =
      rewritten("\nvoid f() { asm volatile(\"wgmma.fence.sync.aligned;\"); }\nvoid g(CUtensorMap m);\n");
  ASSERT_EQ(r.unsupported.size(), 2u);
  EXPECT_EQ(r.unsupported[0].what, "inline PTX wgmma.fence.sync.aligned");
  EXPECT_EQ(r.unsupported[0].line, 2);
  EXPECT_EQ(r.unsupported[1].what, "TMA (tensor maps)");
  EXPECT_TRUE(r.refused.empty());
  Rewritten includes;
  look_at_includes("// #include <cub/a.h>\n/* \n */ # include \\\n <cuda/barrier>\n", "a.cu", includes);
  ASSERT_EQ(includes.unsupported.size(), 1u);
  EXPECT_EQ(includes.unsupported[0].what, "libcu++ (<cuda/...>)");
  EXPECT_EQ(includes.unsupported[0].line, 3);
}

TEST(Rewrite, KnownPtxIsACall) {
  const Rewritten r = rewritten(
      "void f() { asm volatile(\"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];\\n\"\n : "
      "\"=r\"(a[0]), \"=r\"(a[1])"
      " : \"r\"(p + g(1, 2)));\n asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x)); asm volatile(\"\" ::: "
      "\"memory\"); }\n");
  EXPECT_TRUE(r.unsupported.empty());
  EXPECT_TRUE(r.refused.empty());
  EXPECT_THAT(r.text, HasSubstr("(kfe::ptx_ldmatrix<true>((a[0]), (a[1]), (p + g(1, 2))))"));
  EXPECT_THAT(r.text, HasSubstr("(kfe::ptx_laneid(x))"));
  EXPECT_EQ(lines_of(r.text), 4);
}

TEST(Rewrite, MetalKernelsAreFoundByTheirAttributes) {
  const Rewritten r = rewritten(
      "[[kernel]] void a(device float* x [[buffer(2)]], constant Pair<int, int>& p [[buffer(0)]],\n"
      "    threadgroup float* s [[threadgroup(0)]], uint2 i [[thread_position_in_grid]]) {}\n"
      "template <class T> kernel void b(device T* x [[buffer(0)]]) {}\n"
      "template [[host_name(\"b_half\")]] kernel void b<half>(device half* x [[buffer(0)]]);\n",
      Language::kMetal);
  ASSERT_EQ(r.kernels.size(), 3u);
  EXPECT_EQ(r.kernels[0].name, "a");
  ASSERT_EQ(r.kernels[0].parameters.size(), 4u);
  EXPECT_EQ(r.kernels[0].parameters[0].index, 2);
  EXPECT_EQ(r.kernels[0].parameters[2].attribute, "threadgroup");
  EXPECT_EQ(r.kernels[0].parameters[3].attribute, "thread_position_in_grid");
  EXPECT_EQ(r.kernels[2].name, "b_half");
  EXPECT_EQ(r.kernels[2].callee, "b<half>");
  for (const char* word : {"device", "constant", "[[", "kernel", "threadgroup", "host_name"})
    EXPECT_THAT(r.text.substr(r.text.find('\n')), Not(HasSubstr(word)));
}

TEST(Rewrite, MetalConstructorsAndConstantsAreSpelledOut) {
  const Rewritten r = rewritten(
      "constant bool fast [[function_constant(0)]];\nconstant float t[2] = {1.0h, 2h};\n"
      "float4 f() { threadgroup float a[4]; threadgroup float* p = a; return float4(p[0], x.xyz) + 0x1h; }\n"
      "bool g() { return is_function_constant_defined(fast); }\n",
      Language::kMetal);
  EXPECT_THAT(r.constants, ElementsAre("fast"));
  EXPECT_THAT(r.text, HasSubstr("const bool fast = static_cast<bool >(kfe_constants::fast.value) ;"));
  EXPECT_THAT(r.text, HasSubstr("{(static_cast<half>(1.0f)), (static_cast<half>(2.0f))}"));
  EXPECT_THAT(r.text, HasSubstr("kfe_t_a& a = kfe::shared<kfe_t_a>(kfe_s_a);  float* p = a;"));
  EXPECT_THAT(r.text, HasSubstr("return kfe::make<float4>(p[0], x.xyz) + 0x1h;"));
  EXPECT_THAT(r.text, HasSubstr("kfe_constants::kfe_is_defined(kfe_constants::fast)"));
}

TEST(Rewrite, TheRecordComesBackAsItWas) {
  Rewritten r = rewritten("__global__ void k(float* x) { asm(\"bar.sync 0;\"); }\nk<<<1, 1>>>();");
  Rewritten back;
  ASSERT_TRUE(from_json(to_json(r), back));
  EXPECT_EQ(back.text, r.text);
  EXPECT_EQ(back.kernels.at(0).name, "k");
  EXPECT_EQ(back.errors.size(), r.errors.size());
  for (const char* hostile :
       {"", "[]", "{}", "{\"text\": 3, \"kernels\": []}", "{\"text\":\"\",\"kernels\":[3]}"})
    EXPECT_FALSE(from_json(hostile, back)) << hostile;
}

}  // namespace
}  // namespace kforge::emulate
