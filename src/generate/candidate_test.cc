#include "generate/candidate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "base/files.h"

namespace kforge {
namespace {

using testing::HasSubstr;
const std::vector<std::string> kExtensions = {".cc", ".cpp", ".h"};

class CandidateTest : public testing::Test {
 protected:
  TempDir dir_ = TempDir::create().value();
  fs::path put(const std::string& name, const std::string& content) {
    fs::path path = dir_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  static Candidate good(const fs::path& path) {
    auto step = read_candidate(path, kExtensions);
    EXPECT_TRUE(step && step->has_value());
    return step && step->has_value() ? **step : Candidate{};
  }
  static std::string refusal(const fs::path& path) {
    auto step = read_candidate(path, kExtensions);
    if (!step) return "error: " + step.error().message;
    if (step->has_value()) return "accepted";
    EXPECT_EQ(outcome_name(step->error()), "no_program");
    return reason_text(step->error());
  }
};

TEST_F(CandidateTest, ReadsOneFile) {
  Candidate candidate = good(put("softmax.cc", "int x;\n"));
  ASSERT_EQ(candidate.files.size(), 1u);
  EXPECT_EQ(candidate.files[0].name, "softmax.cc");
  EXPECT_EQ(candidate.files[0].content, "int x;\n");
  EXPECT_EQ(candidate.origin, "file softmax.cc");
}

TEST_F(CandidateTest, ReadsAFolderWithTheMainFileFirst) {
  put("f/a.cc", "a");
  put("f/kernel.cc", "k");
  put("f/tiles/inner.h", "h");
  put("f/notes.txt", "not source");
  put("f/task.h", "a stale copy");
  Candidate candidate = good(dir_.path() / "f/");
  std::vector<std::string> names;
  for (const SourceFile& file : candidate.files) names.push_back(file.name);
  EXPECT_THAT(names, testing::ElementsAre("kernel.cc", "a.cc", "tiles/inner.h"));
  EXPECT_EQ(candidate.origin, "folder f");
}

TEST_F(CandidateTest, TheOnlySourceFileIsTheMainFile) {
  put("f/gemm.cpp", "k");
  put("f/a.h", "h");
  EXPECT_EQ(good(dir_.path() / "f").files[0].name, "gemm.cpp");
  put("f/other.cpp", "k");
  EXPECT_THAT(refusal(dir_.path() / "f"), HasSubstr("none is called kernel.cpp"));
}

TEST_F(CandidateTest, SaysWhyThereIsNoProgram) {
  EXPECT_THAT(refusal(dir_.path() / "missing.cc"), HasSubstr("error: no such kernel"));
  EXPECT_THAT(refusal(put("kernel.py", "pass")), HasSubstr("takes: .cc, .cpp, .h"));
  EXPECT_THAT(refusal(put("empty.cc", " \n\t")), HasSubstr("empty.cc is empty"));
  EXPECT_THAT(refusal(put("binary.cc", std::string("a\0b", 3))), HasSubstr("not text"));
  fs::create_directories(dir_.path() / "none");
  EXPECT_THAT(refusal(dir_.path() / "none"), HasSubstr("no source file"));
}

TEST_F(CandidateTest, RefusesAHugeFileWithoutReadingIt) {
  fs::path path = put("huge.cc", "x");
  fs::resize_file(path, 500ull << 20);  // sparse: reading it would need 500 MB of memory
  EXPECT_THAT(refusal(path), HasSubstr("a program may have 4 MiB in all"));
  for (int i = 0; i < 5; ++i) put("many/" + std::to_string(i) + ".cc", std::string(1 << 20, 'x'));
  put("many/kernel.cc", "x");
  EXPECT_THAT(refusal(dir_.path() / "many"), HasSubstr("4 MiB in all"));
}

TEST_F(CandidateTest, RefusesPipesLinksAndCrowds) {
  ASSERT_EQ(::mkfifo((dir_.path() / "pipe.cc").c_str(), 0600), 0);
  EXPECT_THAT(refusal(dir_.path() / "pipe.cc"), HasSubstr("not a regular file"));
  put("linked/kernel.cc", "x");
  fs::create_symlink("/etc/passwd", dir_.path() / "linked/a.h");
  EXPECT_THAT(refusal(dir_.path() / "linked"), HasSubstr("symbolic link"));
  for (int i = 0; i < 70; ++i) put("crowd/" + std::to_string(i) + ".cc", "x");
  EXPECT_THAT(refusal(dir_.path() / "crowd"), HasSubstr("more than 64"));
}

TEST_F(CandidateTest, OddFileNamesCannotBecomeOptions) {
  EXPECT_EQ(good(put("-fplugin=x.cc", "int x;")).files[0].name, "kernel.cc");
  EXPECT_EQ(good(put("task.h", "int x;")).files[0].name, "kernel.h");
  for (const char* name :
       {"", "/etc/x.cc", "../x.cc", "a/../x.cc", "-o.cc", "a/-o.cc", ".x.cc", "a b.cc", "x\n.cc", "a/"})
    EXPECT_FALSE(good_source_name(name)) << name;
  for (const char* name : {"kernel.cc", "a/b/x-1.c++", "A_0.h"}) EXPECT_TRUE(good_source_name(name)) << name;
}

TEST_F(CandidateTest, Directives) {
  Candidate candidate = good(put("k.cc",
                                 "// kforge: general\n"
                                 "  //kforge: flags   -O2 -ffast-math \r\n"
                                 "int x;  // kforge: compiler not at the start of a line\n"
                                 "# kforge: tune BM=32,64\n"
                                 "// kforge:\n"
                                 "// kforge: arithmetic bf16x3"));
  auto directives = candidate.directives();
  ASSERT_EQ(directives.size(), 5u);
  EXPECT_EQ(directives[0].key, "general");
  EXPECT_EQ(directives[0].value, "");
  EXPECT_EQ(directives[1].key, "flags");
  EXPECT_EQ(directives[1].value, "-O2 -ffast-math");
  EXPECT_EQ(directives[1].line, 2);
  EXPECT_EQ(directives[2].value, "BM=32,64");
  EXPECT_EQ(directives[3].key, "");
  EXPECT_EQ(directives[4].value, "bf16x3");
  EXPECT_TRUE(candidate.claims_general());
  EXPECT_FALSE(good(put("l.cc", "// general kforge: no\n")).claims_general());
  EXPECT_TRUE(Candidate{}.directives().empty());
}

TEST_F(CandidateTest, WhatOnlyLooksLikeACommentIsNoDirective) {
  Candidate candidate = good(put("k.cc",
                                 "/*\n// kforge: general\n*/\n"
                                 "const char* a = R\"x(\n// kforge: flags -ffast-math\n)y\" \n)x\";\n"
                                 "const char* b = \"/*\"; int c = 1'000; char d = '\"';\n"
                                 "#define E /* begins\n// kforge: compiler clang\n*/\n"
                                 "const char* f = \"\\\"/*\";\n"
                                 "// kforge: tune BM=32,64\n"));
  auto directives = candidate.directives();
  ASSERT_EQ(directives.size(), 1u);
  EXPECT_EQ(directives[0].key, "tune");
  EXPECT_EQ(directives[0].line, 13);
  EXPECT_FALSE(candidate.claims_general());
}

TEST_F(CandidateTest, TheHashCoversNamesContentsAndBorders) {
  Candidate a{{{"k.cc", "x"}}, "one"}, b{{{"k.cc", "y"}}, "one"}, c{{{"l.cc", "x"}}, "one"},
      d{{{"k.cc", "x"}}, "two"};
  EXPECT_NE(a.content_hash(), b.content_hash());
  EXPECT_NE(a.content_hash(), c.content_hash());
  EXPECT_EQ(a.content_hash(), d.content_hash());
}

}  // namespace
}  // namespace kforge
