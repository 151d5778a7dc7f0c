// What the smith writes in CUDA C++ and MSL, run whole on the emulator and compared with the oracle: a part
// of tasks/core, each on its small or odd shapes; all on both with KFORGE_ALL_SHAPES=1.
#include <gtest/gtest.h>

#include "../smith/judged.h"
#include "../smith/plan_of_design.h"
#include "../smith/smith_problem.h"
#include "emulated_program.h"

namespace kforge {
namespace {

using smith::DeviceLanguage;

constexpr std::size_t kPart = 10;  // of the tasks, one in so many

// The call of a design, or why there is none.
Result<AnyCall> emulated(const smith::Problem& problem, const smith::DeviceDesign& design,
                         emulate::Language language) {
  emulate::Request request;
  request.language = language;
  request.files = {{language == emulate::Language::kCuda ? "kernel.cu" : "kernel.metal", design.source}};
  request.tier = SandboxTier::kNone;
  KF_TRY(request.plan, plan_of_design(problem, design));
  for (const smith::Argument& argument : problem.arguments)
    request.params.push_back(argument.role == smith::ArgumentRole::kParam);
  const std::size_t tensors = request.params.size();
  auto program = std::make_shared<LoadedProgram>(request);
  return [program, tensors](void** arguments) {
    program->call(std::vector<void*>(arguments, arguments + tensors));
  };
}

void check_core(DeviceLanguage language, emulate::Language target, std::size_t first) {
  auto tasks = load_all_tasks("core");
  ASSERT_TRUE(tasks) << tasks.error().text();
  const bool all = std::getenv("KFORGE_ALL_SHAPES") != nullptr;
  const char* only = std::getenv("SMITH_TASK");
  for (std::size_t i = 0; i < tasks->size(); ++i) {
    if (only ? (*tasks)[i].name.find(only) == std::string::npos : !all && i % kPart != first) continue;
    for (const std::string shapes : {"small", "odd"}) {
      if (!all && !only && (shapes == "odd") != (i / kPart % 2 == 1)) continue;
      auto bound = bind_task((*tasks)[i], shapes);
      ASSERT_TRUE(bound) << bound.error().text();
      const smith::Problem problem = smith_problem(*bound, Machine{}, 1);
      auto design = smith::device_design(problem, language);
      ASSERT_TRUE(design) << problem.name << ": " << design.error().text();
      auto call = emulated(problem, *design, target);
      ASSERT_TRUE(call) << problem.name << ": " << call.error().text();
      if (testing::Test::HasFailure()) FAIL() << problem.name << " " << shapes;
      EXPECT_EQ(judge(*bound, *call), "") << problem.name << " " << shapes;
    }
  }
}

// Every choice that the search may make, one at a time and several together, on shapes that fit no tile.
TEST(EmulatedSmith, EveryChoiceIsRight) {
  for (const char* name : {"core/matmul", "core/relu"}) {
    auto task = load_task(name);
    ASSERT_TRUE(task) << task.error().text();
    auto bound = bind_task(*task, "odd");
    ASSERT_TRUE(bound) << bound.error().text();
    const smith::Problem problem = smith_problem(*bound, Machine{}, 1);
    std::vector<smith::DeviceChoices> all = {{.block = 64, .sums = 8, .depth = 8, .pad = 1, .items = 4}};
    for (const smith::DeviceMove& move : smith::device_moves({})) all.push_back(move.choices);
    std::set<std::string> seen;
    for (const smith::DeviceChoices& choices : all) {
      auto design = smith::device_design(problem, DeviceLanguage::kCuda, choices);
      ASSERT_TRUE(design) << design.error().text();
      EXPECT_EQ(smith::choices_of(design->schedule), choices) << design->schedule;
      if (!seen.insert(design->source).second) continue;
      auto call = emulated(problem, *design, emulate::Language::kCuda);
      ASSERT_TRUE(call) << call.error().text();
      EXPECT_EQ(judge(*bound, *call), "") << name << " " << design->schedule;
    }
    EXPECT_GT(seen.size(), 3u) << name;
  }
  EXPECT_FALSE(smith::choices_of(R"({"block": 100})"));
  EXPECT_FALSE(smith::choices_of(R"({"block": 64, "sums": 8, "depth": 32})"));  // too much shared memory
  EXPECT_FALSE(smith::choices_of("hello"));
}

TEST(EmulatedSmith, CudaOfCoreIsRight) { check_core(DeviceLanguage::kCuda, emulate::Language::kCuda, 0); }

TEST(EmulatedSmith, MslOfCoreIsRight) { check_core(DeviceLanguage::kMsl, emulate::Language::kMetal, 5); }

}  // namespace
}  // namespace kforge
