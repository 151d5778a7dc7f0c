#include "suite/suite_tasks.h"

#include <gmock/gmock.h>

#include "base/files.h"
#include "suite/find_kernel.h"

namespace kforge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> names(const std::vector<SuiteTask>& tasks) {
  std::vector<std::string> all;
  for (const SuiteTask& task : tasks) all.push_back(task.name);
  return all;
}

class SuiteTasks : public testing::Test {
 protected:
  void write(const std::string& name) {
    fs::create_directories((folder() / name).parent_path());
    EXPECT_TRUE(write_file_atomic(folder() / name, "x"));
  }
  fs::path folder() const { return dir_.path() / "bench"; }

  TempDir dir_ = TempDir::create().value();
};

TEST_F(SuiteTasks, OfLevelsAreCountedAsPeopleCount) {
  for (const char* file : {"level1/2_b/task.toml", "level1/10_c/task.toml", "level1/1_a/task.toml",
                           "level2/3_d.onnx", "level2/notes.txt", "README.md"})
    write(file);
  auto tasks = list_suite_tasks(folder().string() + "/");
  ASSERT_TRUE(tasks) << tasks.error().message;
  EXPECT_THAT(names(*tasks), ElementsAre("level1/1_a", "level1/2_b", "level1/10_c", "level2/3_d"));
  EXPECT_EQ(tasks->front().spec, (folder() / "level1/1_a").string());
  EXPECT_EQ(tasks->back().level(), "level2");
  EXPECT_EQ(tasks->back().own_name(), "3_d");
}

TEST_F(SuiteTasks, OfOneFolderHaveItsNameForALevel) {
  write("a/task.toml");
  write("a.onnx");  // the folder says more, and the name comes once
  write("b.onnx");
  EXPECT_THAT(names(*list_suite_tasks(folder().string())), ElementsAre("bench/a", "bench/b"));
  EXPECT_THAT(names(*list_suite_tasks((folder() / "a").string())), ElementsAre("bench/a"));
}

TEST_F(SuiteTasks, OfAShippedSuiteAreFoundByItsName) {
  auto tasks = list_suite_tasks("core");
  ASSERT_TRUE(tasks) << tasks.error().message;
  EXPECT_GT(tasks->size(), 20u);
  EXPECT_EQ(tasks->front().spec, tasks->front().name);
}

TEST_F(SuiteTasks, ThatAreNotThereAreNamed) {
  fs::create_directories(folder());
  auto empty = list_suite_tasks(folder().string());
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("there is no task in"));
  EXPECT_THAT(list_suite_tasks("cor").error().message, HasSubstr("did you mean 'core'?"));
  EXPECT_THAT(list_suite_tasks("no/such/folder").error().message,
              HasSubstr("there is no folder no/such/folder"));
}

TEST_F(SuiteTasks, PatternsChoose) {
  std::vector<SuiteTask> all = {{"level1/1_gemm", ""}, {"level2/2_gemm_relu", ""}, {"level2/3_conv", ""}};
  EXPECT_THAT(names(*only_tasks(all, {"level2/*gemm*"})), ElementsAre("level2/2_gemm_relu"));
  EXPECT_THAT(names(*only_tasks(all, {"1_*", "3_conv"})), ElementsAre("level1/1_gemm", "level2/3_conv"));
  EXPECT_EQ(only_tasks(all, {})->size(), 3u);
  EXPECT_THAT(only_tasks(all, {"*pool*"}).error().message, HasSubstr("leaves none of 3 tasks"));
}

TEST_F(SuiteTasks, KernelsAreFoundByTheNameOfTheirTask) {
  for (const char* file :
       {"level1/1_a.cc", "level1/2_b/kernel.cc", "3_c.cl", "level_2_problem_12_sample_10_kernel.py",
        "level_2_problem_12_sample_0_kernel.py", "level_2_problem_12_sample_x_kernel.py",
        "level_2_problem_12_sample_0_kernel_ref.py", "level_2_problem_120_sample_0_kernel.py"})
    write(file);
  EXPECT_THAT(find_kernels(folder(), {"level1/1_a", ""}), ElementsAre(folder() / "level1/1_a.cc"));
  EXPECT_THAT(find_kernels(folder(), {"level1/2_b", ""}), ElementsAre(folder() / "level1/2_b"));
  EXPECT_THAT(find_kernels(folder(), {"level1/3_c", ""}), ElementsAre(folder() / "3_c.cl"));
  EXPECT_THAT(find_kernels(folder(), {"level2/012_gemm", ""}),
              ElementsAre(folder() / "level_2_problem_12_sample_0_kernel.py",
                          folder() / "level_2_problem_12_sample_10_kernel.py"));
  EXPECT_THAT(find_kernels(folder(), {"level2/1_gemm", ""}), testing::IsEmpty());
  EXPECT_THAT(find_kernels(folder() / "absent", {"level2/1_gemm", ""}), testing::IsEmpty());
}

}  // namespace
}  // namespace kforge
