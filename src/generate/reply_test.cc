#include "generate/reply.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "generate/elision.h"
#include "generate/quote.h"
#include "generate/reply_blocks.h"

namespace kforge {
namespace {

using testing::HasSubstr;

const std::string kProgram =
    "#include \"task.h\"\nextern \"C\" void kernel(const float* x, float* y) {\n  y[0] = x[0];\n}\n";

ReplyRules rules() { return {.extensions = {".cc", ".cpp", ".h"}, .entries = {"kernel", "kernel_prepared"}}; }

std::string block(const std::string& info, const std::string& code, int fence = 4) {
  std::string f(static_cast<std::size_t>(fence), '`');
  return f + info + "\n" + code + f + "\n";
}

TEST(Reply, WholeFileInTheFormAskedFor) {
  ParsedReply reply =
      parse_reply("CHANGE: copy one element\nBecause.\n\n" + block("cpp path=kernel.cc", kProgram), rules());
  ASSERT_TRUE(reply.program) << reply.program.error().reason;
  ASSERT_EQ(reply.program->files.size(), 1u);
  EXPECT_EQ(reply.program->files[0].name, "kernel.cc");
  EXPECT_EQ(reply.program->files[0].content, kProgram);
  EXPECT_EQ(reply.status, ReplyStatus::kOk);
  EXPECT_EQ(reply.change, "copy one element");
}

TEST(Reply, NamesAreFoundWhereverModelsPutThem) {
  for (std::string info : {"cpp path=kernel.cc", "cpp kernel.cc", "cpp:kernel.cc", "cpp title=\"kernel.cc\"",
                           "c++ filename=./kernel.cc", "kernel.cc"}) {
    ParsedReply reply = parse_reply(block(info, kProgram, 3), rules());
    ASSERT_TRUE(reply.program) << info;
    EXPECT_EQ(reply.program->files[0].name, "kernel.cc") << info;
  }
  ParsedReply titled = parse_reply("**mine.cc**\n\n" + block("cpp", kProgram, 3), rules());
  ASSERT_TRUE(titled.program);
  EXPECT_EQ(titled.program->files[0].name, "mine.cc");
  ParsedReply commented = parse_reply(block("cpp", "// mine.cc\n" + kProgram, 3), rules());
  ASSERT_TRUE(commented.program);
  EXPECT_EQ(commented.program->files[0].name, "mine.cc");
  ParsedReply unnamed = parse_reply(block("cpp", kProgram, 3), rules());
  ASSERT_TRUE(unnamed.program);
  EXPECT_EQ(unnamed.program->files[0].name, "kernel.cc");
}

TEST(Reply, TheLastCompleteDraftCounts) {
  std::string draft = "extern \"C\" void kernel(const float* x, float* y) { y[0] = 1; }\n";
  ParsedReply reply =
      parse_reply("First idea:\n" + block("cpp", draft, 3) + "Better:\n" + block("cpp", kProgram, 3) +
                      "Use it like this:\n" + block("sh", "kforge eval kernel(\n", 3),
                  rules());
  ASSERT_TRUE(reply.program);
  EXPECT_EQ(reply.program->files[0].content, kProgram);
  EXPECT_EQ(reply.status, ReplyStatus::kRepaired);
}

TEST(Reply, FencesInsideTheProgramAreContent) {
  std::string code = "/* usage:\n```\nkernel(x, y)\n```\n*/\n" + kProgram;
  ParsedReply four = parse_reply(block("cpp path=kernel.cc", code), rules());
  ASSERT_TRUE(four.program);
  EXPECT_EQ(four.program->files[0].content, code);
  std::string tagged = "/* usage:\n```cpp\nkernel(x, y);\n```\n*/\n" + kProgram;
  ParsedReply three = parse_reply(block("cpp path=kernel.cc", tagged, 3), rules());
  ASSERT_TRUE(three.program);
  EXPECT_EQ(three.program->files[0].content, tagged);
}

TEST(Reply, AnswerWrappedInMarkdown) {
  ParsedReply reply = parse_reply("````markdown\nHere it is\n```cpp\n" + kProgram + "```\n````\n", rules());
  ASSERT_TRUE(reply.program) << reply.program.error().reason;
  EXPECT_EQ(reply.program->files[0].content, kProgram);
}

TEST(Reply, UnclosedFence) {
  std::string text = "CHANGE: x\n````cpp path=kernel.cc\n" + kProgram;
  ParsedReply complete = parse_reply(text, rules());
  ASSERT_TRUE(complete.program);
  EXPECT_EQ(complete.status, ReplyStatus::kRepaired);
  ReplyRules cut = rules();
  cut.truncated = true;
  ParsedReply truncated = parse_reply(text, cut);
  ASSERT_FALSE(truncated.program);
  EXPECT_EQ(truncated.status, ReplyStatus::kTruncated);
}

TEST(Reply, AnUnclosedDraftDoesNotSwallowTheProgram) {
  ParsedReply reply =
      parse_reply("```cpp\nint draft;\n```cpp path=kernel.cc\n" + kProgram + "```\n", rules());
  ASSERT_TRUE(reply.program);
  EXPECT_EQ(reply.program->files[0].content, kProgram);
}

TEST(Reply, SeveralFilesMainFirst) {
  std::string main = "#include \"task.h\"\n#include \"tile.h\"\n" + kProgram;
  ParsedReply reply = parse_reply(
      block("cpp path=tile.h", "#pragma once\nint tile;\n") + block("cpp path=kernel.cc", main), rules());
  ASSERT_TRUE(reply.program);
  ASSERT_EQ(reply.program->files.size(), 2u);
  EXPECT_EQ(reply.program->files[0].name, "kernel.cc");
  EXPECT_EQ(reply.program->files[1].name, "tile.h");
}

TEST(Reply, AHeaderThatIsStillIncludedIsKept) {
  Candidate base{{{"kernel.cc", "#include \"tile.h\"\n" + kProgram}, {"tile.h", "int tile;\n"}}, ""};
  ReplyRules r = rules();
  r.base = &base;
  ParsedReply reply =
      parse_reply(block("cpp path=kernel.cc", "#include \"tile.h\"\n// other\n" + kProgram), r);
  ASSERT_TRUE(reply.program);
  ASSERT_EQ(reply.program->files.size(), 2u);
  EXPECT_EQ(reply.program->files[1].content, "int tile;\n");
}

TEST(Reply, NothingLeavesTheFolder) {
  for (std::string name : {"../kernel.cc", "/etc/kernel.cc", "a/../../kernel.cc"}) {
    ParsedReply reply = parse_reply(block("cpp path=" + name, kProgram), rules());
    ASSERT_FALSE(reply.program) << name;
    EXPECT_THAT(reply.program.error().reason, HasSubstr("outside"));
  }
}

TEST(Reply, TaskHeaderIsOurs) {
  ParsedReply reply =
      parse_reply(block("cpp path=task.h", "evil\n") + block("cpp path=kernel.cc", kProgram), rules());
  ASSERT_TRUE(reply.program);
  EXPECT_EQ(reply.program->files.size(), 1u);
}

TEST(Reply, ThinkingIsNotTheAnswer) {
  ParsedReply reply = parse_reply("<think>\n" + block("cpp", "extern \"C\" void kernel(int) {}\n") +
                                      "</think>\n" + block("cpp", kProgram),
                                  rules());
  ASSERT_TRUE(reply.program);
  EXPECT_EQ(reply.program->files[0].content, kProgram);
  EXPECT_EQ(reply.status, ReplyStatus::kOk);
}

TEST(Reply, BareCodeAndNoCode) {
  ParsedReply bare = parse_reply(kProgram, rules());
  ASSERT_TRUE(bare.program);
  ParsedReply prose = parse_reply("I would tile the kernel(x) loops.", rules());
  ASSERT_FALSE(prose.program);
  EXPECT_EQ(prose.status, ReplyStatus::kNoCode);
  EXPECT_THAT(prose.program.error().reason, HasSubstr("four backticks"));
  ParsedReply other = parse_reply(block("cpp", "int helper(int);\n"), rules());
  ASSERT_FALSE(other.program);
  EXPECT_THAT(other.program.error().reason, HasSubstr("kernel"));
}

TEST(Reply, ElidedProgramsAreRefused) {
  ParsedReply reply = parse_reply(block("cpp path=kernel.cc", kProgram + "// ... rest unchanged\n"), rules());
  ASSERT_FALSE(reply.program);
  EXPECT_EQ(reply.status, ReplyStatus::kElided);
  EXPECT_THAT(reply.program.error().reason, HasSubstr("line 5"));
  EXPECT_FALSE(
      elided_line("// rows 0 ... n-1 are ours\ntemplate <class... T> void f(T...);\n// the layout is the "
                  "same as in the packed case\n"));
  EXPECT_TRUE(elided_line("  /* ... existing code ... */\n"));
  EXPECT_TRUE(elided_line("// ...\n"));
}

TEST(Reply, UnchangedProgramsAreNoProgress) {
  Candidate base{{{"kernel.cc", kProgram}}, ""};
  ReplyRules r = rules();
  r.known = {{&base, 4}};
  ParsedReply reply = parse_reply(block("cpp path=kernel.cc", "\n" + kProgram + "\n"), r);
  ASSERT_FALSE(reply.program);
  EXPECT_EQ(reply.status, ReplyStatus::kUnchanged);
  EXPECT_THAT(reply.program.error().reason, HasSubstr("the program of attempt 4"));
}

TEST(Reply, DiffsAreNotGuessedAt) {
  ParsedReply reply = parse_reply(
      block("diff", "--- a/kernel.cc\n+++ b/kernel.cc\n@@ -1 +1 @@\n-kernel(x)\n+kernel(y)\n", 3), rules());
  ASSERT_FALSE(reply.program);
  EXPECT_THAT(reply.program.error().reason, HasSubstr("diff"));
}

TEST(Reply, HtmlEntitiesAreUndone) {
  ParsedReply reply = parse_reply(
      block("cpp", "#include &lt;cmath&gt;\nextern &quot;C&quot; void kernel(int a) { a &amp;= 1; }\n"),
      rules());
  ASSERT_TRUE(reply.program);
  EXPECT_EQ(reply.program->files[0].content,
            "#include <cmath>\nextern \"C\" void kernel(int a) { a &= 1; }\n");
}

TEST(Reply, CarriageReturnsZeroBytesAndBadUtf8) {
  std::string text = "\xEF\xBB\xBF````cpp path=kernel.cc\r\n// \xC3\x28 \xFF\xFE caf\xC3\xA9\r\n" + kProgram +
                     std::string(1, '\0') + "````\r\n";
  ParsedReply reply = parse_reply(text, rules());
  ASSERT_TRUE(reply.program) << reply.program.error().reason;
  const std::string& code = reply.program->files[0].content;
  EXPECT_EQ(code.find('\r'), std::string::npos);
  EXPECT_EQ(code.find('\0'), std::string::npos);
  EXPECT_THAT(code, HasSubstr("\xEF\xBF\xBD"));
  EXPECT_THAT(code, HasSubstr("caf\xC3\xA9"));
}

TEST(Reply, FiftyMegabytesAreRefusedAtOnce) {
  std::string huge(50 << 20, 'x');
  ParsedReply reply = parse_reply(huge, rules());
  ASSERT_FALSE(reply.program);
  EXPECT_THAT(reply.program.error().reason, HasSubstr("52428800 bytes"));
}

TEST(Reply, LargeRepliesMadeToBeSlow) {
  std::string fences, nested, names;
  for (int i = 0; i < 300'000; ++i) fences += "```\n";
  for (int i = 0; i < 300'000; ++i) nested += "```cpp\n";
  for (int i = 0; i < 300'000; ++i) names += "kernel \n";
  EXPECT_FALSE(parse_reply(fences, rules()).program);
  EXPECT_FALSE(parse_reply(nested, rules()).program);
  EXPECT_FALSE(parse_reply("```cpp\n" + names + "```\n", rules()).program);
  std::string big = block("cpp path=kernel.cc", kProgram + std::string(5 << 20, ' ') + "\n");
  ParsedReply reply = parse_reply(big, rules());
  ASSERT_FALSE(reply.program);
  EXPECT_THAT(reply.program.error().reason, HasSubstr("4 MiB"));
}

// Pieces that mean something to the parser, in every order: it must answer, and never with a program that
// breaks its own rules.
TEST(Reply, RandomReplies) {
  const std::string pieces[] = {"```",
                                "````",
                                "~~~",
                                "cpp",
                                " path=kernel.cc",
                                " path=../x.cc",
                                "\n",
                                "\n\n",
                                kProgram,
                                "kernel(",
                                "<<<<<<< SEARCH\n",
                                "=======\n",
                                ">>>>>>> REPLACE\n",
                                "y[0] = x[0];",
                                "</think>",
                                "CHANGE: a",
                                "markdown",
                                "\xFF",
                                "\r\n",
                                "// ...",
                                "&lt;&lt;",
                                "task.h",
                                "    ",
                                "\x1b[31m"};
  Candidate base{{{"kernel.cc", kProgram}}, ""};
  std::mt19937 random(7);
  int programs = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (int i = 0, n = static_cast<int>(random() % 14); i < n; ++i)
      text += pieces[random() % std::size(pieces)];
    ReplyRules r = rules();
    if (random() % 2) r.base = &base;
    r.truncated = random() % 4 == 0;
    ParsedReply reply = parse_reply(text, r);
    ASSERT_EQ(reply.program.has_value(),
              reply.status == ReplyStatus::kOk || reply.status == ReplyStatus::kRepaired);
    if (!reply.program) {
      ASSERT_FALSE(reply.program.error().reason.empty());
      continue;
    }
    ++programs;
    for (const SourceFile& file : reply.program->files) {
      ASSERT_TRUE(good_source_name(file.name)) << file.name;
      ASSERT_NE(file.name, "task.h");
    }
  }
  EXPECT_GT(programs, 100);
}

// --- edits
// ---------------------------------------------------------------------------------------------------

class Edits : public testing::Test {
 protected:
  ParsedReply reply(const std::string& edits) {
    ReplyRules r = rules();
    r.base = &base_;
    return parse_reply("CHANGE: e\n" + block("edit path=kernel.cc", edits), r);
  }
  Candidate base_{{{"kernel.cc",
                    "#include \"task.h\"\nvoid f() {\n  g();\n}\nextern \"C\" void kernel(float* y) {\n  "
                    "f();\n  g();\n}\n"}},
                  ""};
};

TEST_F(Edits, Apply) {
  ParsedReply r = reply("<<<<<<< SEARCH\n  f();\n=======\n  f2();\n  f3();\n>>>>>>> REPLACE\n");
  ASSERT_TRUE(r.program) << r.program.error().reason;
  EXPECT_THAT(r.program->files[0].content, HasSubstr("{\n  f2();\n  f3();\n  g();\n}\n"));
}

TEST_F(Edits, IndentationMayDiffer) {
  ParsedReply r = reply("<<<<<<< SEARCH\nf();\n=======\nif (true) {\n  f2();\n}\n>>>>>>> REPLACE\n");
  ASSERT_TRUE(r.program) << r.program.error().reason;
  EXPECT_THAT(r.program->files[0].content, HasSubstr("{\n  if (true) {\n    f2();\n  }\n  g();\n}\n"));
}

TEST_F(Edits, AmbiguousOrMissingPlacesAreNamed) {
  ParsedReply twice = reply("<<<<<<< SEARCH\n  g();\n=======\n  h();\n>>>>>>> REPLACE\n");
  ASSERT_FALSE(twice.program);
  EXPECT_EQ(twice.status, ReplyStatus::kEditMismatch);
  EXPECT_THAT(twice.program.error().reason, HasSubstr("more than one place"));
  ParsedReply none = reply("<<<<<<< SEARCH\nvoid f() {\n  q();\n}\n=======\n>>>>>>> REPLACE\n");
  ASSERT_FALSE(none.program);
  EXPECT_THAT(none.program.error().reason, HasSubstr("most similar place, from line 2"));
}

TEST_F(Edits, AllOrNothing) {
  ParsedReply r = reply(
      "<<<<<<< SEARCH\n  f();\n=======\n  f2();\n>>>>>>> REPLACE\n<<<<<<< SEARCH\n  "
      "nowhere();\n=======\n>>>>>>> REPLACE\n");
  EXPECT_FALSE(r.program);
}

TEST_F(Edits, BrokenMarkers) {
  EXPECT_FALSE(reply("<<<<<<< SEARCH\n  f();\n=======\n  f2();\n").program);
  EXPECT_FALSE(reply("<<<<<<< SEARCH\n  f();\n").program);
  EXPECT_FALSE(reply("<<<<<<< SEARCH\n=======\n  f2();\n>>>>>>> REPLACE\n").program);
}

TEST_F(Edits, AWholeFileBesidesThemWins) {
  ReplyRules r = rules();
  r.base = &base_;
  ParsedReply reply =
      parse_reply(block("edit path=kernel.cc", "<<<<<<< SEARCH\n  nowhere();\n=======\n>>>>>>> REPLACE\n") +
                      block("cpp path=kernel.cc", kProgram),
                  r);
  ASSERT_TRUE(reply.program);
  EXPECT_EQ(reply.program->files[0].content, kProgram);
}

TEST_F(Edits, WithoutAProgramToChange) {
  ParsedReply reply = parse_reply(
      block("edit path=kernel.cc", "<<<<<<< SEARCH\n  f();\n=======\n>>>>>>> REPLACE\n"), rules());
  ASSERT_FALSE(reply.program);
  EXPECT_EQ(reply.status, ReplyStatus::kEditMismatch);
}

TEST(EditSearch, RepetitiveFilesAreSearchedInLinearTime) {
  std::string lines, half;
  for (int i = 0; i < 100'000; ++i) lines += "  a;\n";
  for (int i = 0; i < 50'000; ++i) half += "  a;\n";
  Candidate base{{{"kernel.cc", lines}}, ""};
  ReplyRules r = rules();
  r.base = &base;
  ParsedReply reply = parse_reply(
      block("edit path=kernel.cc", "<<<<<<< SEARCH\n" + half + "  b;\n=======\n>>>>>>> REPLACE\n"), r);
  EXPECT_FALSE(reply.program);
}

// --- quoting
// -------------------------------------------------------------------------------------------------

TEST(Quote, FencesAreLongerThanAnyInside) {
  EXPECT_EQ(fenced("a"), "```\na\n```\n");
  EXPECT_EQ(fenced("x ```` y", "cpp"), "`````cpp\nx ```` y\n`````\n");
}

TEST(Quote, CleanText) {
  EXPECT_EQ(clean_text("a\x1b[31mred\x1b[0m\r\nb\rc\x07"), "ared\nb\nc");
  EXPECT_EQ(clean_text("\xE2\x80\xAE"
                       "abc\xE2\x80\x8B"),
            "abc");
  EXPECT_EQ(clean_text("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(clean_text("\x1b"), "");
}

TEST(Quote, Shorten) {
  EXPECT_EQ(shorten("abc\ndef\n", 100), "abc\ndef\n");
  EXPECT_EQ(shorten("abc\ndef\n", 5), "abc\n[... 4 more bytes left out]\n");
  EXPECT_EQ(single_line("  a \n\t b  "), "a b");
  EXPECT_EQ(single_line(std::string(300, 'x'), 10), "xxxxxxx...");
}

TEST(ReplyAdvice, IsFollowedOnlyWhereTheModelSaysSo) {
  auto followed = [](const std::string& line) {
    return parse_reply("CHANGE: a\n" + line + block("cpp path=kernel.cc", kProgram), rules()).followed_advice;
  };
  EXPECT_EQ(followed("FOLLOWED: yes\n"), true);
  EXPECT_EQ(followed("**Followed:** Yes, but only for the inner loop\n"), true);
  EXPECT_EQ(followed("FOLLOWED: no, it has that already\n"), false);
  EXPECT_EQ(followed(""), std::nullopt) << "silence is no consent";
  EXPECT_EQ(followed("FOLLOWED: yes|no\n"), true);
  EXPECT_EQ(parse_reply("FOLLOWED: no\nUnroll.\n" + block("cpp path=kernel.cc", kProgram), rules()).change,
            "Unroll.");
}

TEST(Reply, AFenceClosedByAShorterOneEndsThere) {
  ParsedReply reply = parse_reply(
      "CHANGE: x\n````cpp path=kernel.cc\n" + kProgram + "```\n\nThis should be faster.\n", rules());
  ASSERT_TRUE(reply.program);
  EXPECT_EQ(reply.program->files[0].content, kProgram);
  EXPECT_EQ(reply.status, ReplyStatus::kRepaired);
}

TEST(Reply, AnUnclosedFenceIsNamed) {
  ParsedReply taken =
      parse_reply("CHANGE: x\n\n````cpp path=kernel.cc\n" + kProgram + "It is fast.\n", rules());
  ASSERT_TRUE(taken.program);
  ASSERT_EQ(taken.remarks.size(), 1u);
  EXPECT_THAT(taken.remarks[0], HasSubstr("kernel.cc, opened in line 3 of the reply, was never closed"));
  ParsedReply none = parse_reply("CHANGE: x\n````cpp path=other.h\nint a;\n", rules());
  ASSERT_FALSE(none.program);
  EXPECT_THAT(none.program.error().reason,
              HasSubstr("The fence opened in line 2 (`cpp path=other.h`) was never closed"));
}

}  // namespace
}  // namespace kforge
