#include "report/highlight.h"

#include <gmock/gmock.h>

namespace kforge {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string html(std::string_view source, std::string_view comment = "//") {
  return highlighted(source, comment, 100'000).text;
}

TEST(Highlight, KnowsThePartsOfAProgram) {
  std::string text =
      html("#include <x>\nint f = 0x1fu; // why\nauto s = \"a\\\"b\" + 'c'; /* d */ foo2(1e-5f);\n");
  for (const char* part :
       {"<span class=\"directive\">#include &lt;x&gt;</span>", "<span class=\"keyword\">int</span>",
        "<span class=\"literal\">0x1fu</span>", "<span class=\"comment\">// why</span>",
        "<span class=\"string\">&quot;a\\&quot;b&quot;</span>", "<span class=\"string\">&#39;c&#39;</span>",
        "<span class=\"comment\">/* d */</span>", "foo2(", "<span class=\"literal\">1e-5f</span>"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(Highlight, PiecesOverSeveralLinesAreClosedOnEach) {
  EXPECT_EQ(html("/* a\nb */\n"),
            "<span class=\"l\"><span class=\"comment\">/* a</span></span>\n"
            "<span class=\"l\"><span class=\"comment\">b */</span></span>\n");
  EXPECT_THAT(html("auto r = R\"x(a\n\")x\" + b;"),
              HasSubstr("<span class=\"string\">&quot;)x&quot;</span> + b;"));
}

TEST(Highlight, OtherLanguagesHaveOtherComments) {
  EXPECT_THAT(html("# note\nx = 1 // 2\n", "#"), HasSubstr("<span class=\"comment\"># note</span>"));
  EXPECT_THAT(html("# note\nx = 1 // 2\n", "#"), Not(HasSubstr("<span class=\"comment\">//")));
  EXPECT_THAT(html("real :: x ! note\n", "!"), HasSubstr("<span class=\"comment\">! note</span>"));
}

TEST(Highlight, HostileSourceStaysText) {
  for (const char* source :
       {"// <script>alert(1)</script>", "\"<script>", "R\"(<script>", "'<script>", "#<script>", "/*<script>",
        "<script>", "1'<script>", "R\"aaaaaaaaaaaaaaaaaaaaaaaa(<script>"})
    for (const char* comment : {"//", "#", "!", ""})
      EXPECT_THAT(html(source, comment), Not(HasSubstr("<script"))) << source;
  EXPECT_THAT(html("a\x01\xff"), HasSubstr("a\\x01\\xff"));
}

TEST(Highlight, LongSourceIsCutAndSaysSo) {
  std::string source;
  for (int i = 0; i < 1000; ++i) source += "int line;\n";
  std::string text = highlighted(source, "//", 5'000).text;
  EXPECT_LT(text.size(), 6'000u);
  EXPECT_THAT(text, HasSubstr("of 1000 lines left out]"));
  EXPECT_LT(highlighted(std::string(1'000'000, '<'), "//", 5'000).text.size(), 30'000u) << "one long line";
}

}  // namespace
}  // namespace kforge
