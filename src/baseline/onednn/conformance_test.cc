// Runs the official node tests of ONNX (package libonnx-testdata) through the plan: what is supported must be
// right.
#include <gtest/gtest.h>
#include <omp.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>

#include "base/files.h"
#include "baseline/onednn/plan.h"
#include "graph/tensor_proto.h"

namespace kforge::onednn {
namespace {

const fs::path kTests = "/usr/share/libonnx-testdata/data/node";

struct Case {
  Graph graph;
  std::vector<ConstantTensor> inputs, outputs;
};

std::optional<ConstantTensor> read_tensor(const fs::path& path) {
  auto bytes = read_file(path);
  onnx::TensorProto proto;
  if (!bytes || !proto.ParseFromString(*bytes)) return std::nullopt;
  auto tensor = tensor_from_proto(proto, "");
  if (!tensor) return std::nullopt;
  return std::move(*tensor);
}

std::optional<Case> read_case(const fs::path& folder) {
  auto graph = load_graph(folder / "model.onnx");
  if (!graph) return std::nullopt;
  Case test{std::move(*graph), {}, {}};
  for (std::size_t i = 0; i < test.graph.inputs.size(); ++i) {
    auto tensor = read_tensor(folder / "test_data_set_0" / fmt::format("input_{}.pb", i));
    if (!tensor) return std::nullopt;
    test.inputs.push_back(std::move(*tensor));
  }
  for (std::size_t i = 0; i < test.graph.outputs.size(); ++i) {
    auto tensor = read_tensor(folder / "test_data_set_0" / fmt::format("output_{}.pb", i));
    if (!tensor) return std::nullopt;
    test.outputs.push_back(std::move(*tensor));
  }
  return test;
}

// Short whole-number inputs are axes, shapes and the like; a task has them as constants.
void fold_small_inputs(Case& test) {
  for (std::size_t i = test.inputs.size(); i-- > 0;) {
    const ConstantTensor& tensor = test.inputs[i];
    bool shape_like = tensor.dtype == DType::kInt64 && tensor.shape.size() <= 1;
    bool scalar = tensor.shape.empty();
    if (!shape_like && !scalar) continue;
    test.graph.initializers.push_back({test.graph.inputs[i].name, tensor, true});
    test.graph.inputs.erase(test.graph.inputs.begin() + static_cast<std::ptrdiff_t>(i));
    test.inputs.erase(test.inputs.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

BoundArgument argument_of(const std::string& name, Role role, const ConstantTensor& tensor) {
  BoundArgument argument{};
  argument.name = argument.c_name = name;
  argument.role = role;
  argument.dtype = tensor.dtype;
  argument.shape = tensor.shape;
  return argument;
}

TensorType concrete(const ConstantTensor& tensor) {
  TensorType type;
  type.dtype = tensor.dtype;
  for (std::int64_t d : tensor.shape) type.dims.push_back({d, {}});
  return type;
}

std::string difference(const ConstantTensor& got, const ConstantTensor& expected) {
  if (!is_float(expected.dtype)) return got.data == expected.data ? "" : "whole numbers differ";
  std::vector<double> a = got.as_double(), b = expected.as_double();
  double squares = 0;
  for (double value : b) squares += std::isfinite(value) ? value * value : 0;
  double rms = std::sqrt(squares / std::max<double>(1, static_cast<double>(b.size())));
  double tolerance = expected.dtype == DType::kFloat32 ? 5e-6 : 2e-3;
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (std::isnan(b[i]) ? std::isnan(a[i]) : a[i] == b[i]) continue;
    if (!(std::abs(a[i] - b[i]) <= tolerance * std::max(std::abs(b[i]), rms) + 1e-7))
      return fmt::format("element {} is {} and should be {}", i, a[i], b[i]);
  }
  return "";
}

enum class Outcome { kPassed, kFailed, kUnsupported };

Outcome run_case(Case& test, std::string* why) {
  fold_small_inputs(test);
  BoundTask task;
  task.graph = test.graph;
  std::vector<std::vector<std::byte>> memory;
  for (std::size_t i = 0; i < test.inputs.size(); ++i) {
    task.arguments.push_back(argument_of(test.graph.inputs[i].name, Role::kInput, test.inputs[i]));
    task.graph.types[test.graph.inputs[i].name] = concrete(test.inputs[i]);
    memory.push_back(test.inputs[i].data);
  }
  for (std::size_t i = 0; i < test.outputs.size(); ++i) {
    task.arguments.push_back(argument_of(test.graph.outputs[i].name, Role::kOutput, test.outputs[i]));
    task.graph.types[test.graph.outputs[i].name] = concrete(test.outputs[i]);
    memory.emplace_back(test.outputs[i].data.size(), std::byte{0xff});
  }
  auto plan = Plan::make(task);
  if (!plan) {
    *why = plan.error().message;
    return Outcome::kUnsupported;
  }
  std::vector<std::byte*> pointers;
  for (auto& bytes : memory) pointers.push_back(bytes.data());
  (*plan)->prepare(pointers);
  (*plan)->call(pointers);
  for (std::size_t i = 0; i < test.outputs.size(); ++i) {
    ConstantTensor got = test.outputs[i];
    got.data = memory[test.inputs.size() + i];
    if (*why = difference(got, test.outputs[i]); !why->empty()) return Outcome::kFailed;
  }
  return Outcome::kPassed;
}

TEST(OneDnnConformance, OfficialNodeTests) {
  omp_set_num_threads(1);  // tiny tensors: waking threads would only slow it down
  if (!fs::exists(kTests)) GTEST_SKIP() << "the package libonnx-testdata is not installed";
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(kTests)) folders.push_back(entry.path());
  std::ranges::sort(folders);
  int passed = 0, failed = 0, unsupported = 0;
  bool verbose = std::getenv("KFORGE_VERBOSE") != nullptr;
  for (const fs::path& folder : folders) {
    auto test = read_case(folder);
    std::string why;
    Outcome outcome = test ? run_case(*test, &why) : Outcome::kUnsupported;
    passed += outcome == Outcome::kPassed;
    unsupported += outcome == Outcome::kUnsupported;
    if (outcome == Outcome::kUnsupported && verbose)
      fmt::print("unsupported {}: {}\n", folder.filename().string(), why);
    if (outcome != Outcome::kFailed) continue;
    ++failed;
    ADD_FAILURE() << folder.filename().string() << ": " << why;
  }
  fmt::print("onednn on {} node tests: {} passed, {} failed, {} unsupported\n", folders.size(), passed,
             failed, unsupported);
  EXPECT_EQ(failed, 0);
  EXPECT_GE(passed, 400);
}

}  // namespace
}  // namespace kforge::onednn
