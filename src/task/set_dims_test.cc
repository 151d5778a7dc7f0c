#include <gtest/gtest.h>

#include "task/task.h"

namespace kforge {
namespace {

using Dims = std::map<std::string, std::int64_t>;

TEST(ParseDims, TakesListsAndRepeats) {
  EXPECT_EQ(*parse_dims({"B=32,D=64", "N=1"}), (Dims{{"B", 32}, {"D", 64}, {"N", 1}}));
  EXPECT_EQ(*parse_dims({}), Dims{});
}

TEST(ParseDims, RefusesWhatIsNoSize) {
  for (const char* wrong :
       {"B", "B=", "=3", "B=0", "B=-1", "B=x", "B=3x", "B=1e3", "B=99999999999999999999", "B=1,B=2"}) {
    auto dims = parse_dims({wrong});
    ASSERT_FALSE(dims) << wrong;
    EXPECT_NE(dims.error().message.find("--set"), std::string::npos);
  }
}

TEST(SetDims, ChangesOneSetAndNamesWhatIsThere) {
  Task task = *load_task("core/relu");
  ASSERT_TRUE(set_dims(task, "small", {{"B", 5}}));
  EXPECT_EQ(bind_task(task, "small")->shape_case.dims.at("B"), 5);
  EXPECT_NE(bind_task(task, "odd")->shape_case.dims.at("B"), 5);
  auto wrong = set_dims(task, "small", {{"b", 5}});
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("has no dimension b (did you mean 'B'?)"), std::string::npos)
      << wrong.error().message;
}

}  // namespace
}  // namespace kforge
