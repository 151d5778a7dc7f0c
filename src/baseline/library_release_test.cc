#include "baseline/library_release.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

constexpr auto kToday = std::chrono::year(2026) / 11;

TEST(LibraryRelease, OldIsMoreThanTwoYears) {
  LibraryRelease debian = library_release("torch", "1.13.0a0+gitunknown", kToday);
  EXPECT_EQ(debian.released, "2022-10");
  EXPECT_TRUE(debian.old);
  EXPECT_EQ(to_string("torch", debian), "torch 1.13.0a0+gitunknown (2022-10: old)");
  EXPECT_TRUE(library_release("torch", "2.5.1", kToday).old) << "25 months";
  EXPECT_FALSE(library_release("onnxruntime", "1.20.1", kToday).old) << "24 months";
  EXPECT_FALSE(library_release("torch", "1.13.1", std::chrono::year(2023) / 1).old);
}

TEST(LibraryRelease, VersionsOutsideOfTheTable) {
  LibraryRelease newer = library_release("torch", "2.15.0+cu132", kToday);
  EXPECT_EQ(newer.released, "");
  EXPECT_FALSE(newer.old);
  EXPECT_EQ(to_string("torch", newer), "torch 2.15.0+cu132");
  LibraryRelease before = library_release("torch", "1.9.1", kToday);
  EXPECT_EQ(before.released, "before 2022-10");
  EXPECT_TRUE(before.old);
  EXPECT_FALSE(library_release("torch", "unknown", kToday).old);
  EXPECT_FALSE(library_release("somebody's", "0.1", kToday).old);
}

TEST(LibraryRelease, OpenVinoSaysItsYear) {
  EXPECT_FALSE(library_release("openvino", "2026.4.1", kToday).old);
  EXPECT_FALSE(library_release("openvino", "2024.6.0", kToday).old) << "it may be of December";
  EXPECT_TRUE(library_release("openvino", "2023.3.0", kToday).old);
}

}  // namespace
}  // namespace kforge
