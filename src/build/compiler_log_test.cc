#include "build/compiler_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CompilerLog, ErrorsComeFirstWithTheirSourceLines) {
  std::string log = trim_compiler_log(
      "../src/kernel.cc: In function 'void kernel(const float*, float*)':\n"
      "../src/kernel.cc:3:7: warning: unused variable 'a' [-Wunused-variable]\n"
      "    3 |   int a;\n"
      "      |       ^\n"
      "../src/kernel.cc:5:3: error: 'foo' was not declared in this scope\n"
      "    5 |   foo();\n"
      "      |   ^~~\n",
      {"../src/"});
  EXPECT_EQ(log,
            "kernel.cc:5:3: error: 'foo' was not declared in this scope\n"
            "    5 |   foo();\n"
            "      |   ^~~\n"
            "kernel.cc:3:7: warning: unused variable 'a' [-Wunused-variable]\n"
            "    3 |   int a;\n"
            "      |       ^\n");
}

TEST(CompilerLog, TemplatesAndOverloadsAreDropped) {
  std::string raw =
      "In file included from /usr/include/c++/12/algorithm:61,\n"
      "                 from ../src/kernel.cc:1:\n"
      "/usr/include/c++/12/bits/stl_algo.h: In instantiation of 'void std::sort(_RAIter, _RAIter)':\n"
      "../src/kernel.cc:4:12:   required from here\n"
      "../src/kernel.cc:4:12: error: no match for 'operator<'\n"
      "    4 |   std::sort(a, b);\n"
      "      |   ~~~~~~~~~^~~~~~\n";
  for (int i = 0; i < 50; ++i)
    raw +=
        "/usr/include/c++/12/bits/x.h:9:5: note: candidate: 'template<class T> bool operator<(T, T)'\n    9 "
        "| bool operator<\n      |      ^~~~~~~~\n";
  raw += "../src/kernel.cc:2:8: note: declared here\n    2 | struct A {};\n";
  std::string log = trim_compiler_log(raw, {"../src/"});
  EXPECT_THAT(log, HasSubstr("kernel.cc:4:12: error: no match"));
  EXPECT_THAT(log, HasSubstr("kernel.cc:2:8: note: declared here"));
  EXPECT_THAT(log, Not(HasSubstr("candidate")));
  EXPECT_THAT(log, Not(HasSubstr("required from")));
  EXPECT_THAT(log, Not(HasSubstr("In file included")));
}

TEST(CompilerLog, RepetitionsAreSaidOnce) {
  std::string raw;
  for (int i = 1; i <= 20; ++i)
    raw += "k.cc:" + std::to_string(i) + ":1: error: 'foo' was not declared in this scope\n";
  std::string log = trim_compiler_log(raw, {});
  EXPECT_THAT(log, HasSubstr("k.cc:1:1: error"));
  EXPECT_THAT(log, Not(HasSubstr("k.cc:2:1")));
  EXPECT_THAT(log, HasSubstr("19 repetitions left out"));
}

TEST(CompilerLog, LinkerErrorsAreErrors) {
  std::string log = trim_compiler_log(
      "/usr/bin/ld: /tmp/x/out/ccAbCd.o: in function `kernel':\n"
      "kernel.cc:(.text+0x5): undefined reference to `helper(float)'\n"
      "collect2: error: ld returned 1 exit status\n",
      {"/tmp/x/out/"});
  EXPECT_THAT(log, HasSubstr("undefined reference to `helper(float)'"));
  EXPECT_THAT(log, Not(HasSubstr("/tmp/x")));
}

TEST(CompilerLog, HostileOutputIsBoundedAndPrintable) {
  std::string raw = "k.cc:1:1: error: \x1b[31mred\x07 \xff\xfe\n";
  for (int i = 0; i < 5000; ++i)
    raw += "k.cc:1:1: error: number " + std::to_string(i) + std::string(1000, 'x') + "\n";
  std::string log = trim_compiler_log(raw, {""});
  EXPECT_LT(log.size(), kLogBytes + 200);
  EXPECT_THAT(log, Not(HasSubstr("\x1b")));
  EXPECT_THAT(log, HasSubstr("more errors"));
  EXPECT_EQ(trim_compiler_log("", {}), "");
  EXPECT_FALSE(trim_compiler_log(std::string(1 << 20, '\n') + "cc1plus: some words", {}).empty());
  EXPECT_FALSE(trim_compiler_log(std::string(100'000, '|'), {}).empty());
}

TEST(CompilerLog, TextAboveAsciiSurvives) {
  EXPECT_EQ(trim_compiler_log("k.cc:1:1: error: stray '\xc3\xa9' in program\n", {}),
            "k.cc:1:1: error: stray '\xc3\xa9' in program\n");
}

TEST(CompilerLog, FortransPlacesAreJoinedWithTheirMessages) {
  const std::string log = trim_compiler_log(
      "../src/kernel.f90:3:8:\n\n    3 |   y = z\n      |        1\nError: Symbol 'z' at (1) has no IMPLICIT "
      "type\n"
      "../src/kernel.f90:9:2:\n\n    9 |   x\n      |  1\nWarning: Unused variable at (1)\n",
      {"../src/"});
  EXPECT_EQ(
      log,
      "kernel.f90:3:8: error: Symbol 'z' at (1) has no IMPLICIT type\n    3 |   y = z\n      |        1\n"
      "kernel.f90:9:2: warning: Unused variable at (1)\n    9 |   x\n      |  1\n");
}

}  // namespace
}  // namespace kforge
