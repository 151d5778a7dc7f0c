// Every cheating, hostile or honest kernel of this folder through the real evaluation: attacks on the machine
// under every sandbox tier that works here, wrong values and wrong times under one. Each must end as its file
// says, with a reason, in time, and leave nothing behind. One test per kernel and tier, each in a process of
// its own when run by CTest: an attack that brings the parent down fails one test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "adversarial/kernel_case.h"
#include "adversarial/leftovers.h"
#include "base/files.h"
#include "baseline/python_probe.h"
#include "judge/evaluate.h"
#include "machine/machine.h"
#include "platform/platform.h"
#include "report/eval_terminal.h"
#include "store/eval_report.h"
#include "store/evidence_json.h"

namespace kforge {
namespace {

using testing::AnyOfArray;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr double kSecondsForOne = 240;  // beside eight busy processes; a quarter of it alone
// A kernel that only repeats honest work, timed beside the honest one: surely faster by this much is a gain.
constexpr double kGain = 1.33;

const fs::path kFolder = fs::path(KFORGE_SOURCE_DIR) / "tests" / "adversarial";

std::string tier_label(SandboxTier tier) {
  return tier == SandboxTier::kBubblewrap ? "bubblewrap" : "landlock";
}

// State of all these tests: build cache, peaks, oracle values. Kept between runs, like a user's.
fs::path home() {
  fs::path folder = fs::path(KFORGE_BINARY_DIR) / "adversarial_home";
  fs::create_directories(folder);
  return folder;
}

struct Parameter {
  KernelCase kernel;
  SandboxTier tier = SandboxTier::kBubblewrap;
};

void PrintTo(const Parameter& parameter, std::ostream* out) { *out << parameter.kernel.name; }

std::string name_of_parameter(const testing::TestParamInfo<Parameter>& info) {
  return info.param.kernel.name + "_" + tier_label(info.param.tier);
}

// A kernel that is expected to crash, to hang or to meet the sandbox, and a check of an honest one, may end
// in another way where another sandbox stands around it. Values and times are judged alike in both.
bool concerns_the_sandbox(const KernelCase& kernel) {
  static const bool all = std::getenv("KFORGE_ALL_TIERS") != nullptr;
  const auto either = [&](const char* outcome) { return std::ranges::count(kernel.outcomes, outcome) > 0; };
  return all || std::ranges::count(kernel.gates, "sandbox") > 0 || either("crash") || either("timeout") ||
         !kernel.leaves.empty() || (either("passed") && !kernel.full);
}

// Half of them under each tier.
SandboxTier only_tier(const KernelCase& kernel) {
  return kernel.name.size() % 2 == 0 ? SandboxTier::kBubblewrap : SandboxTier::kLandlock;
}

std::vector<Parameter> parameters(const char* folder, bool full) {
  std::vector<Parameter> all;
  auto kernels = read_kernel_cases(kFolder / folder);
  if (!kernels) throw std::runtime_error(kernels.error().text());
  for (const KernelCase& kernel : *kernels)
    for (SandboxTier tier : {SandboxTier::kBubblewrap, SandboxTier::kLandlock})
      if (kernel.full == full && (concerns_the_sandbox(kernel) || tier == only_tier(kernel)))
        all.push_back({kernel, tier});
  return all;
}

// Drivers are slow to start: the second sandbox is tried with the honest ones.
std::vector<Parameter> device_parameters() {
  std::vector<Parameter> all;
  auto kernels = read_kernel_cases(kFolder / "devices");
  if (!kernels) throw std::runtime_error(kernels.error().text());
  for (const KernelCase& kernel : *kernels) {
    all.push_back({kernel, SandboxTier::kBubblewrap});
    if (kernel.name == "honest") all.push_back({kernel, SandboxTier::kLandlock});
  }
  return all;
}

// Answers in KernelBench's form. Every run starts PyTorch, which takes seconds: those that are let through
// every gate, with some twenty runs each, are for the long test.
std::vector<Parameter> answer_parameters() {
  std::vector<Parameter> all;
  auto kernels = read_kernel_cases(kFolder / "answers");
  if (!kernels) throw std::runtime_error(kernels.error().text());
  const bool long_test = std::getenv("KFORGE_ALL_TIERS") != nullptr;
  for (const KernelCase& kernel : *kernels)
    if (long_test || kernel.outcomes != std::vector<std::string>{"passed"})
      all.push_back({kernel, only_tier(kernel)});
  return all;
}

std::string name_of_device_parameter(const testing::TestParamInfo<Parameter>& info) {
  return info.param.kernel.on + "_" + name_of_parameter(info);
}

class Judged : public testing::TestWithParam<Parameter> {
 protected:
  void SetUp() override {
    const Parameter& parameter = GetParam();
    ::setenv("KFORGE_HOME", home().c_str(), 1);
    if (auto why = tier_unavailable(parameter.tier)) GTEST_SKIP() << *why;
    auto machine = describe_machine();
    ASSERT_TRUE(machine) << machine.error().text();
    if (const std::string& needs = parameter.kernel.needs;
        !needs.empty() && !machine->features.contains(needs))
      GTEST_SKIP() << "this machine has no " << needs;
    auto folder = TempDir::create(0755);
    ASSERT_TRUE(folder);
    folder_ = std::move(*folder);
    fs::create_directory(folder_.path() / "tmp");
    auto platform = test_platform(folder_.path());
    ASSERT_TRUE(platform) << platform.error().text();
    platform_ = *platform;
  }

  Result<EvalReport> judge(const KernelCase& kernel) const {
    SilentProgress progress;
    return evaluate(quick_options(kernel, GetParam().tier, platform_), progress);
  }

  // The file with the places filled in that only this machine knows.
  KernelCase on_this_machine(KernelCase kernel) const {
    if (!kernel.plan.empty()) {
      auto folder = write_device_program(kernel, folder_.path());
      EXPECT_TRUE(folder) << folder.error().text();
      if (folder) kernel.file = *folder;
      return kernel;
    }
    std::string text = *read_file(kernel.file);
    static constexpr std::string_view kHome = "@KFORGE_HOME@";
    auto at = text.find(kHome);
    if (at == std::string::npos) return kernel;
    text.replace(at, kHome.size(), home().string());
    kernel.file = folder_.path() / kernel.file.filename();
    EXPECT_TRUE(write_file_atomic(kernel.file, text));
    return kernel;
  }

  // Runs it and checks what must hold for every kernel; an empty report when even that failed.
  EvalReport judge_and_check() {
    KernelCase kernel = on_this_machine(GetParam().kernel);
    LeftoverWatch watch(folder_.path() / "tmp");
    auto start = std::chrono::steady_clock::now();
    auto report = judge(kernel);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    ::unsetenv("TMPDIR");
    EXPECT_TRUE(report) << report.error().text();
    if (!report) return {};
    std::string outcome(name_of(report->outcome));
    SCOPED_TRACE(fmt::format("outcome {}, gate {}: {}", outcome, report->gate_name(), report->reason));
    EXPECT_THAT(kernel.outcomes, testing::Contains(outcome));
    if (!report->passed()) {
      EXPECT_THAT(report->reason, Not(IsEmpty()));
    }
    if (!kernel.flag.empty()) {
      EXPECT_THAT(report->flags, testing::Contains(kernel.flag));
    }
    EXPECT_LT(seconds, kSecondsForOne);
    EXPECT_THAT(watch.found(kernel.leaves), IsEmpty());
    std::string shown = report->reason + to_terminal(*report, {.colour = false, .explain = true}) +
                        evidence_text(report->evidence);
    if (report->build) shown += report->build->log;
    EXPECT_THAT(shown, Not(HasSubstr("\033"))) << "terminal codes of the candidate reach the reader";
    if (!kernel.hides.empty()) {
      EXPECT_THAT(shown, Not(HasSubstr(kernel.hides)));
    }
    RecordProperty("outcome", outcome);
    RecordProperty("reason", report->reason);
    return *report;
  }

  TempDir folder_;
  fs::path platform_;
};

class Cheat : public Judged {};
// A device program, as a folder.
class OnDevice : public Judged {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "drivers do not run beside the sanitizers";
#endif
    Judged::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    auto platform = load_platform(GetParam().kernel.on);
    ASSERT_TRUE(platform) << platform.error().text();
    if (const Readiness here = probe_platform(*platform); !here.usable())
      GTEST_SKIP() << here.reason << ": " << here.remedy;
  }
};
class Answer : public Judged {
 protected:
  void SetUp() override {
    Judged::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (auto python = python_with_torch({}); !python) GTEST_SKIP() << python.error().text();
  }
};
class TimedCheat : public Judged {};
class Honest : public Judged {};
class TimedHonest : public Judged {};

void expect_gate(const KernelCase& kernel, const EvalReport& report) {
  if (kernel.gates.empty() ||
      (report.outcome != Outcome::kRejected && report.outcome != Outcome::kWrongValue))
    return;
  EXPECT_THAT(kernel.gates, testing::Contains(report.gate_name())) << report.reason;
}

TEST_P(Cheat, EndsAsItsFileSays) {
  EvalReport report = judge_and_check();
  expect_gate(GetParam().kernel, report);
}

TEST_P(OnDevice, EndsAsItsFileSays) {
  EvalReport report = judge_and_check();
  expect_gate(GetParam().kernel, report);
}

TEST_P(Answer, EndsAsItsFileSays) {
  EvalReport report = judge_and_check();
  expect_gate(GetParam().kernel, report);
}

TEST_P(TimedCheat, EndsAsItsFileSays) {
  const KernelCase& kernel = GetParam().kernel;
  EvalReport report = judge_and_check();
  expect_gate(kernel, report);
  if (!report.passed() || kernel.not_faster_than.empty()) return;
  // It was let through, so the two are timed in turns: noise hits both, and what is left is what it gained.
  fs::path honest = kFolder / "honest" / (kernel.not_faster_than + ".cc");
  auto options = quick_options(kernel, GetParam().tier, platform_);
  options.baselines = {"honest=" + honest.string()};
  SilentProgress progress;
  auto beside = evaluate(options, progress);
  ASSERT_TRUE(beside) << beside.error().text();
  if (!beside->passed()) return;  // found out this time
  ASSERT_TRUE(beside->speedup);
  EXPECT_LT(beside->speedup->lo, kGain) << "it gained by not doing its work";
}

TEST_P(Honest, PassesEveryGate) {
  EvalReport report = judge_and_check();
  EXPECT_EQ(report.outcome, Outcome::kPassed) << report.gate_name() << ": " << report.reason;
}

TEST_P(TimedHonest, PassesEveryGate) {
  EvalReport report = judge_and_check();
  EXPECT_EQ(report.outcome, Outcome::kPassed) << report.gate_name() << ": " << report.reason;
  EXPECT_TRUE(report.time_ns);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Cheat, testing::ValuesIn(parameters("cheats", false)), name_of_parameter);
INSTANTIATE_TEST_SUITE_P(Kernels, OnDevice, testing::ValuesIn(device_parameters()), name_of_device_parameter);
INSTANTIATE_TEST_SUITE_P(Kernels, Answer, testing::ValuesIn(answer_parameters()), name_of_device_parameter);
INSTANTIATE_TEST_SUITE_P(Kernels, TimedCheat, testing::ValuesIn(parameters("cheats", true)),
                         name_of_parameter);
INSTANTIATE_TEST_SUITE_P(Kernels, Honest, testing::ValuesIn(parameters("honest", false)), name_of_parameter);
INSTANTIATE_TEST_SUITE_P(Kernels, TimedHonest, testing::ValuesIn(parameters("honest", true)),
                         name_of_parameter);

// A source of 500 MB is refused before anything reads it whole. The file is sparse: it costs no disk.
TEST(HugeSource, IsRefusedAtOnce) {
  ::setenv("KFORGE_HOME", home().c_str(), 1);
  auto folder = TempDir::create();
  ASSERT_TRUE(folder);
  fs::path file = folder->path() / "kernel.cc";
  std::ofstream(file) << "// a very long comment ";
  fs::resize_file(file, 500'000'000);
  EvalOptions options;
  options.task = "core/relu";
  options.kernel = file;
  options.shape_set = "small";
  options.check_only = true;
  SilentProgress progress;
  auto start = std::chrono::steady_clock::now();
  auto report = evaluate(options, progress);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_EQ(report->outcome, Outcome::kNoProgram);
  EXPECT_THAT(report->reason, HasSubstr("4 MiB"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

// The tests above are only as good as the folder is full.
TEST(Folder, HasEnoughKernelsOfBothSorts) {
  auto cheats = read_kernel_cases(kFolder / "cheats"), honest = read_kernel_cases(kFolder / "honest");
  ASSERT_TRUE(cheats && honest);
  EXPECT_GE(cheats->size(), 100u);
  EXPECT_GE(honest->size(), 30u);
  for (const KernelCase& kernel : *honest)
    EXPECT_THAT(kernel.outcomes, testing::ElementsAre("passed")) << kernel.name;
}

}  // namespace
}  // namespace kforge
