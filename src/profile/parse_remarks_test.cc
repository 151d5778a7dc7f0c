// Remarks as g++ really gives them: the program is compiled here with the flags of platforms/cpu.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/subprocess.h"
#include "profile/fact_value.h"
#include "profile/parsers.h"
#include "profile/source_loops.h"

namespace kforge {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RemarksTest : public testing::Test {
 protected:
  // What the compiler says about this kernel.cc; empty: there is no g++.
  std::string compile(const std::string& source) {
    candidate_ = Candidate{{{"kernel.cc", source}}, ""};
    fs::path file = folder_.path() / "kernel.cc";
    EXPECT_TRUE(write_file_atomic(file, source));
    auto done =
        run_command({.argv = {"g++", "-std=c++20", "-O3", "-march=x86-64-v3", "-fopenmp",
                              "-fopt-info-vec-optimized-missed", "-c", file.string(), "-o", "/dev/null"}});
    return done && done->ok() ? done->err : "";
  }
  std::string shown(const std::string& remarks, std::vector<int> hot = {}) {
    findings_ = Findings{};
    input_.candidate = &candidate_;
    findings_.input = &input_;
    if (!hot.empty()) findings_.hot_lines["kernel.cc"] = std::move(hot);
    EXPECT_TRUE(parse_remarks({"remarks", "", remarks, ""}, findings_));
    return findings_.profile.texts.empty() ? "" : findings_.profile.texts[0].text;
  }
  TempDir folder_ = TempDir::create().value();
  Candidate candidate_;
  ProfileInput input_;
  Findings findings_;
};

// Line 5 vectorises, 8 has control flow, 12 calls, and the standard library has loops of its own.
constexpr const char* kNoisy = R"(#include <algorithm>
#include <vector>
extern float opaque(float);
extern "C" void kernel(const float* x, float* y, int n, int m) {
  for (int j = 0; j < n; ++j) y[j] += x[j];
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < m; ++j) {
      if (x[j] > 100.f) break;
      y[i * m + j] += 1;
    }
    for (int j = 0; j < m; ++j) {
      y[i * m + j] = opaque(x[j]);
    }
  }
  std::vector<float> t(x, x + n);
  std::sort(t.begin(), t.end());
  y[0] = t[0];
}
)";

TEST_F(RemarksTest, RealRemarksBecomeAHandful) {
  std::string remarks = compile(kNoisy);
  if (remarks.empty()) GTEST_SKIP() << "no g++ here";
  ASSERT_THAT(remarks, HasSubstr("/usr/include/c++")) << "the library's loops are among them";
  std::string text = shown(remarks);
  EXPECT_THAT(
      text,
      HasSubstr("kernel.cc:8: not vectorized: control flow in loop.   `for (int j = 0; j < m; ++j) {`"));
  EXPECT_THAT(text, HasSubstr("kernel.cc:12: not vectorized: it calls opaque"));
  EXPECT_THAT(
      text, AllOf(Not(HasSubstr("kernel.cc:5:")), Not(HasSubstr("stl_")), Not(HasSubstr("splitting region")),
                  Not(HasSubstr("clobbers")), Not(HasSubstr("loop nest"))));
  EXPECT_LE(std::ranges::count(text, '\n'), 7);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  std::ranges::sort(lines);
  EXPECT_EQ(std::ranges::adjacent_find(lines), lines.end()) << text;
}

TEST_F(RemarksTest, NearTheHotLoopOnlyItIsSpokenOf) {
  std::string far =
      "extern float opaque(float);\nextern \"C\" void kernel(const float* x, float* y, int n) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = opaque(x[i]);\n" +
      std::string(40, '\n') + "  for (int i = 0; i < n; ++i) y[i] = opaque(y[i]);\n}\n";
  std::string remarks = compile(far);
  if (remarks.empty()) GTEST_SKIP() << "no g++ here";
  std::string text = shown(remarks, {44});
  EXPECT_THAT(text, AllOf(HasSubstr("kernel.cc:44: "), Not(HasSubstr("kernel.cc:3: ")),
                          HasSubstr("(1 more loop was not vectorised)")));
  EXPECT_THAT(findings_.profile.texts[0].title, HasSubstr("near the hot loop"));
  EXPECT_EQ(fact(findings_.profile, "missed_loops"), 2);
}

TEST_F(RemarksTest, ManyLoopsAreCounted) {
  std::string source =
      "extern float opaque(float);\nextern \"C\" void kernel(const float* x, float* y, int n) {\n";
  for (int i = 0; i < 20; ++i) source += "  for (int i = 0; i < n; ++i) y[i] += opaque(x[i]);\n";
  std::string remarks = compile(source + "}\n");
  if (remarks.empty()) GTEST_SKIP() << "no g++ here";
  std::string text = shown(remarks);
  EXPECT_EQ(std::ranges::count(text, '\n'), 7) << text;
  EXPECT_THAT(text, HasSubstr("(14 more loops were not vectorised)"));
  EXPECT_EQ(fact(findings_.profile, "missed_loops"), 20);
}

TEST_F(RemarksTest, WhatIsVectorisedIsNotMissed) {
  std::string remarks = compile(
      "extern \"C\" void kernel(const float* x, float* y, int n) {\n  for (int i = 0; i < n; ++i) y[i] += "
      "x[i];\n}\n");
  if (remarks.empty()) GTEST_SKIP() << "no g++ here";
  EXPECT_EQ(shown(remarks), "");
  EXPECT_EQ(fact(findings_.profile, "missed_loops"), 0);
}

TEST_F(RemarksTest, OfBothCompilersAndOfNobody) {
  candidate_ = Candidate{{{"kernel.cc", "a\nb\nfor (;;) x();\n"}}, ""};
  std::string text = shown(R"(../src/kernel.cc:3:1: missed: couldn't vectorize loop
../src/kernel.cc:3:6: missed: not vectorized: control flow in loop.
../src/kernel.cc:3:1: missed: couldn't vectorize loop
../src/kernel.cc:3:6: missed: not vectorized: no vectype for stmt: _45 = *_44;
kernel.cc:3:1: remark: loop not vectorized: call instruction cannot be vectorized [-Rpass-analysis=loop-vectorize]
/usr/include/kernel.cc:3:1: missed: couldn't vectorize loop
/usr/include/kernel.cc:3:1: missed: not vectorized: elsewhere
kernel.cc:99999999999:1: missed: couldn't vectorize loop
kernel.cc:-4:-1: missed: couldn't vectorize loop
kernel.cc:-4:-1: missed: not vectorized: nowhere
nonsense:: missed: x
)");
  EXPECT_THAT(text, HasSubstr("kernel.cc:3: not vectorized: control flow in loop.   `for (;;) x();`"));
  EXPECT_THAT(text, AllOf(HasSubstr("call instruction cannot be vectorized"), Not(HasSubstr("elsewhere")),
                          Not(HasSubstr("no vectype"))));
}

TEST(SourceLoops, InnerAndOuter) {
  SourceLoops loops(
      "for (int i = 0; i < n; ++i)\n  for (int j = 0; j < (n); ++j) {\n    a();\n  }\n"  // 1, 2
      "// for (;;) {\n"
      "do {\n  x = \"while (1) {\"; // }\n} while (x);\n"        // 6
      "while (y) { if (z) for (auto& q : w) { b(); } }\n"        // 9, 9
      "#define LOOP for (;;) \\\n  for (;;)\nfor (;;) c();\n");  // 12
  EXPECT_EQ(loops.count(), 6u);
  ASSERT_TRUE(loops.around(1, 10));
  EXPECT_FALSE(loops.around(1, 10)->innermost);
  ASSERT_TRUE(loops.around(3, 5));
  EXPECT_EQ(loops.around(3, 5)->line, 2);
  EXPECT_TRUE(loops.around(3, 5)->innermost);
  EXPECT_EQ(loops.around(5, 4), nullptr);
  EXPECT_EQ(loops.around(7, 3)->line, 6);
  EXPECT_FALSE(loops.around(9, 8)->innermost);
  EXPECT_TRUE(loops.around(9, 30)->innermost);
  EXPECT_EQ(loops.around(12, 11)->line, 12);
  EXPECT_EQ(loops.around(0, 1), nullptr);
  EXPECT_EQ(loops.around(900, 1), nullptr);
}

TEST(SourceLoops, HostileSources) {
  std::string nest;
  for (int i = 0; i < 20'000; ++i) nest += "for(;;)";
  EXPECT_LE(SourceLoops(nest).count(), 1000u);
  for (const std::string& text :
       {std::string(200'000, '{'), std::string(200'000, '('), std::string("for"), std::string("for ("),
        std::string("while"), std::string("/*"), std::string("\"\\"), std::string("# \\"), std::string("do"),
        std::string(1u << 20, 'x')})
    (void)SourceLoops(text).around(1, 2);
}

}  // namespace
}  // namespace kforge
