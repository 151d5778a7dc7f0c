#include "base/text.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(Text, IsTrimmedAtBothEnds) {
  EXPECT_EQ(trimmed(" \t a b\r\n"), "a b");
  EXPECT_EQ(trimmed(" \n"), "");
  EXPECT_EQ(trimmed(""), "");
}

TEST(Text, LowerCaseLeavesOtherBytes) { EXPECT_EQ(lower_case("AbZ-9\xC3\x84"), "abz-9\xC3\x84"); }

TEST(Text, LinesEndAtLineFeeds) {
  EXPECT_EQ(lines_of("a\n\nb"), (std::vector<std::string_view>{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\n"), (std::vector<std::string_view>{"a"}));
  EXPECT_TRUE(lines_of("").empty());
}

TEST(Text, CodePointsAreThoseOfValidUtf8) {
  EXPECT_EQ(first_code_point("a").value, 'a');
  EXPECT_EQ(first_code_point("\xE2\x82\xAC").value, 0x20ACu);
  EXPECT_EQ(first_code_point("\xF0\x9F\x98\x80").bytes, 4u);
  for (const char* bad :
       {"\x80", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF"})
    EXPECT_EQ(first_code_point(bad).bytes, 0u) << bad;
}

TEST(Text, InvalidUtf8IsReplacedAndNulGoes) {
  EXPECT_EQ(valid_utf8(std::string_view("a\0b\xFF\xC3\xA9", 6)), "ab\xEF\xBF\xBD\xC3\xA9");
}

TEST(Text, PrintableShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\n\tb\x1b[31m"), "a\n\tb\\x1b[31m");
  EXPECT_EQ(printable("\xC3\xA9\xFF\x7F\r"), "\xC3\xA9\\xff\\x7f\\x0d");
}

TEST(Text, PartsBetweenSeparators) {
  EXPECT_EQ(parts_of("ij,jk", ','), (std::vector<std::string>{"ij", "jk"}));
  EXPECT_EQ(parts_of(",a,", ','), (std::vector<std::string>{"", "a", ""}));
  EXPECT_EQ(parts_of("", ','), std::vector<std::string>{""});
}

}  // namespace
}  // namespace kforge
