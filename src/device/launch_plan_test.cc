#include "device/launch_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kforge {
namespace {

using testing::HasSubstr;

PlanSetting setting() {
  PlanSetting setting;
  setting.tensors = {{"x", DType::kFloat32, 4 * 7 * 61, false, false},
                     {"w", DType::kFloat32, 4 * 61, true, false},
                     {"y", DType::kFloat32, 4 * 7 * 61, false, true}};
  setting.dimensions = {{"B", 7}, {"D", 61}};
  setting.most_threads = 256;
  return setting;
}

LaunchPlan plan(std::string_view text) {
  auto read = read_launch_plan(text, setting());
  EXPECT_TRUE(read) << read.error().log;
  return read.value_or(LaunchPlan{});
}
std::string mistake(std::string_view text) {
  auto read = read_launch_plan(text, setting());
  return read ? "none" : read.error().log;
}
// A plan whose only step is this one.
std::string run(std::string_view step) { return fmt::format(R"({{"run": [{}]}})", step); }

TEST(LaunchPlan, IsReadWhole) {
  LaunchPlan made = plan(R"json({
    "buffers": {"partial": {"dtype": "float16", "shape": ["B", 64]}, "packed": {"dtype": "float32", "shape": ["D"]}},
    "defines": {"TILE": "4 * 16"}, "general": true,
    "prepare": [{"kernel": "pack", "grid": [1], "block": [64], "args": ["w", "packed"]}],
    "run": [{"fill": "partial", "value": 1.5},
            {"kernel": "rows", "grid": ["B", "ceildiv(D, TILE)"], "block": [64, 2], "shared_bytes": "4*TILE",
             "args": ["x", {"buffer": "partial", "offset": "2*B"}, "packed", {"i32": "D"}, {"f32": 0.5}, {"u32": 3},
                      {"i64": "B*D"}, "y"]},
            {"copy": ["partial", "y"], "bytes": 16},
            {"repeat": 3, "as": "t", "run": [{"kernel": "step", "grid": ["t + 1"], "block": [1], "args": [{"i32": "t"}, "y"]}]}]
})json");
  EXPECT_TRUE(made.general);
  EXPECT_EQ(made.tensors, 3u);
  ASSERT_EQ(made.memory.size(), 5u);
  EXPECT_EQ(made.memory[3].name, "packed");
  EXPECT_TRUE(made.memory[3].prepared);
  EXPECT_EQ(made.memory[4].bytes, 2u * 7 * 64);
  EXPECT_FALSE(made.memory[4].prepared);
  EXPECT_EQ(made.defines.at("TILE"), 64);
  EXPECT_EQ(made.kernels(), (std::set<std::string>{"pack", "rows", "step"}));
  ASSERT_EQ(made.run.size(), 6u) << "repeats are written out";
  EXPECT_EQ(std::get<PlanFill>(made.run[0]).value, 1.5);
  const auto& rows = std::get<PlanLaunch>(made.run[1]);
  EXPECT_EQ(rows.grid, (std::array<std::uint32_t, 3>{7, 1, 1}));
  EXPECT_EQ(rows.block, (std::array<std::uint32_t, 3>{64, 2, 1}));
  EXPECT_EQ(rows.shared_bytes, 256u);
  EXPECT_EQ(std::get<PlanUse>(rows.arguments[1]).offset, 14u);
  EXPECT_EQ(std::get<PlanScalar>(rows.arguments[3]).integer, 61);
  EXPECT_EQ(std::get<PlanScalar>(rows.arguments[4]).real, 0.5f);
  EXPECT_EQ(std::get<PlanCopy>(made.run[2]).bytes, 16u);
  EXPECT_EQ(std::get<PlanLaunch>(made.run[5]).grid[0], 3u);
}

TEST(LaunchPlan, MistakesNameTheirPlace) {
  EXPECT_THAT(mistake("{"), HasSubstr("plan.json: error: not JSON"));
  EXPECT_THAT(mistake("[]"), HasSubstr("must be an object"));
  EXPECT_THAT(mistake("{}"), HasSubstr("'run' is missing"));
  EXPECT_THAT(mistake(R"({"run": []})"), HasSubstr("nothing would be computed"));
  EXPECT_THAT(mistake(R"({"run": [], "bufers": {}})"),
              HasSubstr("unknown key 'bufers' (did you mean 'buffers'?)"));
  EXPECT_THAT(mistake(run(R"({"kernel": "k", "grid": ["E"], "block": [1], "args": []})")),
              HasSubstr("run[0].grid[0]: \"E\": unknown symbol 'E'"));
  std::string many = R"("x")";
  for (int i = 1; i < 70; ++i) many += R"(, "x")";
  EXPECT_THAT(mistake(run(R"({"kernel": "k", "grid": [1], "block": [1], "args": [)" + many + "]}")),
              HasSubstr("run[0].args: 70 arguments, and a launch takes at most 64"));
  EXPECT_THAT(mistake(run(R"({"kernel": "k", "grid": [0], "block": [1], "args": []})")),
              HasSubstr("run[0].grid[0]: is 0, and must be between 1"));
  EXPECT_THAT(mistake(run(R"({"kernel": "k", "grid": [1, 70000], "block": [1], "args": []})")),
              HasSubstr("grid[1]"));
  EXPECT_THAT(mistake(run(R"({"kernel": "k", "grid": [1], "block": [32, 32], "args": []})")),
              HasSubstr("run[0].block: has 1024 threads, and the device takes 256"));
  EXPECT_THAT(mistake(run(R"({"kernel": "k(", "grid": [1], "block": [1], "args": []})")),
              HasSubstr("is not a name"));
  EXPECT_THAT(mistake(run(R"({"kernel": "k", "grid": [1], "block": [1], "args": ["z"]})")),
              HasSubstr("run[0].args[0]: there is no tensor or buffer 'z'"));
  EXPECT_THAT(mistake(run(R"({"kernel": "k", "grid": [1], "block": [1], "args": [{"i32": 3000000000}]})")),
              HasSubstr("between"));
  EXPECT_THAT(mistake(run(R"({"launch": "k"})")), HasSubstr("none of kernel, fill, copy, repeat"));
  EXPECT_THAT(mistake(R"({"buffers": {"x": {"dtype": "float32", "shape": [1]}}, "run": []})"),
              HasSubstr("is the name of a tensor"));
  EXPECT_THAT(mistake(R"({"buffers": {"b": {"dtype": "float33", "shape": [1]}}, "run": []})"),
              HasSubstr("buffers.b.dtype"));
  EXPECT_THAT(
      mistake(R"({"buffers": {"b": {"dtype": "float32", "shape": [4000000000, 4000000000]}}, "run": []})"),
      HasSubstr("has more than"));
  EXPECT_THAT(mistake(R"({"defines": {"B": 3}, "run": []})"), HasSubstr("is a dimension"));
  EXPECT_THAT(mistake(run(R"({"copy": ["x", "y"], "bytes": 1000000})")), HasSubstr("run[0].bytes"));
}

TEST(LaunchPlan, InputsAndPreparedBuffersAreNotWritten) {
  EXPECT_THAT(mistake(run(R"({"fill": "x"})")), HasSubstr("'x' is not an output"));
  EXPECT_THAT(mistake(run(R"({"copy": ["y", "w"]})")), HasSubstr("'w' is not an output"));
  EXPECT_THAT(
      mistake(R"({"prepare": [{"kernel": "k", "grid": [1], "block": [1], "args": ["x"]}], "run": []})"),
      HasSubstr("prepare[0].args[0]: 'x' is no param"));
  EXPECT_THAT(mistake(R"({"buffers": {"p": {"dtype": "float32", "shape": [4]}},
                          "prepare": [{"kernel": "k", "grid": [1], "block": [1], "args": ["w", "p"]}],
                          "run": [{"fill": "p"}]})"),
              HasSubstr("'p' is made by prepare and lives between calls"));
}

TEST(LaunchPlan, HostilePlansEndSoon) {
  EXPECT_THAT(mistake(run(R"({"repeat": 20000, "run": []})")), HasSubstr("between 0 and 10000"));
  std::string nested = R"({"fill": "y"})";
  for (int i = 0; i < 4; ++i) nested = fmt::format(R"({{"repeat": 10000, "run": [{}]}})", nested);
  EXPECT_THAT(mistake(run(nested)), HasSubstr("10000"));
  std::string empty = R"({"repeat": 10000, "run": []})";
  for (int i = 0; i < 4; ++i) empty = fmt::format(R"({{"repeat": 10000, "run": [{}]}})", empty);
  EXPECT_THAT(mistake(run(empty)), HasSubstr("rounds in all"));
  for (int i = 0; i < 20; ++i) nested = fmt::format(R"({{"repeat": 1, "run": [{}]}})", nested);
  EXPECT_THAT(mistake(run(nested)), HasSubstr("too deep"));
  EXPECT_THAT(mistake(std::string(2 << 20, ' ')), HasSubstr("more than"));
  EXPECT_NE(mistake(std::string(100'000, '[')), "none");
}

TEST(LaunchPlan, GridsOfThreadsAreForDevicesThatTakeThem) {
  const std::string text = run(R"({"kernel": "k", "threads": [100, 3], "block": [32, 2], "args": ["y"]})");
  EXPECT_THAT(mistake(text), HasSubstr("run[0].threads: only Metal takes a grid of threads"));
  PlanSetting metal = setting();
  metal.non_uniform = true;
  auto read = read_launch_plan(text, metal);
  ASSERT_TRUE(read) << read.error().log;
  const auto& launch = std::get<PlanLaunch>(read->run[0]);
  EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{4, 2, 1}));
  EXPECT_EQ(launch.threads, (std::array<std::uint32_t, 3>{100, 3, 1}));
  auto both = read_launch_plan(
      run(R"({"kernel": "k", "threads": [4], "grid": [1], "block": [4], "args": ["y"]})"), metal);
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().log, HasSubstr("has both 'grid' and 'threads'"));
}

}  // namespace
}  // namespace kforge
