// Command platforms from their folder to a verdict: Fortran, and a folder whose runner is a shell script.
#include <gmock/gmock.h>

#include <algorithm>

#include "judge/platform_check.h"
#include "judge/wrong_command_programs.h"
#include "platform/platform_case.h"

namespace kforge {
namespace {

using testing::HasSubstr;

class CommandPlatforms : public testing::Test {
 protected:
  void SetUp() override { use_home_of_tests(); }

  Result<EvalReport> judge(const Platform& platform, const std::string& source, bool check_only) {
    EvalOptions options = options_on(platform.folder.string(), (platform.folder / "example").string());
    options.kernel = dir_.path() / ("kernel" + platform.files.front());
    options.check_only = check_only;
    options.rounds = 3;
    options.call_limit_seconds = call_limit_;
    std::ofstream(options.kernel) << source;
    SilentProgress progress;
    return evaluate(options, progress);
  }

  double call_limit_ = 10;
  TempDir dir_ = TempDir::create(0755).value();
};

TEST_F(CommandPlatforms, FortranIsJudgedAndTimedBySlopes) {
  const Platform platform = load_platform("fortran").value();
  const Readiness readiness = probe_platform(platform);
  if (!readiness.usable()) GTEST_SKIP() << readiness.reason;
  // One that is made for its shapes is quicker to judge than the general example.
  const std::string honest = read_file(platform.folder / "check/twice.f90").value();
  auto report = judge(platform, honest, false);
  ASSERT_TRUE(report) << report.error().text();
  EXPECT_TRUE(report->passed()) << report->reason;
  EXPECT_TRUE(report->time_ns);
  EXPECT_THAT(report->device.driver, HasSubstr("Fortran"));
  auto clock = std::ranges::find(report->gates, Gate::kClock, &GateResult::gate);
  ASSERT_NE(clock, report->gates.end());
  EXPECT_THAT(clock->summary, HasSubstr("come once in every run"));
  EXPECT_THAT(clock->summary, HasSubstr("the program itself says"));
  auto threads = std::ranges::find(report->gates, Gate::kThreads, &GateResult::gate);
  ASSERT_NE(threads, report->gates.end()) << "what does not apply is recorded";
  EXPECT_EQ(threads->state, GateState::kSkipped);

  auto broken = judge(platform, "! kforge: flags -O0\nsubroutine kernel() bind(C)\nend subroutine\n", true);
  ASSERT_TRUE(broken) << broken.error().text();
  EXPECT_EQ(broken->outcome, Outcome::kCompileError);
  EXPECT_THAT(broken->reason,
              HasSubstr("kernel.f90:1: error: unknown directive 'flags' on a command platform"));
  broken = judge(platform, "subroutine kernel( bind(C)\nend subroutine\n", true);
  ASSERT_TRUE(broken) << broken.error().text();
  EXPECT_EQ(broken->outcome, Outcome::kCompileError);
  EXPECT_THAT(broken->reason, HasSubstr("kernel.f90:1"));
}

TEST_F(CommandPlatforms, FortransWrongProgramsFailAsTheyShould) {
  const Platform platform = load_platform("fortran").value();
  const Readiness readiness = probe_platform(platform);
  if (!readiness.usable()) GTEST_SKIP() << readiness.reason;
  auto programs = wrong_command_programs(platform);
  ASSERT_TRUE(programs) << programs.error().text();
  EXPECT_GE(programs->size(), 9u);
  for (const WrongProgram& program : *programs) {
    if (program.name == "endless") continue;  // `platforms check` waits for it
    auto report = judge(platform, program.candidate.files.front().content, true);
    ASSERT_TRUE(report) << report.error().text();
    EXPECT_TRUE(program.expects(report->outcome, report->gate))
        << program.name << ": " << name_of(report->outcome) << " " << report->reason;
  }
}

// A stranger's language: sh. The runner copies inputs to outputs, which is the task; the program says how
// often.
// Answers in KernelBench's form, with an imported task's own module beside them.
TEST_F(CommandPlatforms, PyTorchAnswersGetTheParametersOfTheModule) {
  const Platform platform = load_platform("pytorch").value();
  const Readiness readiness = probe_platform(platform);
  if (!readiness.usable()) GTEST_SKIP() << readiness.reason;
  const fs::path task = dir_.path() / "linear";
  fs::create_directory(task);
  std::ofstream(task / "task.toml") << "description = \"d\"\n[module]\nfile = \"reference.py\"\n"
                                       "numbers = { rows = 64, width = 8 }\n[shapes]\n"
                                       "bench = { rows = 64 }\nsmall = { rows = 2 }\nodd = { rows = 3 }\n"
                                       "[tensors]\nlinear_weight = { role = \"param\" }\n"
                                       "linear_bias = { role = \"param\" }\n";
  std::ofstream(task / "graph.onnx.txt")
      << "g (float[rows, 8] x, float[4, 8] linear_weight, float[4] linear_bias) => (float[rows, 4] y)\n"
         "{ t = Gemm <transB = 1> (x, linear_weight, linear_bias) y = Relu(t) }\n";
  const std::string module =
      "import torch\nclass NAME(torch.nn.Module):\n    def __init__(self, width, floor):\n"
      "        super().__init__()\n        self.linear = torch.nn.Linear(width, 4)\n"
      "        self.floor = floor\n    def forward(self, x, floor):\n"
      "        return torch.clamp(self.linear(x), min=self.floor + floor)\n";
  auto named = [&](const std::string& name, const std::string& text) {
    std::string out = text;
    return out.replace(out.find("NAME"), 4, name);
  };
  std::ofstream(task / "reference.py")
      << named("Model", module) +
             "rows = 99\nwidth = 99\ndef get_inputs():\n    return [torch.rand(rows, width), 0.0]\n"
             "def get_init_inputs():\n    return [width, 0.0]\n";
  auto judged = [&](const std::string& source) {
    EvalOptions options = options_on(platform.folder.string(), task.string());
    options.kernel = dir_.path() / "model_new.py";
    options.check_only = true;
    options.shape_set = "small";
    std::ofstream(options.kernel) << source;
    SilentProgress progress;
    return evaluate(options, progress).value();
  };
  EXPECT_TRUE(judged(named("ModelNew", module)).passed());
  std::string wrong = named("ModelNew", module);
  wrong.replace(wrong.find("torch.nn.Linear(width, 4)"), 25, "torch.nn.Linear(width, 5)");
  const EvalReport report = judged(wrong);
  EXPECT_FALSE(report.passed());
  EXPECT_THAT(report.reason, HasSubstr("of ModelNew is [5, 8], of Model [4, 8]"));
  // A missing package is said before anything runs, unless the answer can do without it.
  const EvalReport lacking = judged("import a_package_that_nobody_has\n" + named("ModelNew", module));
  EXPECT_EQ(lacking.outcome, Outcome::kCompileError);
  EXPECT_THAT(lacking.reason, HasSubstr("model_new.py:1: error:"));
  EXPECT_THAT(lacking.reason, HasSubstr("has no package a_package_that_nobody_has; pip install"));
}

class ShellPlatform : public CommandPlatforms {
 protected:
  void SetUp() override {
    CommandPlatforms::SetUp();
    folder_ = dir_.path() / "shell";
    fs::create_directories(folder_ / "example");
    write("platform.toml", R"(description = "sh"
kind = "command"
language = "sh"
files = [".sh"]
comment = "#"
[run]
command = ["/bin/bash", "${platform}/runner.sh", "${program}"]
)");
    write("runner.sh", R"(
program=$1; shift
while [ $# -gt 0 ]; do case $1 in --inputs) in=$2;; --outputs) out=$2;; --calls) calls=$2;; esac; shift 2; done
. "$program"
)");
    write("example/task.toml",
          "description = \"a copy\"\n[shapes]\nbench = { N = 4096 }\nsmall = { N = 4096 }\nodd = { N = 4096 "
          "}\n");
    write("example/graph.onnx.txt", "copy (float[N] x) => (float[N] y)\n{\n  y = Identity (x)\n}\n");
  }
  void write(const char* name, const std::string& text) { std::ofstream(folder_ / name) << text; }
  EvalReport outcome(const std::string& program, bool check_only = true) {
    auto report = judge(load_platform(folder_.string()).value(), program, check_only);
    EXPECT_TRUE(report) << report.error().text();
    return report ? *report : EvalReport{};
  }

  fs::path folder_;
};

constexpr const char* kHonestCopy = R"(
bytes=$((calls * 4 * 4096))
tail -c $bytes "$in" | dd of="$out" bs=64k conv=notrunc oflag=seek_bytes seek=$(($(stat -Lc %s "$out") - bytes)) 2>/dev/null
)";

TEST_F(ShellPlatform, AFolderInAnyLanguageIsJudged) {
  EvalReport report = outcome(kHonestCopy);
  EXPECT_TRUE(report.passed()) << report.reason;
  report = outcome("exit 0\n");
  EXPECT_EQ(report.outcome, Outcome::kWrongValue);
  EXPECT_EQ(report.gate, Gate::kMemory) << "what is not written is seen in files, too";
  report = outcome("rm -f \"$out\"; : >\"$out\"\n");
  EXPECT_EQ(report.outcome, Outcome::kWrongShape);
  call_limit_ = 1;
  report = outcome("sleep 100 & sleep 100\n");
  EXPECT_EQ(report.outcome, Outcome::kTimeout);
}

// Whoever makes the run of one call long makes the slope flat: a run in between does not lie on the line.
TEST_F(ShellPlatform, ARunOfOneCallThatWaitsIsSeenByGateClock) {
  const EvalReport report = outcome(std::string("[ $calls = 1 ] && sleep 0.3\n") + kHonestCopy, false);
  EXPECT_EQ(report.outcome, Outcome::kRejected) << report.reason;
  EXPECT_EQ(report.gate, Gate::kClock) << report.reason;
}

// Packages that are not installed, and where they are, are two things the probe tells apart.
TEST_F(ShellPlatform, TheProbeSaysWhatIsMissingAndWhatIsEmulated) {
  const std::string text = read_file(folder_ / "platform.toml").value();
  auto readiness = [&](const std::string& probe) {
    write("platform.toml", text + "[probe]\nremedy = \"install it\"\n" + probe);
    return probe_platform(load_platform(folder_.string()).value());
  };
  Readiness found =
      readiness("argv = [\"python3\", \"-c\", \"import sys; sys.exit('no Python package triton')\"]\n");
  EXPECT_EQ(found.state, Readiness::State::kMissing);
  EXPECT_THAT(found.reason, HasSubstr("no Python package triton"));
  EXPECT_EQ(found.remedy, "install it");
  EXPECT_EQ(readiness("argv = [\"echo\", \"one 1, interpreter\"]\nemulated = \"interpreter\"\n").state,
            Readiness::State::kEmulated);
  EXPECT_EQ(readiness("argv = [\"echo\", \"one 1, GPU\"]\nemulated = \"interpreter\"\n").state,
            Readiness::State::kReady);
  write("platform.toml", text + "[probe]\nargv = [\"echo\", \"interpreter\"]\nemulated = \"interpreter\"\n");
  const EvalReport report = outcome(kHonestCopy, false);
  EXPECT_TRUE(report.passed()) << report.reason;
  EXPECT_FALSE(report.time_ns) << "verified, not timed";
}

TEST_F(ShellPlatform, TritonIsReadAndSaysWhatItNeeds) {
  auto triton = load_platform("triton");
  ASSERT_TRUE(triton) << triton.error().text();
  const Readiness readiness = probe_platform(*triton);
  if (readiness.usable()) GTEST_SKIP() << "it is here: " << readiness.reason;
  EXPECT_THAT(readiness.remedy, HasSubstr("pip install triton torch numpy"));
}

}  // namespace
}  // namespace kforge
