#include "mcp/letters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "generate/reply.h"

namespace kforge::mcp {
namespace {

using testing::HasSubstr;

class McpLetters : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomic(folder_.path() / name, text));
  }
  TempDir folder_ = *TempDir::create();
  Letters letters_{folder_.path()};
};

TEST_F(McpLetters, TheNewestQuestionIsOpenUntilItHasAReply) {
  EXPECT_FALSE(Letters(folder_.path() / "none").open());
  EXPECT_FALSE(letters_.open());
  write("generator-2-0.prompt.md", "first");
  write("generator-10-0.prompt.md", "---- system ----\n\nx\n\n---- user ----\n\nlast\n");
  write("analyst-11-0.prompt.md", "not ours");
  write("generator-x.prompt.md", "no number");
  auto open = letters_.open();
  ASSERT_TRUE(open);
  EXPECT_EQ(open->attempt, 10);
  EXPECT_EQ(letters_.text_of(*open), "last");
  ASSERT_TRUE(letters_.answer(*open, "reply"));
  EXPECT_FALSE(letters_.open());
  EXPECT_FALSE(letters_.answer(*open, "again"));
  // What was not taken is asked for once more.
  write("generator-10-1.prompt.md", "again");
  EXPECT_EQ(letters_.open()->ordinal, 1);
}

TEST(McpReply, IsReadAsTheProgramThatWasSent) {
  const std::string source = "// ````\nextern \"C\" void kernel(const float* x, float* y) { *y = *x; }";
  const std::string reply = reply_with({{"kernel.cc", source}, {"part.h", "#pragma once\n"}}, "a\nb", true);
  ReplyRules rules;
  rules.extensions = {".cc", ".h"};
  rules.entries = {"kernel"};
  const ParsedReply parsed = parse_reply(reply, rules);
  ASSERT_TRUE(parsed.program) << reply;
  ASSERT_EQ(parsed.program->files.size(), 2u);
  EXPECT_EQ(parsed.program->files[0].content, source + "\n");
  EXPECT_EQ(parsed.change, "a b");
  EXPECT_EQ(parsed.followed_advice, true);
  EXPECT_THAT(parsed.remarks, testing::IsEmpty());
}

}  // namespace
}  // namespace kforge::mcp
