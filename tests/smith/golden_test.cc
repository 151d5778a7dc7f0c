// What the smith writes, by language, as files that a person reads: a chain on a matrix product, a softmax, a
// layer norm, a reduction, elements alone; and for C++ one task for each emitter. After a wanted change:
// KFORGE_UPDATE_GOLDEN=1 smith_golden_test, then read the diff.
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

// Every emitter of C++ with a task that uses it. `move`: the step of the search that leads to it, where the
// first design does not.
struct EmitterCase {
  std::string task, shapes, move, file;
};
const EmitterCase kEmitters[] = {
    {"matmul_transposed_both", "small", "", "contraction_packed"},
    {"conv2d_5x9", "small", "", "convolution"},
    {"conv2d_3x3", "full", "winograd", "winograd"},
    {"conv2d_3x3", "small", "pixels as rows", "pixel_rows"},
    {"conv2d_depthwise_3x3", "small", "", "depthwise"},
    {"conv_transpose2d_upsample", "small", "", "transposed"},
    {"gemm_scale_leakyrelu", "bench", "bf16x6", "amx"},
    {"scaled_dot_product_attention", "small", "", "attention"},
};

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

smith::Problem problem_of(const std::string& name, const std::string& shapes = "small") {
  auto task = load_task(name);
  EXPECT_TRUE(task) << task.error().text();
  auto bound = bind_task(*task, shapes);
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

// The first design, or the one a move away from it.
Result<smith::Design> design_of(const smith::Problem& problem, const std::string& move) {
  KF_TRY(smith::Design first, smith::first_design(problem));
  if (move.empty()) return first;
  for (const smith::Move& found : smith::moves(problem, first))
    if (found.name.find(move) != std::string::npos) return smith::design_from(problem, found.schedule);
  return fail("no move '{}'", move);
}

TEST(SmithGolden, EveryEmitterOfCpp) {
  for (const EmitterCase& emitter : kEmitters) {
    smith::Problem problem = problem_of(emitter.task, emitter.shapes);
    problem.machine.features.insert({"amx", "avx512_bf16"});
    auto design = design_of(problem, emitter.move);
    ASSERT_TRUE(design) << emitter.task << ": " << design.error().text();
    compare("cpp/" + emitter.file + ".cc.txt", design->source);
  }
}

}  // namespace
}  // namespace kforge
