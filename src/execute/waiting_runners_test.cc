#include "execute/waiting_runners.h"

#include <gtest/gtest.h>

#include <fstream>

#include "execute/staged_program.h"

namespace kforge {
namespace {

using std::chrono::milliseconds;

class WaitingRunnersTest : public testing::Test {
 protected:
  void SetUp() override {
    auto tier = strongest_tier();
    ASSERT_TRUE(tier) << tier.error().text();
    auto setting = run_setting(load_platform("cpu").value());
    ASSERT_TRUE(setting) << setting.error().text();
    auto program = stage_runner("waiting", *setting, *tier);
    ASSERT_TRUE(program) << program.error().text();
    program_ = std::move(*program);
    program_.spec.limits.wall = std::chrono::minutes(1);
  }

  // Processes of the staged runner that are alive.
  int alive() const {
    int count = 0;
    for (const auto& entry : fs::directory_iterator("/proc")) {
      std::ifstream file(entry.path() / "cmdline");
      std::string line((std::istreambuf_iterator<char>(file)), {});
      count += line.starts_with(program_.spec.argv[0]);
    }
    return count;
  }

  StagedProgram program_;
};

TEST_F(WaitingRunnersTest, EachIsTakenOnceByItsNumberOfThreads) {
  WaitingRunners runners(program_.spec, {2, 1, 2}, milliseconds(20'000));
  std::vector<std::unique_ptr<ProgramProcess>> taken;
  for (int threads : {2, 1, 2}) taken.push_back(runners.take(threads));
  for (auto& runner : taken) {
    ASSERT_TRUE(runner);
    EXPECT_TRUE(runner->echo_ns());
  }
  EXPECT_FALSE(runners.take(2));
  EXPECT_FALSE(runners.take(1));
  EXPECT_FALSE(runners.take(4));
}

TEST_F(WaitingRunnersTest, ThoseNobodyTookEnd) {
  {
    WaitingRunners runners(program_.spec, {1, 1}, milliseconds(20'000));
    ASSERT_TRUE(runners.take(1));
    for (int i = 0; i < 10'000 && alive() == 0; ++i) std::this_thread::sleep_for(milliseconds(1));
    EXPECT_EQ(alive(), 1);
  }
  EXPECT_EQ(alive(), 0);
}

TEST_F(WaitingRunnersTest, OneThatDoesNotStartIsNotThere) {
  program_.spec.argv[0] = (program_.staged.path() / "absent").string();
  WaitingRunners runners(program_.spec, {1}, milliseconds(20'000));
  EXPECT_FALSE(runners.take(1));
}

}  // namespace
}  // namespace kforge
