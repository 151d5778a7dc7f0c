// The checking variants: each of the one-bug kernels is reported with kind and line, the memory traffic of a
// kernel is what its index arithmetic says.
#include <gtest/gtest.h>

#include <sstream>

#include "emulate/findings.h"
#include "emulated_program.h"

namespace kforge {
namespace {

using emulate::Finding;
using emulate::FindingKind;
using emulate::Report;
using emulate::Variant;

// The line of a kernel's text that is marked.
int marked_line(const std::string& source, const std::string& kernel) {
  std::istringstream lines(source);
  int number = 0;
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find(" " + kernel + "(") != std::string::npos) inside = true;
    if (inside && line.find("// here") != std::string::npos) return number;
  }
  return -1;
}

Report run_checked(const TestProgram& program, const std::vector<void*>& tensors) {
  const emulate::Request request = request_for(program);
  const auto library = build_library(request);
  if (!library || !library->has_value()) {
    ADD_FAILURE() << (library ? reason_text(library->error()) : library.error().text());
    return {};
  }
  std::vector<std::byte> memory(emulate::report_bytes());
  LoadedProgram(request).call(tensors, memory.data());
  auto report = emulate::read_report(memory, **library, SandboxTier::kNone);
  EXPECT_TRUE(report) << report.error().text();
  return report ? *report : Report{};
}

TestProgram bugs(Variant variant) {
  TestProgram program;
  program.variant = variant;
  program.source = test_file("cuda/bugs.cu");
  program.tensors = {{"y", DType::kFloat32, 64, true}};
  auto step = [](const char* name, const char* args, const char* more = "") {
    return fmt::format(R"({{"kernel": "{}", "grid": [2], "block": [64], "args": [{}]{}}},)", name, args,
                       more);
  };
  std::string run =
      step("shared_overrun", R"("y")") + step("dynamic_overrun", R"("y")", R"(, "shared_bytes": 256)") +
      step("global_overrun", R"("y")") + step("missing_barrier", R"("y")") + step("write_race", R"("y")") +
      step("divergent_barriers", R"("y")") + step("early_exit", R"("y", {"i32": 50})") +
      step("waits_for_each_other", R"("y")") + step("absent_lanes", R"("y")") +
      step("never_written", R"("y")") + step("private_overrun", R"("y", {"i32": 8})") +
      step("missing_wait", R"("y")") + step("missing_fence", R"("y")") + step("fence_of_the_block", R"("y")");
  run.pop_back();
  program.plan = R"({"run": [)" + run + "]}";
  return program;
}

TEST(EmulatorChecks, EveryBugIsFoundWithItsLine) {
  const TestProgram program = bugs(Variant::kCheck);
  std::vector<float> y(64, 1.0f);
  const Report report = run_checked(program, {y.data()});
  std::string all;
  for (const Finding& finding : report.findings) all += finding.sentence() + "\n";
  const std::pair<const char*, FindingKind> expected[] = {
      {"shared_overrun", FindingKind::kOutOfBounds},
      {"dynamic_overrun", FindingKind::kOutOfBounds},
      {"global_overrun", FindingKind::kOutOfBounds},
      {"missing_barrier", FindingKind::kRace},
      {"write_race", FindingKind::kRace},
      {"divergent_barriers", FindingKind::kBarrierDiverged},
      {"early_exit", FindingKind::kBarrierLeft},
      {"waits_for_each_other", FindingKind::kDeadlock},
      {"absent_lanes", FindingKind::kLaneAbsent},
      {"never_written", FindingKind::kUnwritten},
      {"private_overrun", FindingKind::kOutOfBounds},
      {"missing_wait", FindingKind::kRace},
  };
  for (const auto& [kernel, kind] : expected) {
    const int line = marked_line(program.source, kernel);
    bool found = false;
    for (const Finding& finding : report.findings)
      for (const auto& place : finding.places)
        found |= finding.kernel == kernel && finding.kind == kind && place.file == "kernel.cu" &&
                 place.line == line;
    EXPECT_TRUE(found) << kernel << ": no " << name_of(kind) << " at line " << line << " in\n" << all;
  }
}

// Between blocks only a fence for all of them and an atomic order what they write and read.
TEST(EmulatorChecks, AMissingFenceIsARace) {
  const TestProgram program = bugs(Variant::kCheck);
  std::vector<float> y(64, 1.0f);
  std::set<std::string> kernels;
  for (const Finding& finding : run_checked(program, {y.data()}).findings)
    if (finding.kind == FindingKind::kRace) kernels.insert(finding.kernel);
  EXPECT_TRUE(kernels.contains("missing_fence"));
  EXPECT_TRUE(kernels.contains("fence_of_the_block"));
}

// Who waits before looking, and fences for all blocks, is silent.
TEST(EmulatorChecks, AWaitAndAFenceAreEnough) {
  TestProgram program;
  program.variant = Variant::kCheck;
  program.source = R"(#include <cuda_pipeline.h>
__device__ float parts[2];
__device__ unsigned finished;
extern "C" __global__ void k(const float* x, float* y) {
  __shared__ float stage[2][64];
  const int i = threadIdx.x;
  for (int s = 0; s < 2; ++s) {
    __pipeline_memcpy_async(&stage[s][i], &x[64 * s + i], 4, i == 5 ? 4 : 0);
    __pipeline_commit();
  }
  float sum = 0;
  for (int s = 0; s < 2; ++s) {
    s == 0 ? __pipeline_wait_prior(1) : __pipeline_wait_prior(0);
    __syncthreads();
    sum += stage[s][63 - i];
    __syncthreads();
  }
  if (i != 0) return;
  parts[blockIdx.x] = sum;
  __threadfence();
  if (atomicAdd(&finished, 1) % gridDim.x == gridDim.x - 1) y[0] = parts[0] + parts[1];
}
)";
  program.tensors = {{"x", DType::kFloat32, 128}, {"y", DType::kFloat32, 1, true}};
  program.plan = R"({"run": [{"kernel": "k", "grid": [2], "block": [64], "args": ["x", "y"]}]})";
  std::vector<float> x(128, 2.0f), y(1);
  const Report report = run_checked(program, {x.data(), y.data()});
  for (const Finding& finding : report.findings) ADD_FAILURE() << finding.sentence();
  EXPECT_EQ(y[0], 8.0f);
}

// Without a history of accesses: bounds and barriers only.
TEST(EmulatorChecks, BoundsAreFoundByAsanToo) {
  const TestProgram program = bugs(Variant::kAsan);
  std::vector<float> y(64, 1.0f);
  const Report report = run_checked(program, {y.data()});
  std::set<std::string> kernels;
  for (const Finding& finding : report.findings) {
    EXPECT_NE(finding.kind, FindingKind::kRace);
    if (finding.kind == FindingKind::kOutOfBounds) kernels.insert(finding.kernel);
  }
  EXPECT_EQ(kernels, (std::set<std::string>{"shared_overrun", "dynamic_overrun", "global_overrun",
                                            "private_overrun"}));
  EXPECT_TRUE(report.traffic.empty()) << "that is for check and count";
}

TEST(EmulatorChecks, TrafficIsCounted) {
  TestProgram program;
  program.variant = Variant::kCheck;
  program.source =
      "__global__ void k(const float* x, float* y) {\n"
      "  __shared__ float a[32][32];\n"
      "  int i = threadIdx.x;\n"
      "  a[i][0] = x[i * 8];\n"  // 32 passes over one bank; every lane a sector of its own
      "  __syncthreads();\n"
      "  float v = a[0][0];\n"  // one word for all
      "  if (i % 2) v = 3;\n"
      "  y[i] = v;\n"  // four sectors
      "}\n";
  program.tensors = {{"x", DType::kFloat32, 256}, {"y", DType::kFloat32, 32, true}};
  program.plan = R"({"run": [{"kernel": "k", "grid": [1], "block": [32], "args": ["x", "y"]}]})";
  std::vector<float> x(256, 1.0f), y(32);
  const Report report = run_checked(program, {x.data(), y.data()});
  EXPECT_TRUE(report.findings.empty());
  auto row = [&](int line, bool shared, bool write) {
    for (const auto& traffic : report.traffic)
      if (traffic.line == line && traffic.shared == shared && traffic.write == write) return traffic;
    ADD_FAILURE() << "nothing at line " << line;
    return emulate::Traffic{};
  };
  EXPECT_EQ(row(4, false, false).units, 32);
  EXPECT_EQ(row(4, true, true).units, 32);
  EXPECT_EQ(row(6, true, false).units, 1);
  EXPECT_EQ(row(8, false, true).units, 4);
  EXPECT_EQ(row(8, false, true).lanes, 32);
}

// What a candidate does to forge the report is an access outside of its memory, and is not made.
TEST(EmulatorChecks, TheReportCannotBeWritten) {
  TestProgram program;
  program.variant = Variant::kCheck;
  program.source =
      "__global__ void k(float* y) {\n"
      "  y[99999] = 1;\n"
      "  if (threadIdx.x == 1)\n"
      "    for (long at = -4096; at < 4096; at += 4) *(volatile float*)((char*)&threadIdx + at) = 0;\n"
      "}\n";
  program.tensors = {{"y", DType::kFloat32, 4, true}};
  program.plan = R"({"run": [{"kernel": "k", "grid": [1], "block": [4], "args": ["y"]}]})";
  std::vector<float> y(4);
  const Report report = run_checked(program, {y.data()});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].times, 4u);
  EXPECT_EQ(report.findings[0].places[0].line, 2);
}

}  // namespace
}  // namespace kforge
