// Every task of tasks/core in the languages of devices: run where a device can be had (OpenCL), compiled
// where a compiler can, and looked at where neither is there.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/subprocess.h"
#include "driven.h"
#include "smith_problem.h"

namespace kforge {
namespace {

namespace fs = std::filesystem;
using smith::DeviceLanguage;

struct Case {
  BoundTask task;
  smith::Problem problem;
};

// Tasks of the suite with one or both of their checked shapes: `both` else small and odd in turn.
std::vector<Case> cases(bool both) {
  auto tasks = std::make_shared<std::vector<Task>>();
  auto loaded = load_all_tasks("core");
  EXPECT_TRUE(loaded) << loaded.error().text();
  static std::vector<std::shared_ptr<std::vector<Task>>> kept;  // bound tasks point into it
  *tasks = std::move(*loaded);
  kept.push_back(tasks);
  const char* only = std::getenv("SMITH_TASK");
  std::vector<Case> all;
  Machine machine;
  for (std::size_t i = 0; i < tasks->size(); ++i)
    for (const std::string shapes : {"small", "odd"}) {
      if (only && (*tasks)[i].name.find(only) == std::string::npos) continue;
      if (!both && !only && (shapes == "odd") != (i % 2 == 1)) continue;
      auto bound = bind_task((*tasks)[i], shapes);
      EXPECT_TRUE(bound) << bound.error().text();
      smith::Problem problem = smith_problem(*bound, machine, 1);
      all.push_back({std::move(*bound), std::move(problem)});
    }
  return all;
}

class Folder {
 public:
  Folder() : path(fs::temp_directory_path() / fmt::format("smith_device_{}_{}", getpid(), ++count)) {
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return path / name;
  }
  fs::path path;

 private:
  static inline int count = 0;
};

std::string first_that_runs(const std::vector<std::string>& programs) {
  for (const std::string& program : programs) {
    const auto run = run_command(Command{{program, "--version"}});
    if (run && run->ok()) return program;
  }
  return {};
}

// Shards, so that no test is long and all cores are used.
constexpr int kShards = 16;
// The loops are those of OpenCL, so that a part of the tasks is enough for the spelling of GLSL.
const std::size_t kVulkanStep = std::getenv("KFORGE_ALL_SHAPES") ? 4 : 16;
class OnOpenCl : public testing::TestWithParam<int> {};

TEST_P(OnOpenCl, CoreIsRight) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the driver does not run under the address sanitizer";
#endif
  setenv("POCL_CACHE_DIR", KFORGE_BINARY_DIR "/pocl", 0);
  auto device = open_opencl();
  if (!device) GTEST_SKIP() << device.error().message;
  const auto all = cases(std::getenv("KFORGE_ALL_SHAPES") != nullptr);
  for (std::size_t i = static_cast<std::size_t>(GetParam()); i < all.size(); i += kShards) {
    const Case& c = all[i];
    auto design = smith::device_design(c.problem, DeviceLanguage::kOpenCl);
    ASSERT_TRUE(design) << c.problem.name << ": " << design.error().text();
    auto call = driven(**device, c.problem, *design);
    ASSERT_TRUE(call) << c.problem.name << ": " << call.error().text();
    EXPECT_EQ(judge(c.task, *call), "") << c.problem.name << " " << c.task.shape_set;
  }
}
INSTANTIATE_TEST_SUITE_P(SmithDevice, OnOpenCl, testing::Range(0, kShards));

class OnVulkan : public testing::TestWithParam<int> {};

TEST_P(OnVulkan, CoreIsRight) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the driver does not run under the address sanitizer";
#endif
  if (first_that_runs({"glslangValidator"}).empty())
    GTEST_SKIP() << "no glslangValidator (package glslang-tools)";
  auto device = open_vulkan();
  if (!device) GTEST_SKIP() << device.error().message;
  const Folder folder;
  const auto all = cases(std::getenv("KFORGE_ALL_SHAPES") != nullptr);
  for (std::size_t i = static_cast<std::size_t>(GetParam()); i < all.size(); i += kVulkanStep) {
    const Case& c = all[i];
    auto design = smith::device_design(c.problem, DeviceLanguage::kGlsl);
    ASSERT_TRUE(design) << c.problem.name << ": " << design.error().text();
    auto code = spirv_of(*design, folder.path.string());
    ASSERT_TRUE(code) << c.problem.name << ": " << code.error().text() << design->source;
    auto call = driven(**device, c.problem, *design, *code);
    ASSERT_TRUE(call) << c.problem.name << ": " << call.error().text() << design->source;
    EXPECT_EQ(judge(c.task, *call), "") << c.problem.name << " " << c.task.shape_set;
  }
}
INSTANTIATE_TEST_SUITE_P(SmithDevice, OnVulkan, testing::Range(0, 4));

std::vector<std::string> kernel_names(const smith::DeviceDesign& design) {
  std::vector<std::string> names;
  const auto plan = nlohmann::json::parse(design.plan);
  for (const char* part : {"prepare", "run"})
    for (const auto& step : plan.at(part)) names.push_back(step.at("kernel"));
  return names;
}

// A file per kernel, read by one process: most of the compiler's time is its start.
TEST(SmithDevice, GlslCompiles) {
  const std::string compiler = first_that_runs({"glslangValidator"});
  if (compiler.empty()) GTEST_SKIP() << "no glslangValidator (package glslang-tools)";
  const Folder folder;
  Command command{{compiler}};
  const std::string version = "#version 450\n";
  for (const Case& c : cases(false)) {
    auto design = smith::device_design(c.problem, DeviceLanguage::kGlsl);
    ASSERT_TRUE(design) << c.problem.name << ": " << design.error().text();
    ASSERT_TRUE(design->source.starts_with(version));
    for (const std::string& name : kernel_names(*design))
      command.argv.push_back(
          folder.write(fmt::format("{}_{}.comp", c.problem.name, name),
                       version + "#define KERNEL_" + name + "\n" + design->source.substr(version.size())));
  }
  const auto built = run_command(command);
  ASSERT_TRUE(built && built->ok()) << (built ? built->out : built.error().message);
}

// All sources in one file, each in a namespace of its own: most of a compiler's time is its start.
std::string all_in_one(DeviceLanguage language, const std::string& head) {
  std::string text = head;
  int number = 0;
  for (const Case& c : cases(false)) {
    auto design = smith::device_design(c.problem, language);
    EXPECT_TRUE(design) << c.problem.name << ": " << design.error().text();
    if (!design) continue;
    std::string body;
    for (std::size_t begin = 0; begin < design->source.size();) {
      const std::size_t end = std::min(design->source.find('\n', begin), design->source.size());
      std::string line = design->source.substr(begin, end - begin);
      if (line.starts_with("extern \"C\" ")) line.erase(0, 11);  // names repeat from task to task
      if (!line.starts_with("#include")) body += line + "\n";
      begin = end + 1;
    }
    text += fmt::format("namespace task_{} {{\n{}}}\n", number++, body);
  }
  return text;
}

TEST(SmithDevice, CudaCompilesWithNvcc) {
  const std::string compiler = first_that_runs({"nvcc", "/usr/local/cuda/bin/nvcc"});
  if (compiler.empty()) GTEST_SKIP() << "no nvcc";
  const Folder folder;
  const fs::path file = folder.write("all.cu", all_in_one(DeviceLanguage::kCuda, "#include <cuda_fp16.h>\n"));
  const auto built = run_command(Command{
      {compiler, "-ptx", "-w", "-Xptxas", "-O0", "-o", (folder.path / "all.ptx").string(), file.string()}});
  ASSERT_TRUE(built && built->ok()) << (built ? built->err.substr(0, 4000) : built.error().message);
}

// What a compiler for C++ must be told to read the other two: qualifiers mean nothing, functions are
// declared.
constexpr std::string_view kCudaWords = R"(
#include <cmath>
using namespace std;
struct Index { unsigned x, y, z; };
extern const Index threadIdx, blockIdx, blockDim, gridDim;
void __syncthreads();
float __int_as_float(int);
int __float_as_int(float);
#define __global__
#define __device__
#define __shared__ static
#define __forceinline__ inline
#define __restrict__ __restrict
#define __launch_bounds__(n)
)";
constexpr std::string_view kMetalWords = R"(
#include <cmath>
#include <type_traits>
using std::fabs; using std::floor; using std::ceil; using std::rint; using std::sinh; using std::cosh;
using std::asinh; using std::acosh; using std::atanh; using std::asin; using std::acos; using std::atan;
using std::fmod;
namespace precise { using std::sqrt; using std::exp; using std::log; using std::sin; using std::cos; using std::tan;
using std::tanh; using std::pow; }
typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned uint; typedef unsigned long ulong;
struct half { half(float); operator float() const; };
struct uint3 { uint x, y, z; };
enum class mem_flags { mem_threadgroup = 1, mem_device = 2 };
constexpr mem_flags operator|(mem_flags a, mem_flags) { return a; }
void threadgroup_barrier(mem_flags);
template <class T, class F> T as_type(F x) { static_assert(sizeof(T) == sizeof(F)); return __builtin_bit_cast(T, x); }
#define kernel
#define device
#define threadgroup static
#define constant static const
using namespace precise;
)";

// Types, names and syntax, by a C++ compiler that reads the qualifiers as nothing: not the real compiler of
// either language.
void reads_as_cpp(DeviceLanguage language, std::string_view words) {
  const std::string compiler = first_that_runs({"clang++", "clang++-19", "clang++-14", "g++"});
  if (compiler.empty()) GTEST_SKIP() << "no C++ compiler";
  const Folder folder;
  std::string text = all_in_one(language, std::string(words));
  for (std::size_t at; (at = text.find("using namespace metal;")) != std::string::npos;) text.erase(at, 22);
  const fs::path file = folder.write("all.cc", text);
  const auto built =
      run_command(Command{{compiler, "-std=c++20", "-fsyntax-only", "-w", "-x", "c++", file.string()}});
  ASSERT_TRUE(built && built->ok()) << (built ? built->err.substr(0, 4000) : built.error().message);
}
TEST(SmithDevice, CudaReadsAsCpp) { reads_as_cpp(DeviceLanguage::kCuda, kCudaWords); }
TEST(SmithDevice, MslReadsAsCpp) { reads_as_cpp(DeviceLanguage::kMsl, kMetalWords); }

// The plan names what the source has: every launched kernel is defined once, takes as many buffers as the
// plan gives it, and every buffer is one of the task's or of the plan's.
TEST(SmithDevice, PlansAndSourcesBelongTogether) {
  for (const Case& c : cases(false))
    for (const DeviceLanguage language : smith::kDeviceLanguages) {
      auto design = smith::device_design(c.problem, language);
      ASSERT_TRUE(design) << c.problem.name << ": " << design.error().text();
      const auto plan = nlohmann::json::parse(design->plan);
      ASSERT_FALSE(plan.at("run").empty());
      std::set<std::string> known;
      for (const smith::Argument& argument : c.problem.arguments) known.insert(argument.c_name);
      for (const auto& [name, info] : plan.at("buffers").items()) {
        EXPECT_TRUE(known.insert(name).second) << name << " is a buffer and an argument";
        EXPECT_TRUE(dtype_from_name(info.at("dtype").get<std::string>()));
      }
      for (const char* part : {"prepare", "run"})
        for (const auto& step : plan.at(part)) {
          const std::string name = step.at("kernel");
          const std::string mark =
              language == DeviceLanguage::kGlsl ? "#ifdef KERNEL_" + name + "\n" : name + "(";
          const std::size_t at = design->source.find(mark);
          ASSERT_NE(at, std::string::npos) << name << "\n" << design->source;
          EXPECT_EQ(design->source.find(mark, at + 1), std::string::npos) << name;
          for (const std::string arg : step.at("args")) EXPECT_TRUE(known.contains(arg)) << arg;
          for (const std::int64_t groups : step.at("grid"))
            EXPECT_TRUE(groups >= 1 && groups <= 65535) << groups;
          const std::int64_t block = step.at("block")[0];
          EXPECT_TRUE(block >= 32 && block <= 256) << block;
        }
    }
}

}  // namespace
}  // namespace kforge
