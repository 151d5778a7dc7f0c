// Real baselines through the protocol: outputs agree with the oracle, weights are prepared anew, errors have
// reasons.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "base/files.h"
#include "baseline/baseline.h"
#include "baseline/operator_times.h"
#include "execute/fill.h"
#include "execute/program_process.h"
#include "execute/waiting_runners.h"
#include "oracle/oracle.h"

namespace kforge {
namespace {

constexpr std::chrono::milliseconds kLimit{300'000};

Task write_task(const fs::path& folder, const std::string& toml, const std::string& graph) {
  fs::create_directories(folder);
  EXPECT_TRUE(write_file_atomic(folder / "task.toml", toml));
  EXPECT_TRUE(write_file_atomic(folder / "graph.onnx.txt", graph));
  auto task = load_task(folder.string());
  EXPECT_TRUE(task) << task.error().text();
  return std::move(*task);
}

constexpr const char* kToml = R"(
description = "one of everything a baseline meets: params, inputs, an inout, several outputs, operators in pieces"
[shapes]
bench = { B = 33, K = 64, N = 48 }
small = { B = 4, K = 8, N = 8 }
odd = { B = 3, K = 7, N = 5 }
[tensors.w]
role = "param"
[tensors.bias]
role = "param"
[tensors.state]
role = "inout"
output = "state_new"
)";
constexpr const char* kGraph = R"(
mixed (float[B, K] x, float[N, K] w, float[N] bias, float[B, N] state) => (float[B, N] y, float[B, N] state_new, float[B, 1] top, float[B, N] normal)
{
  half = Constant <value = float {0.5}> ()
  one = Constant <value = float {1.0}> ()
  root_two = Constant <value = float {1.41421356}> ()
  epsilon = Constant <value = float {0.00001}> ()
  g = Gemm <transB = 1> (x, w, bias)
  y = Relu(g)
  s = Mul(state, half)
  state_new = Add(s, y)
  top = ReduceMax <axes = [1]> (y)
  scaled = Div(g, root_two)
  error = Erf(scaled)
  more = Add(error, one)
  twice = Mul(g, more)
  gelu = Mul(twice, half)
  mean = ReduceMean <axes = [1]> (gelu)
  centred = Sub(gelu, mean)
  square = Mul(centred, centred)
  variance = ReduceMean <axes = [1]> (square)
  padded = Add(variance, epsilon)
  deviation = Sqrt(padded)
  unit = Div(centred, deviation)
  normal = Mul(unit, bias)
}
)";

// The values of one slot against the oracle, within fp32 rounding.
void expect_right(const BoundTask& task, const InputMemory& inputs, const TensorMemory& outputs,
                  InputChoice params, InputChoice choice, std::uint32_t slot, const std::string& who) {
  std::vector<std::vector<std::byte>> data(task.arguments.size());
  std::vector<TensorView> views;
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    if (argument.role == Role::kOutput) continue;
    data[a].resize(argument.bytes());
    InputChoice used = argument.role == Role::kParam ? params : choice;
    fill_argument(argument, used.kind, used.seed, a, data[a]);
    views.push_back({argument.name, argument.dtype, argument.shape, data[a].data()});
  }
  auto truth = run_oracle(task.graph, views, Precision::kFp64, 1);
  ASSERT_TRUE(truth) << truth.error().text();
  for (std::size_t a = 0; a < task.arguments.size(); ++a) {
    const BoundArgument& argument = task.arguments[a];
    if (argument.role != Role::kOutput && argument.role != Role::kInout) continue;
    const std::string& name = argument.role == Role::kInout ? argument.output : argument.name;
    std::size_t index = 0;
    while (task.graph.outputs[index].name != name) ++index;
    const auto& want = std::get<std::vector<double>>((*truth)[index].values);
    auto* got = reinterpret_cast<const float*>(outputs.tensor(a, slot).data());
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_NEAR(got[i], want[i], 1e-5 * std::max(1.0, std::abs(want[i])))
          << who << ": " << name << "[" << i << "]";
  }
  (void)inputs;
}

void expect_serves(const Baseline& baseline, const BoundTask& task) {
  auto inputs = InputMemory::create(task, 3);
  ASSERT_TRUE(inputs);
  auto started = ProgramProcess::start(baseline.spec, task, *inputs, kLimit);
  ASSERT_TRUE(started) << started.error().text();
  ASSERT_TRUE(started->has_value()) << baseline.name << ": " << reason_text(started->error());
  ProgramProcess& process = ***started;
  for (std::uint64_t round = 1; round <= 2;
       ++round) {  // new params must not meet weights packed from the old ones
    InputChoice params{InputKind::kOwn, round};
    fill_params(task, *inputs, params);
    auto prepared = process.prepare(kLimit);
    ASSERT_TRUE(prepared && prepared->has_value()) << baseline.name << ": " << reason_text(prepared->error());
    for (std::uint32_t slot = 0; slot < 3; ++slot) {
      fill_inputs(task, *inputs, {InputKind::kOwn, 10 * round + slot}, slot);
      reset_outputs(task, process.outputs(), {InputKind::kOwn, 10 * round + slot}, slot);
    }
    auto called = process.call({2, 0, 1}, kLimit);
    ASSERT_TRUE(called && called->has_value()) << baseline.name << ": " << reason_text(called->error());
    for (std::uint32_t slot = 0; slot < 3; ++slot)
      expect_right(task, *inputs, process.outputs(), params, {InputKind::kOwn, 10 * round + slot}, slot,
                   baseline.name);
  }
  auto finished = process.finish();
  EXPECT_TRUE(finished && finished->has_value()) << baseline.name << ": " << reason_text(finished->error());
}

class BaselinePrograms : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto folder = TempDir::create(0755);
    ASSERT_TRUE(folder);
    folder_ = std::move(*folder);
    auto machine = describe_machine();
    ASSERT_TRUE(machine);
    machine_ = std::move(*machine);
  }

  // The baseline, or nothing with the reason in `absent`.
  std::optional<Baseline> find(const BoundTask& task, const std::string& name, std::string* absent) {
    BaselineOptions options;
    options.names = {name};
    if (const char* python = std::getenv("KFORGE_TEST_PYTHON")) options.python = python;
    auto found = find_baselines(task, machine_, options, folder_.path());
    if (!found) {
      *absent = found.error().text();
      return std::nullopt;
    }
    for (const AbsentBaseline& one : found->absent) *absent = one.reason;
    if (found->present.empty()) return std::nullopt;
    return found->present[0];
  }

  TempDir folder_;
  Machine machine_;
};

TEST_P(BaselinePrograms, ServesATaskWithEveryRole) {
  Task task = write_task(folder_.path() / "mixed", kToml, kGraph);
  auto bound = bind_task(task, "bench");
  ASSERT_TRUE(bound) << bound.error().text();
  std::string absent;
  auto baseline = find(*bound, GetParam(), &absent);
  if (!baseline) GTEST_SKIP() << GetParam() << " is absent: " << absent;
  EXPECT_NE(baseline->what, "");
  expect_serves(*baseline, *bound);
}

// torch.compile takes half a minute to compile; it is tried when a Python for the tests is named.
INSTANTIATE_TEST_SUITE_P(Baselines, BaselinePrograms,
                         ::testing::Values("onednn", "onnxruntime", "openvino", "torch"),
                         [](const auto& info) { return std::string(info.param); });

// What the processes whose command lines name `argument` have mapped.
std::string mapped_by(const std::string& argument) {
  const auto text_of = [](const fs::path& path) {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  std::string mapped;
  for (const auto& entry : fs::directory_iterator("/proc"))
    if (text_of(entry.path() / "cmdline").find(argument) != std::string::npos)
      mapped += text_of(entry.path() / "maps");
  return mapped;
}

// Importing a library takes seconds: a process that was started ahead of its turn has done so.
TEST_F(BaselinePrograms, OneThatWaitsHasItsLibraryLoaded) {
  Task task = write_task(folder_.path() / "mixed", kToml, kGraph);
  auto bound = bind_task(task, "bench");
  ASSERT_TRUE(bound) << bound.error().text();
  std::string absent;
  auto baseline = find(*bound, "onnxruntime", &absent);
  if (!baseline) GTEST_SKIP() << "onnxruntime is absent: " << absent;
  baseline->spec.waiting = std::make_shared<WaitingRunners>(
      baseline->spec, std::vector{baseline->spec.threads}, kLimit, WaitingRunners::When::kInBackground);
  std::unique_ptr<ProgramProcess> ready = baseline->spec.waiting->take(baseline->spec.threads);
  ASSERT_TRUE(ready);
  EXPECT_NE(mapped_by(baseline->spec.argv.back()).find("onnxruntime_pybind"), std::string::npos);
  ready.reset();
  baseline->spec.waiting = std::make_shared<WaitingRunners>(
      baseline->spec, std::vector{baseline->spec.threads}, kLimit, WaitingRunners::When::kInBackground);
  expect_serves(*baseline, *bound);
}

TEST_F(BaselinePrograms, AnOperatorWithoutImplementationIsAReason) {
  Task task = write_task(folder_.path() / "det", "description = \"determinant\"\n[shapes]\n",
                         "det (float[2, 3, 3] x) => (float[2] y) { y = Det(x) }");
  auto bound = bind_task(task, "bench");
  ASSERT_TRUE(bound) << bound.error().text();
  std::string absent;
  auto baseline = find(*bound, "onednn", &absent);
  ASSERT_TRUE(baseline) << absent;
  auto inputs = InputMemory::create(*bound, 1);
  auto started = ProgramProcess::start(baseline->spec, *bound, *inputs, kLimit);
  ASSERT_TRUE(started);
  ASSERT_FALSE(started->has_value());
  EXPECT_NE(reason_text(started->error()).find("Det"), std::string::npos) << reason_text(started->error());
}

TEST_F(BaselinePrograms, AMisspeltNameGetsASuggestion) {
  Task task = write_task(folder_.path() / "mixed", kToml, kGraph);
  auto bound = bind_task(task, "small");
  ASSERT_TRUE(bound);
  std::string absent;
  EXPECT_FALSE(find(*bound, "onedn", &absent));
  EXPECT_NE(absent.find("onednn"), std::string::npos) << absent;
}

TEST_F(BaselinePrograms, AbsentOnesSayWhatToInstall) {
  Task task = write_task(folder_.path() / "mixed", kToml, kGraph);
  auto bound = bind_task(task, "small");
  ASSERT_TRUE(bound);
  BaselineOptions options;
  options.python = "/nowhere/python3";
  auto found = find_baselines(*bound, machine_, options, folder_.path());
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->present.size(), 1u);
  EXPECT_EQ(found->present[0].name, "onednn");
  ASSERT_EQ(found->absent.size(), 4u);
  for (const AbsentBaseline& absent : found->absent) {
    EXPECT_NE(absent.reason, "");
    EXPECT_NE(absent.remedy.find("install"), std::string::npos) << absent.remedy;
  }
}

// A Python that only says what it has, like the probe's answer.
fs::path pretended_python(const fs::path& folder, const std::string& torch,
                          const std::string& numpy = "1.26") {
  fs::path path = folder / "python";
  EXPECT_TRUE(write_file_atomic(
      path,
      fmt::format(
          "#!/bin/sh\necho '{{\"versions\": {{\"numpy\": \"{}\", \"torch\": \"{}\"}}, \"folders\": []}}'\n",
          numpy, torch),
      0755));
  return path;
}

TEST_F(BaselinePrograms, TheNewestTorchIsTakenUnlessOneIsNamed) {
  Task task = write_task(folder_.path() / "mixed", kToml, kGraph);
  auto bound = bind_task(task, "small");
  ASSERT_TRUE(bound);
  auto old_folder = TempDir::create(), new_folder = TempDir::create();
  fs::path old_python = pretended_python(old_folder->path(), "1.2.0"),
           new_python = pretended_python(new_folder->path(), "99.1.0");
  ::setenv("KFORGE_PYTHON", fmt::format("{}:{}", old_python.string(), new_python.string()).c_str(), 1);
  BaselineOptions options;
  options.names = {"torch", "torch.compile"};
  auto newest = find_baselines(*bound, machine_, options, folder_.path());
  options.python = old_python;
  auto named = find_baselines(*bound, machine_, options, folder_.path());
  ::unsetenv("KFORGE_PYTHON");
  ASSERT_TRUE(newest && named);
  ASSERT_EQ(newest->present.size(), 2u);
  EXPECT_EQ(newest->present[0].spec.argv[0], new_python);
  EXPECT_EQ(newest->present[1].spec.argv[0], new_python);
  ASSERT_EQ(named->present.size(), 2u);
  EXPECT_EQ(named->present[0].spec.argv[0], old_python);
  EXPECT_EQ(named->present[1].spec.argv[0], new_python) << "1.2 has no compile";
}

TEST_F(BaselinePrograms, ATorchThatCannotSeeTheArraysOfItsNumpyIsPassedOver) {
  Task task = write_task(folder_.path() / "mixed", kToml, kGraph);
  auto bound = bind_task(task, "small");
  ASSERT_TRUE(bound);
  auto broken_folder = TempDir::create(), good_folder = TempDir::create();
  fs::path broken = pretended_python(broken_folder->path(), "2.2.1", "2.0.1"),
           good = pretended_python(good_folder->path(), "1.2.0");
  ::setenv("KFORGE_PYTHON", fmt::format("{}:{}", broken.string(), good.string()).c_str(), 1);
  BaselineOptions options;
  options.names = {"torch"};
  auto found = find_baselines(*bound, machine_, options, folder_.path());
  ::unsetenv("KFORGE_PYTHON");
  ASSERT_TRUE(found);
  ASSERT_EQ(found->present.size(), 1u);
  EXPECT_NE(found->present[0].spec.argv[0], broken);
}

TEST(OperatorTimes, OneRowPerOperatorInGraphOrderAndOnlyOnce) {
  TempDir folder = TempDir::create(0755).value();
  Task task = write_task(folder.path() / "mixed", kToml, kGraph);
  auto bound = bind_task(task, "bench");
  ASSERT_TRUE(bound);
  auto machine = describe_machine();
  ASSERT_TRUE(machine);
  FileCache cache(folder.path() / "cache", 0);
  auto times = operator_times(*bound, *machine, 1, true, folder.path(), cache);
  ASSERT_TRUE(times) << times.error().text();
  std::vector<std::string> ops;
  for (const OperatorTime& time : *times) {
    ops.push_back(time.op);
    EXPECT_GT(time.ns, 0) << time.node;
  }
  EXPECT_EQ(ops, (std::vector<std::string>{"Gemm", "Relu", "Mul", "Add", "ReduceMax", "Gelu",
                                           "LayerNormalization"}));
  auto again = operator_times(*bound, *machine, 1, true, folder.path(), cache);
  ASSERT_TRUE(again);
  for (std::size_t i = 0; i < times->size(); ++i) EXPECT_EQ((*again)[i].ns, (*times)[i].ns) << "kept";
}

TEST(OperatorTimes, OddLinesAreSkipped) {
  auto times = parse_operator_times("a\tAdd\t12\nb\tMul\nc\tMul\tsoon\nd\tMul\t-3\n\ne\tExp\t7.5");
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[1].node, "e");
  EXPECT_EQ(times[1].ns, 7.5);
}

}  // namespace
}  // namespace kforge
