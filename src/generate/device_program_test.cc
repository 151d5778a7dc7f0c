#include "generate/device_program.h"

#include <gmock/gmock.h>

#include <fstream>

#include "base/files.h"
#include "generate/tunables.h"

namespace kforge {
namespace {

using testing::HasSubstr;

constexpr const char* kPlan = R"json({"defines": {"ROWS": 2},
 "run": [{"kernel": "k", "grid": ["ceildiv(B, ROWS)"], "block": ["BN"], "args": ["x", "y"]}]})json";

Platform device_platform() {
  Platform platform;
  platform.kind = PlatformKind::kDevice;
  platform.files = {".cl", ".h"};
  return platform;
}

class DevicePrograms : public testing::Test {
 protected:
  void SetUp() override {
    task_ = load_task("core/softmax").value();
    bound_ = bind_task(task_, "small").value();
  }
  Candidate candidate(const std::string& plan) const {
    return {{{"kernel.cl", "// kforge: tune BN=32,64\nkernel void k() {}\n"}, {"plan.json", plan}}, "test"};
  }
  Task task_;
  BoundTask bound_;
};

TEST_F(DevicePrograms, DimensionsTunablesAndDefinesAreSymbolsAndMacros) {
  auto program = read_device_program(candidate(kPlan), bound_, {});
  ASSERT_TRUE(program && *program);
  EXPECT_EQ((*program)->macros.at("BN"), 32);
  EXPECT_EQ((*program)->macros.at("ROWS"), 2);
  const auto& launch = std::get<PlanLaunch>((*program)->plan.run.at(0));
  EXPECT_EQ(launch.block[0], 32u);
  EXPECT_EQ(launch.grid[0], (static_cast<std::uint32_t>((*program)->macros.at("B")) + 1) / 2);
}

TEST_F(DevicePrograms, ValuesThatWereTunedReachThePlan) {
  auto program = read_device_program(with_values(candidate(kPlan), {{"BN", 64}}), bound_, {});
  ASSERT_TRUE(program && *program);
  EXPECT_EQ(std::get<PlanLaunch>((*program)->plan.run.at(0)).block[0], 64u);
}

TEST_F(DevicePrograms, MistakesNameTheirPlace) {
  auto none = read_device_program({{{"kernel.cl", "x"}}, ""}, bound_, {});
  ASSERT_TRUE(none);
  EXPECT_THAT(reason_text(none->error()), HasSubstr("no plan.json"));
  auto wide = read_device_program(candidate(kPlan), bound_, {.most_threads = 16});
  ASSERT_TRUE(wide);
  EXPECT_THAT(reason_text(wide->error()), HasSubstr("run[0].block: has 32 threads, and the device takes 16"));
  Candidate clash = candidate(kPlan);
  clash.files[0].content = "// kforge: tune B=1,2\n";
  auto named = read_device_program(clash, bound_, {});
  ASSERT_TRUE(named);
  EXPECT_THAT(reason_text(named->error()), HasSubstr("B is a dimension"));
}

TEST(DeviceCandidates, ThePlanBesideTheMainFileIsAlwaysRead) {
  TempDir folder = TempDir::create().value();
  std::ofstream(folder.path() / "k.cl") << "kernel void k() {}\n";
  auto without = read_candidate(folder.path() / "k.cl", device_platform());
  ASSERT_TRUE(without);
  EXPECT_THAT(reason_text(without->error()), HasSubstr("no plan.json beside k.cl"));
  std::ofstream(folder.path() / "plan.json") << R"({"general": true, "run": []})";
  for (const fs::path& path : {folder.path() / "k.cl", folder.path()}) {
    auto with = read_candidate(path, device_platform());
    ASSERT_TRUE(with && *with);
    ASSERT_TRUE((*with)->plan());
    EXPECT_EQ((*with)->files.front().name, "k.cl");
    EXPECT_TRUE((*with)->claims_general());
  }
}

}  // namespace
}  // namespace kforge
