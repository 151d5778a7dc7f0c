// Bytes into text, and two parts of a reply into one.
#include <gtest/gtest.h>

#include "llm/continue_reply.h"
#include "llm/text_safety.h"

namespace kforge {
namespace {

TEST(ValidUtf8, KeepsWhatIsValidAndReplacesTheRest) {
  EXPECT_EQ(valid_utf8("Grüße 🙂 \n\t"), "Grüße 🙂 \n\t");
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(valid_utf8("a\xff"
                       "b"),
            "a" + bad + "b");
  EXPECT_EQ(valid_utf8("\xC0\x80"), bad + bad) << "overlong";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), bad + bad + bad) << "surrogate";
  EXPECT_EQ(valid_utf8("\xF4\x90\x80\x80"), bad + bad + bad + bad) << "beyond the last";
  EXPECT_EQ(valid_utf8("x\xE2\x82"), "x" + bad + bad) << "cut off";
  EXPECT_EQ(valid_utf8(std::string_view("a\0b", 3)), "ab");
}

TEST(Base64, AllLengths) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64(std::string("\xff\0", 2)), "/wA=");
}

TEST(OneLine, IsShortCleanAndWholeCharacters) {
  EXPECT_EQ(safe_line("a\nb\tc\x1b"), "a b c ");
  EXPECT_EQ(safe_line("äää", 3), "ä...");
}

TEST(JoinReply, WhatIsRepeatedIsTakenOnce) {
  EXPECT_EQ(join_reply("for (int i = 0; i < n; ++i) {", "int i = 0; i < n; ++i) { y[i] = 0; }"),
            "for (int i = 0; i < n; ++i) { y[i] = 0; }");
  EXPECT_EQ(join_reply("int x = 1", "1;"), "int x = 11;") << "too little to be a repetition";
}

TEST(JoinReply, AFenceOpenedAgainIsDroppedAClosingOneStays) {
  EXPECT_EQ(join_reply("```cpp\nint a", "```cpp\nint b;\n```"), "```cpp\nint aint b;\n```");
  EXPECT_EQ(join_reply("```cpp\nint a;\n", "```\nDone."), "```cpp\nint a;\n```\nDone.");
  EXPECT_EQ(join_reply("Two blocks:\n", "```cpp\nx\n```"), "Two blocks:\n```cpp\nx\n```");
  EXPECT_EQ(join_reply("", ""), "");
}

TEST(Remedies, EveryEndHasOne) {
  EXPECT_EQ(remedy_of(ReplyEnd::kTruncated), Remedy::kContinue);
  EXPECT_EQ(remedy_of(ReplyEnd::kContextOverflow), Remedy::kShrinkHistory);
  EXPECT_EQ(remedy_of(ReplyEnd::kRefused), Remedy::kFallBack);
  EXPECT_EQ(name_of(remedy_of(ReplyEnd::kCut)), "ask_again");
  EXPECT_EQ(name_of(ReplyEnd::kContextOverflow), "context_overflow");
}

}  // namespace
}  // namespace kforge
