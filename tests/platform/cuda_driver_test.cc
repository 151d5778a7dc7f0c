// CUDA through its driver, whole, where there is no GPU: tests/platform/fake_cuda stands in for driver and
// compilers. Never run on hardware.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_case.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class CudaDriver : public testing::Test {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "drivers do not run beside the sanitizers";
#endif
    use_home_of_tests();
    auto platform = load_platform("cuda");
    ASSERT_TRUE(platform) << platform.error().text();
    if (Readiness readiness = probe_platform(*platform); !readiness.usable())
      GTEST_SKIP() << readiness.reason << ": " << readiness.remedy;
    if (!platform->emulates_device()) GTEST_SKIP() << "there is a GPU, and a driver of its own";
    shipped_ = platform->folder;
    install();
    write_platform("");
  }

  // What the sandbox shows: driver, compilers, the emulator that they stand on.
  static void install() {
    static const bool done = [] {
      const fs::path build = KFORGE_BINARY_DIR, data = data_root().value();
      fs::copy(build / "fake_cuda", vendor(), fs::copy_options::recursive);
      fs::copy(data / "src/emulate/include", vendor() / "include", fs::copy_options::recursive);
      fs::copy_file(data / "tests/platform/fake_cuda/module.h", vendor() / "include/module.h");
      fs::copy_file(build / "kforge-emulate-fast", vendor() / "kforge-emulate-fast");
      for (const auto& entry : fs::recursive_directory_iterator(vendor()))
        fs::permissions(entry.path(), fs::perms(0755));
      return true;
    }();
    ASSERT_TRUE(done);
  }
  static fs::path vendor() {
    static TempDir folder = TempDir::create(0755).value();
    return folder.path() / "vendor";
  }

  // The shipped folder with the fake's paths; `more` are variables for the driver.
  void write_platform(const std::string& more, bool nvcc = true) {
    static int number = 0;
    folder_ = vendor().parent_path() / fmt::format("cuda{}", ++number);
    fs::copy(shipped_, folder_, fs::copy_options::recursive);
    std::string text = read_file(folder_ / "platform.toml").value();
    const std::string section = "[sandbox]\n";
    const std::size_t at = text.find(section);
    ASSERT_NE(at, std::string::npos);
    text.insert(
        at + section.size(),
        fmt::format(
            "read = [\"{0}\"]\nenv = {{ LD_LIBRARY_PATH = \"{0}/lib:{0}/nvrtc\", PATH = "
            "\"{1}/usr/bin:/bin\", CUDA_HOME = \"{0}/none\", FAKE_CUDA_NVCC = \"{0}/bin/nvcc\"{2} }}\n",
            vendor().string(), nvcc ? vendor().string() + "/bin:" : "", more));
    std::ofstream(folder_ / "platform.toml") << text;
  }

  EvalReport judged(const std::string& source, const std::string& plan, bool check_only = true) {
    auto report = judge_device(folder_.string(), (folder_ / "example").string(),
                               {{"kernel.cu", source}, {"plan.json", plan}}, check_only);
    EXPECT_TRUE(report) << report.error().text();
    return report.value_or(EvalReport{});
  }
  std::string example(const char* name) const { return read_file(folder_ / "example" / name).value(); }
  // One shape is enough here.
  std::string source() const {
    std::string text = example("kernel.cu");
    return text.replace(text.find("kforge: general"), 15, "any shape");
  }

  fs::path shipped_, folder_;
};

TEST_F(CudaDriver, OpensAndSaysWhatItIs) {
  const Readiness readiness = probe_platform(load_platform(folder_.string()).value());
  ASSERT_EQ(readiness.state, Readiness::State::kReady) << readiness.reason;
  ASSERT_TRUE(readiness.device);
  EXPECT_EQ(readiness.device->api, "cuda");
  EXPECT_EQ(readiness.device->version, "CUDA 12.4, sm_90");
  EXPECT_EQ(readiness.device->shared_bytes, 227u << 10);
  EXPECT_TRUE(readiness.device->denormals);
  EXPECT_TRUE(readiness.device->nonfinite);
}

// A probe kernel finds it out, whatever a driver would say.
TEST_F(CudaDriver, FlushedDenormalsAreNoticed) {
  write_platform(", FAKE_CUDA_FLUSH = \"1\"");
  const Readiness readiness = probe_platform(load_platform(folder_.string()).value());
  ASSERT_TRUE(readiness.device) << readiness.reason;
  EXPECT_FALSE(readiness.device->denormals);
  EXPECT_TRUE(readiness.device->nonfinite);
}

TEST_F(CudaDriver, WithoutAGpuTheEmulatorTakesItsPlace) {
  write_platform(", FAKE_CUDA_DEVICES = \"0\"");
  const Platform platform = load_platform(folder_.string()).value();
  EXPECT_TRUE(platform.emulates_device());
  const Readiness readiness = probe_platform(platform);
  EXPECT_EQ(readiness.state, Readiness::State::kEmulated);
  EXPECT_THAT(readiness.reason, HasSubstr("CUDA_ERROR_NO_DEVICE"));
}

TEST_F(CudaDriver, TheExamplePassesAndIsTimed) {
  const EvalReport report = judged(source(), example("plan.json"), false);
  EXPECT_EQ(report.outcome, Outcome::kPassed) << report.reason;
  EXPECT_FALSE(report.device.emulated);
  EXPECT_EQ(report.device.name, "KForge's emulator behind a driver");
  EXPECT_THAT(report.build->log, HasSubstr("32 registers"));
}

TEST_F(CudaDriver, NvrtcCompilesWhereThereIsNoNvcc) {
  write_platform("", false);
  const EvalReport report = judged(source(), example("plan.json"));
  EXPECT_EQ(report.outcome, Outcome::kPassed) << report.reason;
  const EvalReport wrong = judged(source() + "\nint nonsense = undeclared;\n", example("plan.json"));
  EXPECT_EQ(wrong.outcome, Outcome::kCompileError);
  EXPECT_THAT(wrong.reason, HasSubstr("kernel.cu"));
}

// Everything a plan may say: fills of every width, copies, prepare, offsets, scalars, much shared memory.
TEST_F(CudaDriver, EveryStepOfAPlanRuns) {
  const EvalReport report = judged(
      R"(#include "task.h"
extern __shared__ float row[];
extern "C" __global__ void one(const float* x, float* copy, const long long* big, const short* half, float factor, long long n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  row[40 * 256 + threadIdx.x] = i < n ? x[i] : 0;
  if (i < n) copy[64 + i] = row[40 * 256 + threadIdx.x] * factor * (big[3] == 5) * (half[1] == 7);
}
extern "C" __global__ void rows(const float* copy, const float* ones, float* y) {
  const float* from = copy + blockIdx.x * task::D;
  float largest = from[0], sum = 0;
  for (int d = 0; d < task::D; ++d) largest = fmaxf(largest, from[d]);
  for (int d = 0; d < task::D; ++d) sum += expf(from[d] - largest);
  for (int d = 0; d < task::D; ++d) y[blockIdx.x * task::D + d] = expf(from[d] - largest) / sum * ones[d];
}
)",
      R"json({"buffers": {"work": {"dtype": "float32", "shape": ["B*D+64"]}, "same": {"dtype": "float32", "shape": ["B*D+64"]},
 "ones": {"dtype": "float32", "shape": ["D"]}, "big": {"dtype": "int64", "shape": [9]}, "half": {"dtype": "int16", "shape": [2]}},
 "prepare": [{"fill": "ones", "value": 1}, {"fill": "big", "value": 5}],
 "run": [{"fill": "half", "value": 7},
  {"kernel": "one", "grid": ["ceildiv(B*D, 256)"], "block": [256], "shared_bytes": "4*256*41", "args": ["x", "work", "big", "half", {"f32": 1}, {"i64": "B*D"}]},
  {"copy": ["work", "same"]},
  {"kernel": "rows", "grid": ["B"], "block": [1], "args": [{"buffer": "same", "offset": 256}, "ones", "y"]}]})json");
  EXPECT_EQ(report.outcome, Outcome::kPassed) << report.reason;
}

TEST_F(CudaDriver, WhatThePlanGivesIsComparedWithTheModule) {
  const EvalReport report = judged(
      source(),
      R"({"defines": {"THREADS": 128}, "run": [{"kernel": "row_softmax", "grid": ["B"], "block": ["THREADS"],
 "shared_bytes": "4*D", "args": ["x", "y", {"i32": 1}]}]})");
  EXPECT_EQ(report.outcome, Outcome::kCompileError);
  EXPECT_THAT(report.reason, HasSubstr("kernel 'row_softmax' takes 2 arguments, and the plan gives it 3"));
}

TEST_F(CudaDriver, WhatIsWrittenOutsideIsFound) {
  std::string text = source();
  text.insert(text.rfind("}"), "  if (threadIdx.x == 0) y[task::B * task::D + 3] = 1;\n");
  const EvalReport report = judged(text, example("plan.json"));
  EXPECT_EQ(report.outcome, Outcome::kRejected);
  EXPECT_EQ(report.gate, Gate::kMemory) << report.reason;
  EXPECT_THAT(report.reason, HasSubstr("past the end of y"));
}

TEST_F(CudaDriver, AFaultOfTheGpuIsACrashOfTheProgram) {
  const EvalReport passed = judged(source(), example("plan.json"));
  ASSERT_EQ(passed.outcome, Outcome::kPassed) << passed.reason;
  std::string text = source();
  text.insert(text.rfind("}"), "  *reinterpret_cast<volatile float*>(x[0] > 1e30f ? 8ul : 16ul) = 1;\n");
  const EvalReport report = judged(text, example("plan.json"));
  EXPECT_EQ(report.outcome, Outcome::kCrash) << report.reason;
}

// Gate clock: the device's own times against the wall's.
TEST_F(CudaDriver, AClockThatDisagreesIsRefused) {
  write_platform(", FAKE_CUDA_CLOCK = \"5\"");
  const EvalReport report = judged(source(), example("plan.json"), false);
  EXPECT_EQ(report.outcome, Outcome::kRejected) << report.reason;
  EXPECT_EQ(report.gate, Gate::kClock) << report.reason;
}

}  // namespace
}  // namespace kforge
