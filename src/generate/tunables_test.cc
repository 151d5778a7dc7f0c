#include "generate/tunables.h"

#include <gtest/gtest.h>

namespace kforge {
namespace {

Candidate program(const std::string& line) {
  return {{{"kernel.cc", "#include \"task.h\"\n// kforge: " + line + "\nint x = BM;\n"}}, "test"};
}

TEST(Tunables, ReadsNamesValuesAndConditions) {
  auto tunables = tunables_of(program("tune BM=32,64,128 BK=8,16 where BM*BK<=1024"));
  ASSERT_TRUE(tunables) << tunables.error().text();
  ASSERT_EQ(tunables->list.size(), 2u);
  EXPECT_EQ(tunables->list[0].name, "BM");
  EXPECT_EQ(tunables->list[0].values, (std::vector<std::int64_t>{32, 64, 128}));
  auto all = tunables->assignments(100);
  ASSERT_EQ(all.size(), 5u) << "128 * 16 is too much";
  EXPECT_EQ(to_text(all.front()), "BM=32 BK=8") << "the candidate's own choice comes first";
  EXPECT_EQ(to_text(all.back()), "BM=128 BK=8");
}

TEST(Tunables, NoneWhereNothingIsDeclared) {
  EXPECT_FALSE(has_tunables(program("general")));
  EXPECT_TRUE(has_tunables(program("tune BM=1,2")));
}

TEST(Tunables, SaysWhatIsWrongWithTheLine) {
  for (const char* bad : {"tune BM", "tune BM=", "tune BM=a", "tune 1M=3", "tune BM=1,2x", "tune BM=1 BM=2",
                          "tune BM=1,2 where BK<3", "tune BM=1,2 where BM <<< 3", "tune BM=1,2 where (BM<3",
                          "tune B-M=3", "tune A=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"})
    EXPECT_FALSE(tunables_of(program(bad))) << bad;
}

TEST(Tunables, NumberOfAssignmentsIsBounded) {
  std::string line = "tune";
  for (char c = 'A'; c < 'A' + 8; ++c) line += fmt::format(" {}=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16", c);
  auto tunables = tunables_of(program(line));
  ASSERT_TRUE(tunables);
  EXPECT_EQ(tunables->assignments(50).size(), 50u);
  tunables->conditions.push_back("A>100");
  EXPECT_TRUE(tunables->assignments(50).empty()) << "and it ends also when nothing fits";
}

TEST(Tunables, ValuesBecomeMacrosAndTheQuestionIsGone) {
  Candidate filled = with_values(program("tune BM=32,64"), {{"BM", 64}});
  EXPECT_NE(filled.files[0].content.find("#define BM 64"), std::string::npos);
  EXPECT_FALSE(has_tunables(filled));
}

TEST(Tunables, NewValuesWinOverThoseFoundEarlier) {
  Candidate tuned = with_values(program("tune BM=32,64 BK=8,16"), {{"BM", 64}, {"BK", 16}});
  // The author keeps the values at the top and asks for others of one of them.
  tuned.files.front().content += "// kforge: tune BM=96,128\n";
  std::string text = with_values(tuned, {{"BM", 128}}).files.front().content;
  EXPECT_EQ(text.find("#define BM 64"), std::string::npos) << text;
  EXPECT_NE(text.find("#undef BM\n#define BM 128\n"), std::string::npos) << text;
  EXPECT_NE(text.find("#define BK 16\n"), std::string::npos) << "what is not searched again stays\n" << text;
  EXPECT_EQ(text.find("Values found", text.find("Values found") + 1), std::string::npos) << text;
}

TEST(Tunables, CurrentValuesAreThoseFilledInElseTheFirst) {
  Candidate asked = program("tune BM=32,64 BK=8,16");
  EXPECT_EQ(to_text(current_values(asked).value()), "BM=32 BK=8");
  EXPECT_EQ(to_text(current_values(with_values(asked, {{"BM", 64}, {"BK", 8}})).value()), "BM=64 BK=8");
}

TEST(Tunables, ValuesComeBehindTheVersionOfAShader) {
  Candidate shader;
  shader.files = {{"kernel.comp", "#version 450\n// kforge: tune BM=32,64\n"}};
  EXPECT_TRUE(
      with_values(shader, {{"BM", 64}}).files[0].content.starts_with("#version 450\n// Values found"));
}

TEST(Conditions, Arithmetic) {
  Assignment v{{"A", 6}, {"B", 4}};
  for (const char* yes : {"A*B==24", "A+B*2 <= 14", "(A+B)*2>=20", "A%B == 2", "A/B==1", "A!=B", "A-B-1<2"})
    EXPECT_TRUE(condition_holds(yes, v).value()) << yes;
  for (const char* no :
       {"A<B", "A/0==1", "A%0==0", "A>100000000000000000*100000000000000000*100000000000000000"})
    EXPECT_FALSE(condition_holds(no, v).value()) << no;
  for (const char* wrong :
       {"", "A", "A=B", "A<", "<A", "A B<3", "A<3)", "C<3", "A<<3", "99999999999999999999<A"})
    EXPECT_FALSE(condition_holds(wrong, v)) << wrong;
  EXPECT_FALSE(condition_holds(std::string(5000, '(') + "A<3", v)) << "no deep recursion";
}

TEST(Tunables, FollowTheCommentSignOfTheLanguage) {
  Candidate program{
      {{"kernel.f90", "! kforge: general\n! kforge: tune WIDE=16,32\n// kforge: tune NO=1\nend\n"}},
      "test",
      "!"};
  EXPECT_TRUE(program.claims_general());
  EXPECT_EQ(current_values(program).value(), (Assignment{{"WIDE", 16}}));
  const Candidate filled = with_values(program, {{"WIDE", 32}});
  EXPECT_EQ(filled.files[0].content.find('#'), std::string::npos) << "no preprocessor is taken for granted";
  EXPECT_TRUE(filled.files[0].content.starts_with("! Values found by KForge:\n"));
  EXPECT_EQ(current_values(filled).value(), (Assignment{{"WIDE", 32}}));
  EXPECT_FALSE(has_tunables(filled));
  const Candidate again = with_values(filled, {{"WIDE", 16}});
  EXPECT_EQ(current_values(again).value(), (Assignment{{"WIDE", 16}}));
}

}  // namespace
}  // namespace kforge
