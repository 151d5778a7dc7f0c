#include "build/source_place.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

const Candidate kProgram{{{"kernel.cc", ""}, {"parts/row.h", ""}}, "test"};

TEST(SourcePlace, FramesAndInlinedFunctionsAreReadInOrder) {
  auto places = parse_addr2line(
      "0x0000000000001139\n"
      "row(float const*)\n"
      "/tmp/x/src/parts/row.h:12 (discriminator 3)\n"
      "kernel\n"
      "/tmp/x/src/kernel.cc:30\n"
      "0x0000000000001200\n"
      "std::vector<int>::at(unsigned long)\n"
      "/usr/include/c++/12/bits/stl_vector.h:1043\n",
      kProgram);
  ASSERT_EQ(places.size(), 3u);
  EXPECT_EQ(places[0].function, "row(float const*)");
  EXPECT_EQ(places[0].file, "parts/row.h");
  EXPECT_EQ(places[0].line, 12);
  EXPECT_EQ(places[2].file, "stl_vector.h");
  EXPECT_EQ(to_text(places),
            "in row(float const*) (parts/row.h:12), called from kernel (kernel.cc:30), called from "
            "std::vector<int>::at(unsigned long) (stl_vector.h:1043)");
}

TEST(SourcePlace, WhatIsNotKnownIsLeftOut) {
  auto places = parse_addr2line("0x1\n??\n??:0\n0x2\nkernel\n??:?\n", kProgram);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(to_text(places), "in kernel");
  EXPECT_EQ(to_text(parse_addr2line("", kProgram)), "");
}

TEST(SourcePlace, HostileTextStaysText) {
  std::string text = "0x1\n\x1b[2Jevil\n/x/kernel.cc:99999999999999999999\n";
  auto places = parse_addr2line(text, kProgram);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(to_text(places), "in \\x1b[2Jevil");
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "f\nkernel.cc:1\n";
  EXPECT_LE(parse_addr2line(many, kProgram).size(), 8u);
}

}  // namespace
}  // namespace kforge
