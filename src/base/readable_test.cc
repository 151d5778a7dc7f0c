#include "base/readable.h"

#include <gtest/gtest.h>

#include "base/subprocess.h"

namespace kforge {
namespace {

TEST(Readable, TimesHaveThreeDigits) {
  EXPECT_EQ(readable_time(812), "812 ns");
  EXPECT_EQ(readable_time(3.42e6), "3.42 ms");
  EXPECT_EQ(readable_time(45.67e3), "45.7 us");
  EXPECT_EQ(readable_time(999.9e3), "1.00 ms");
  EXPECT_EQ(readable_time(1.25e9), "1.25 s");
  EXPECT_EQ(readable_time(0), "0 ns");
}

TEST(Readable, BytesAndCounts) {
  EXPECT_EQ(readable_bytes(64), "64 B");
  EXPECT_EQ(readable_bytes(130e6), "130 MB");
  EXPECT_EQ(readable_count(137.4e9), "137 G");
  EXPECT_EQ(readable_count(12), "12");
}

TEST(Readable, Errors) {
  EXPECT_EQ(readable_error(0), "0");
  EXPECT_EQ(readable_error(3.14e-7), "3.1e-07");
}

TEST(Wrap, BreaksAtSpacesAndKeepsLines) {
  EXPECT_EQ(wrap("one two three", 7), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("a\n\nb", 10), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(wrap("see /a/long/path here", 8), (std::vector<std::string>{"see", "/a/long/path", "here"}));
  EXPECT_EQ(wrap("unbreakable", 4), (std::vector<std::string>{"unbreakable"}));
  EXPECT_EQ(wrap("  indented words", 4), (std::vector<std::string>{"  indented", "words"}));
  EXPECT_TRUE(wrap("", 10).empty());
}

TEST(Table, PadsColumns) {
  EXPECT_EQ(table({{"a", "1"}, {"bbb", "22"}}, "lr"), "a     1\nbbb  22\n");
  EXPECT_EQ(table({{"\xc3\xa9", "x"}, {"bb", "y"}}), "\xc3\xa9   x\nbb  y\n");
}

TEST(FittedTable, FoldsAndBreaksWhatIsTooLong) {
  std::vector<std::vector<std::string>> rows = {{"id", "task", "what"},
                                                {"1", "softmax", "one two three four five"}};
  EXPECT_EQ(fitted_table(rows, "", 0), table(rows));
  EXPECT_EQ(fitted_table(rows, "", 80), table(rows));
  EXPECT_EQ(fitted_table(rows, "", 30),
            "id  task     what\n1   softmax  one two three\n             four five\n");
  EXPECT_EQ(fitted_table(rows, "", 30, 2), "id  task\n    what\n1   softmax\n    one two three four five\n");
}

TEST(WrappedCommand, IsReadAsOneCommandByAShell) {
  std::vector<std::string> words = {"printf", "%s\n", "a b", "it's", "$HOME", "plain-1.0", ""};
  std::vector<std::string> lines = wrapped_command(words, 16);
  EXPECT_GT(lines.size(), 2u);
  std::string script;
  for (const std::string& line : lines) script += line + "\n";
  auto done = run_command({.argv = {"/bin/sh", "-c", script}});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out, "a b\nit's\n$HOME\nplain-1.0\n\n");
}

TEST(Paint, IsNothingWhenOff) {
  EXPECT_EQ(Paint(false).good("x"), "x");
  EXPECT_EQ(Paint(true).bad("x"), "\x1b[31;1mx\x1b[0m");
}

}  // namespace
}  // namespace kforge
