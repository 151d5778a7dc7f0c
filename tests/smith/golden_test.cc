// What the smith writes, by language, as files that a person reads: a chain on a matrix product, a softmax, a
// layer norm, a reduction, elements alone. After a wanted change: KFORGE_UPDATE_GOLDEN=1 smith_golden_test,
// then read the diff.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "smith_problem.h"

namespace kforge {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTasks[] = {"gemm_scale_leakyrelu", "softmax", "layer_norm", "sum_reduction",
                                  "new_gelu"};

// The same on every machine that runs this test.
Machine a_machine() {
  Machine machine;
  machine.cpu_model = "a machine";
  machine.features = {"avx2", "fma", "avx512f"};
  machine.cpus = {0, 1};
  machine.caches = {{1, 32 << 10, 1}, {2, 1 << 20, 1}, {3, 32 << 20, 2}};
  return machine;
}

void compare(const std::string& name, const std::string& text) {
  const fs::path file = fs::path(KFORGE_SOURCE_DIR) / "tests/golden/smith" / name;
  if (std::getenv("KFORGE_UPDATE_GOLDEN")) {
    fs::create_directories(file.parent_path());
    ASSERT_TRUE(write_file_atomic(file, text));
  }
  auto golden = read_file(file);
  ASSERT_TRUE(golden) << golden.error().text();
  EXPECT_EQ(text, *golden) << "KFORGE_UPDATE_GOLDEN=1 writes " << name << " anew";
}

smith::Problem problem_of(const std::string& name) {
  auto task = load_task(name);
  EXPECT_TRUE(task) << task.error().text();
  auto bound = bind_task(*task, "small");
  EXPECT_TRUE(bound) << bound.error().text();
  return smith_problem(*bound, a_machine(), 2);
}

void golden(smith::DeviceLanguage language) {
  for (const std::string task : kTasks) {
    auto design = smith::device_design(problem_of(task), language);
    ASSERT_TRUE(design) << task << ": " << design.error().text();
    const std::string folder = std::string(smith::name_of(language)) + "/" + task;
    compare(folder + fs::path(design->file).extension().string(), design->source);
    // One plan drives every language.
    if (language == smith::DeviceLanguage::kOpenCl) compare("plan/" + task + ".json", design->plan);
    auto first = smith::device_design(problem_of(task), smith::DeviceLanguage::kOpenCl);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->plan, design->plan) << task;
  }
}

TEST(SmithGolden, OpenCl) { golden(smith::DeviceLanguage::kOpenCl); }
TEST(SmithGolden, Glsl) { golden(smith::DeviceLanguage::kGlsl); }
TEST(SmithGolden, Cuda) { golden(smith::DeviceLanguage::kCuda); }
TEST(SmithGolden, Msl) { golden(smith::DeviceLanguage::kMsl); }
TEST(SmithGolden, Cpp) {
  for (const std::string task : kTasks) {
    auto design = smith::first_design(problem_of(task));
    ASSERT_TRUE(design) << task << ": " << design.error().text();
    compare("cpp/" + task + ".cc.txt", design->source);  // not formatted as our sources are
  }
}

}  // namespace
}  // namespace kforge
