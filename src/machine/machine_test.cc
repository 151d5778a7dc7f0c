#include "machine/machine.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/files.h"

namespace kforge {
namespace {

class MachineTest : public testing::Test {
 protected:
  MachineTest() { ::setenv("KFORGE_HOME", dir_.path().c_str(), 1); }
  ~MachineTest() override { ::unsetenv("KFORGE_HOME"); }
  fs::path record() const {
    for (const auto& entry : fs::directory_iterator(dir_.path() / "machine")) return entry.path();
    return {};
  }
  TempDir dir_ = TempDir::create().value();
};

TEST_F(MachineTest, DescribesThisMachineTheSameTwice) {
  auto first = describe_machine();
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->cpu_model.empty());
  EXPECT_GE(first->threads(), 1);
  EXPECT_GE(first->page_bytes, 4096u);
  EXPECT_EQ(first->id().size(), 12u);
  auto second = describe_machine();
  ASSERT_TRUE(second);
  EXPECT_EQ(first->id(), second->id());
}

TEST_F(MachineTest, TheTrialsAreRememberedAndADamagedRecordIsMadeAgain) {
  auto tried = describe_machine();
  ASSERT_TRUE(tried);
  std::ofstream(record()) << R"({"schema": 2, "features": ["avx9000"]})";
  EXPECT_TRUE(describe_machine()->features.contains("avx9000"));
  for (const char* damage : {"", "{", "[]", R"({"schema": 2})", R"({"schema": 2, "features": [1]})",
                             R"({"schema": 0, "features": []})"}) {
    std::ofstream(record()) << damage;
    EXPECT_EQ(describe_machine()->features, tried->features) << damage;
  }
}

TEST(Machine, TheIdFollowsWhatMattersForResults) {
  Machine a;
  a.cpu_model = "X";
  a.cpus = {0, 1};
  Machine b = a;
  b.cpus = {2, 3};
  EXPECT_EQ(a.id(), b.id());
  b.features.insert("avx2");
  EXPECT_NE(a.id(), b.id());
  b = a;
  b.cpus = {0};
  EXPECT_NE(a.id(), b.id());
}

TEST(Machine, TheLastLevelIsTheLargest) {
  Machine machine;
  EXPECT_EQ(machine.last_level_bytes(), 0u);
  machine.caches = {{1, 100, 1}, {2, 1000, 1}, {3, 5000, 2}};
  EXPECT_EQ(machine.last_level_bytes(), 5000u);
}

}  // namespace
}  // namespace kforge
