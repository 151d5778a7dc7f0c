#include "report/line_diff.h"

#include <gmock/gmock.h>

#include <string>

#include "base/text.h"
#include "report/highlight.h"

namespace kforge {
namespace {

// "-b", "+x", " a", "~3" for three lines left out.
std::string told(std::string_view before, std::string_view after, std::size_t context = 1) {
  auto lines = line_diff(before, after, context);
  if (!lines) return "rewritten";
  std::string text;
  for (const DiffLine& line : *lines)
    if (line.kind == DiffLine::Kind::kSkipped)
      text += "~" + std::to_string(line.skipped) + ";";
    else
      text += std::string(1, " +-"[static_cast<std::size_t>(line.kind)]) + std::string(line.text) + ";";
  return text;
}

TEST(LineDiff, ShowsWhatChangedWithItsNeighbours) {
  EXPECT_EQ(told("a\nb\nc\nd\ne\n", "a\nb\nx\nd\ne\n"), "~1; b;-c;+x; d;~1;");
  EXPECT_EQ(told("a\nb\n", "a\nb\nc\n"), "~1; b;+c;");
  EXPECT_EQ(told("a\nb\nc\n", "b\nc\n"), "-a; b;~1;");
  EXPECT_EQ(told("a\n", "a\n"), "~1;");
  EXPECT_EQ(told("", "a\nb\n"), "+a;+b;");
  EXPECT_EQ(told("a\n", ""), "-a;");
  EXPECT_EQ(told("", ""), "");
}

TEST(LineDiff, IsTheShortest) {
  EXPECT_EQ(told("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", 9), "-a;-b; c;+b; a; b;-b; a;+c;");
}

// Taking the removed lines from the old text and the added ones to it gives the new text.
TEST(LineDiff, LosesNothing) {
  unsigned state = 7;
  for (int round = 0; round < 300; ++round) {
    std::string before, after;
    for (int i = 0; i < 40; ++i) {
      state = state * 1664525 + 1013904223;
      std::string line = std::to_string(state >> 30) + "\n";
      if ((state >> 8) % 4 != 0) before += line;
      if ((state >> 16) % 4 != 0) after += line;
    }
    auto lines = line_diff(before, after, 1000);
    ASSERT_TRUE(lines);
    std::string old_text, new_text;
    for (const DiffLine& line : *lines) {
      if (line.kind != DiffLine::Kind::kAdded) old_text += std::string(line.text) + "\n";
      if (line.kind != DiffLine::Kind::kRemoved) new_text += std::string(line.text) + "\n";
    }
    EXPECT_EQ(old_text, before);
    EXPECT_EQ(new_text, after);
  }
}

TEST(LineDiff, ProgramsWithNothingInCommonAreNotListedTwice) {
  std::string before, after;
  for (int i = 0; i < 5000; ++i) {
    before += "a" + std::to_string(i) + "\n";
    after += "b" + std::to_string(i) + "\n";
  }
  EXPECT_EQ(told(before, after), "rewritten");
}

TEST(LineDiff, MarkupIsEscapedAndBounded) {
  std::string text = diff_markup(*line_diff("same\n<script>\n", "same\n<b>&\n"), 10'000).text;
  EXPECT_EQ(text,
            "<span class=\"l\">  same</span>\n<span class=\"l removed\">- &lt;script&gt;</span>\n"
            "<span class=\"l added\">+ &lt;b&gt;&amp;</span>\n");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += std::to_string(i) + "\n";
  EXPECT_LT(diff_markup(*line_diff("", many), 2'000).text.size(), 2'200u);
}

}  // namespace
}  // namespace kforge
