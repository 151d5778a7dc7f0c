#include "task/task_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "task/distribution.h"

namespace kforge {
namespace {

using testing::HasSubstr;

constexpr std::string_view kGood = R"toml(
description = "d"
notes = ["n"]
[shapes]
bench = [{ B = 1, weight = 3 }, { B = 64 }]
small = { B = 2 }
[tensors.x]
role = "inout"
output = "y"
values = "integer(0, V)"
)toml";

TEST(TaskFile, ReadsEveryKey) {
  auto file = parse_task_file(kGood, "t.toml");
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->shapes.at("bench").size(), 2u);
  EXPECT_EQ(file->shapes.at("bench")[0].weight, 3);
  EXPECT_EQ(file->shapes.at("bench")[1].dims.at("B"), 64);
  EXPECT_EQ(file->tensors.at("x").role, Role::kInout);
  EXPECT_EQ(file->tensors.at("x").values->b_symbol, "V");
}

struct FileMistake {
  const char* text;
  const char* says;
};

class TaskFileMistakes : public testing::TestWithParam<FileMistake> {};

TEST_P(TaskFileMistakes, IsNamedWithItsLine) {
  auto file = parse_task_file(GetParam().text, "t.toml");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    All, TaskFileMistakes,
    testing::Values(
        FileMistake{"description = \"d\"\ncolour = 1\n[shapes]\n", "t.toml:2: unknown key 'colour'"},
        FileMistake{"[shapes]\n", "'description' is missing"},
        FileMistake{"description = \"d\"\n", "[shapes] is missing"},
        FileMistake{"description = 3\n[shapes]\n", "t.toml:1: 'description' must be a string"},
        FileMistake{"description = \"d\"\n[shapes]\nhuge = { B = 1 }\n",
                    "t.toml:3: unknown shape set 'huge'"},
        FileMistake{"description = \"d\"\n[shapes]\nbench = { B = 0 }\n", "'B' must be a whole number"},
        FileMistake{"description = \"d\"\n[shapes]\nbench = { B = 1.5 }\n", "'B' must be a whole number"},
        FileMistake{"description = \"d\"\n[shapes]\nbench = []\n", "must be a table"},
        FileMistake{"description = \"d\"\n[shapes]\nbench = [{ weight = -1 }]\n",
                    "weight must be a positive"},
        FileMistake{"description = \"d\"\n[shapes]\n[tensors.x]\nrole = \"output\"\n", "role is \"input\""},
        FileMistake{"description = \"d\"\n[shapes]\n[tensors.x]\nrole = \"inout\"\n", "needs 'output'"},
        FileMistake{"description = \"d\"\n[shapes]\n[tensors.x]\noutput = \"y\"\n", "only an inout"},
        FileMistake{"description = \"d\"\n[shapes]\n[tensors.x]\nvalues = \"gauss(0, 1)\"\n",
                    "t.toml:4: tensor 'x': 'gauss'"},
        FileMistake{"description = \"d\"\n[shapes]\n[tensors.x]\nvalue = \"normal\"\n",
                    "t.toml:4: unknown key 'value'"},
        FileMistake{"description = \"d\n", "t.toml:1:"}, FileMistake{"a = [[[[", "t.toml:1:"}));

TEST(Distribution, Words) {
  EXPECT_EQ(to_string(*parse_distribution("normal")), "normal(0, 1)");
  EXPECT_EQ(to_string(*parse_distribution(" uniform( 0.5 ,2 ) ")), "uniform(0.5, 2)");
  EXPECT_EQ(to_string(*parse_distribution("integer")), "integer");
  EXPECT_TRUE(parse_distribution("integer")->any_index);
  EXPECT_FALSE(parse_distribution("integer(0, 3)")->any_index);
  for (const char* bad : {"uniform(1)", "uniform(1, 1)", "normal(0, 0)", "positive(0, 1)", "mask(2)",
                          "uniform(0, V)", "signs(1)", "uniform(0, 1", "uniform(nan, 1)", "normal(0, inf)",
                          "", "integer(0, 1e300)", "uniform(0,,1)"})
    EXPECT_FALSE(parse_distribution(bad)) << bad;
}

TEST(Distribution, MustFitTheElementType) {
  EXPECT_TRUE(check_distribution(*parse_distribution("integer(0, 3)"), DType::kFloat32));
  EXPECT_FALSE(check_distribution(*parse_distribution("uniform"), DType::kInt64));
  EXPECT_FALSE(check_distribution(*parse_distribution("signs"), DType::kBool));
  EXPECT_TRUE(check_distribution(*parse_distribution("signs"), DType::kInt8));
}

}  // namespace
}  // namespace kforge
