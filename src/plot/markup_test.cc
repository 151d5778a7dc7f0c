#include "plot/markup.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

TEST(Markup, WhatABrowserWouldReadIsEscaped) {
  EXPECT_EQ(escaped("<script>alert('a' & \"b\")</script>"),
            "&lt;script&gt;alert(&#39;a&#39; &amp; &quot;b&quot;)&lt;/script&gt;");
  EXPECT_EQ(escaped("a\tb\nc"), "a\tb\nc");
  EXPECT_EQ(escaped("gr\u00f6\u00dfer"), "gr\u00f6\u00dfer");
}

TEST(Markup, WhatCannotBeSeenIsShown) {
  EXPECT_EQ(escaped(std::string_view("a\0b\x1b[0m\r", 8)), "a\\x00b\\x1b[0m\\x0d");
  EXPECT_EQ(escaped("\xff<"), "\\xff&lt;");
  EXPECT_EQ(escaped("\u0085"), "\\x85");
  EXPECT_EQ(escaped("if (a) /* \u202e */"), "if (a) /* \\u202e */") << "it would turn the rest of the line";
  EXPECT_EQ(escaped("\uffff\u2066"), "\\uffff\\u2066");
}

TEST(Markup, CutsBetweenCharacters) {
  EXPECT_EQ(whole_characters("a\u00f6b", 2), "a");
  EXPECT_EQ(whole_characters("a\u00f6b", 3), "a\u00f6");
  EXPECT_EQ(whole_characters("ab", 5), "ab");
  EXPECT_EQ(shortened("a\u00f6b", 3), "a\u00f6b");
  EXPECT_EQ(shortened("a\u00f6bc", 3), "a\u00f6\u2026");
  EXPECT_EQ(shortened("abc", 0), "");
}

}  // namespace
}  // namespace kforge
