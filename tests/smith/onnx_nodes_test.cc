// Every operator the oracle has is written by the smith, or named below with the reason why not; and what it
// writes gives the values that ONNX publishes for its operators. Loop nests are interpreted; programs with
// native code are compiled (all of them are with SMITH_COMPILE_ALL=1).
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "compiled_kernels.h"
#include "graph/tensor_proto.h"
#include "oracle/ops/operators.h"
#include "oracle/oracle.h"
#include "smith/graph/lowering.h"
#include "smith/graph/passes.h"
#include "smith/loops/interpret.h"

namespace kforge {
namespace {

namespace fs = std::filesystem;

// Kernels have arguments of fixed shape and hold numbers: these cannot be one.
const std::map<std::string, std::string> kNoKernel = {
    {"NonZero", "the shape of its result depends on data"},
    {"Unique", "the shape of its result depends on data"},
    {"NonMaxSuppression", "the shape of its result depends on data"},
    {"StringNormalizer", "works on text"},
    {"Opaque", "what the module computes is not known"},
    {"TfIdfVectorizer", "works on text or sets of n-grams"},
};

std::vector<std::string> oracle_operators() {
#define KF_NAME(name) #name,
  return {KF_ORACLE_OPERATORS(KF_NAME)};
#undef KF_NAME
}

TEST(SmithOperators, EveryOperatorOfTheOracleIsWrittenOrNamed) {
  for (const std::string& op : oracle_operators()) {
    const bool written = smith::find_lowering(Node{.name = op, .op = op}) != nullptr;
    EXPECT_EQ(written, !kNoKernel.contains(op)) << op;
  }
}

struct NodeTest {
  std::string name;
  smith::Problem problem;
  std::vector<ConstantTensor> inputs, outputs;  // by the problem's arguments
};

Result<ConstantTensor> read_tensor(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  onnx::TensorProto proto;
  if (!proto.ParseFromIstream(&file)) return fail("{} is not a tensor", path.filename().string());
  return tensor_from_proto(proto, "");
}

// What operators take for shapes, axes and counts: small, and the first input only where it is one number.
bool like_a_setting(std::size_t position, const ConstantTensor& tensor) {
  return element_count(tensor.shape) <= (position > 0 ? 16 : 1);
}

// One published test as a problem. `settings`: small inputs are part of the graph.
Result<NodeTest> read_node_test(const fs::path& folder, const Machine& machine, bool settings) {
  KF_TRY(Graph graph, load_graph(folder / "model.onnx"));
  // The values of this test were computed with an epsilon that its model does not name.
  if (folder.filename() == "test_adam_multiple") graph.nodes.at(0).attributes["epsilon"] = 0.01f;
  NodeTest test{.name = folder.filename()};
  Graph bound = graph;
  bound.inputs.clear();
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    KF_TRY(ConstantTensor tensor, read_tensor(folder / "test_data_set_0" / fmt::format("input_{}.pb", i)));
    const DType wanted = graph.inputs[i].type.dtype;
    if (wanted == DType::kBFloat16 && tensor.dtype == DType::kUInt16) tensor.dtype = wanted;
    if (settings && like_a_setting(i, tensor)) {
      bound.initializers.push_back({graph.inputs[i].name, std::move(tensor), true});
      continue;
    }
    Value input = graph.inputs[i];
    input.type.dims.clear();
    for (const std::int64_t extent : tensor.shape) input.type.dims.push_back({extent, ""});
    bound.inputs.push_back(input);
    test.problem.arguments.push_back(
        {input.name, fmt::format("a{}", i), "", smith::ArgumentRole::kInput, tensor.dtype, tensor.shape, {}});
    test.inputs.push_back(std::move(tensor));
  }
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
    KF_TRY(ConstantTensor tensor, read_tensor(folder / "test_data_set_0" / fmt::format("output_{}.pb", i)));
    const DType wanted = graph.outputs[i].type.dtype;
    if (wanted == DType::kBFloat16 && tensor.dtype == DType::kUInt16) tensor.dtype = wanted;
    test.problem.arguments.push_back({graph.outputs[i].name,
                                      fmt::format("y{}", i),
                                      "",
                                      smith::ArgumentRole::kOutput,
                                      tensor.dtype,
                                      tensor.shape,
                                      {}});
    test.outputs.push_back(std::move(tensor));
  }
  KF_TRY(test.problem.graph, bind_dims(bound, {}));
  test.problem.name = test.name;
  test.problem.threads = 2;
  test.problem.machine = machine;
  return test;
}

std::string difference(const std::vector<double>& got, const ConstantTensor& want) {
  const auto wanted = want.as_double();
  if (got.size() < wanted.size()) return fmt::format("{} elements of {}", got.size(), wanted.size());
  const bool real = is_float(want.dtype);
  const double relative = want.dtype == DType::kBFloat16  ? 1.0 / 100
                          : want.dtype == DType::kFloat16 ? 2e-3
                                                          : 1e-3;
  // What is quantised from a tie may fall on the other side.
  const double slack = real ? 2e-6 : size_of(want.dtype) == 1 && want.dtype != DType::kBool ? 1 : 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(got[i]) && std::isnan(wanted[i])) continue;
    if (got[i] == wanted[i]) continue;
    if (std::fabs(got[i] - wanted[i]) <= slack + (real ? relative * std::fabs(wanted[i]) : 0)) continue;
    return fmt::format("[{}] is {} instead of {}", i, got[i], wanted[i]);
  }
  return "";
}

bool has_native_code(const smith::Program& program) {
  for (const smith::Stage& stage : program.stages)
    if (stage.native) return true;
  return false;
}

std::string interpreted(const NodeTest& test, const smith::Program& lowered) {
  const smith::Program program = smith::tidy_dimensions(smith::split_reductions(smith::prune(lowered), 2));
  std::map<std::string, std::vector<double>> memory;
  std::map<std::string, std::string> tensors;  // by name in C
  for (const auto& [name, info] : program.tensors) tensors[info.c_name] = name;
  std::size_t input = 0, output = 0;
  for (const smith::Argument& argument : test.problem.arguments)
    if (argument.role == smith::ArgumentRole::kInput)
      memory[tensors[argument.c_name]] = test.inputs[input++].as_double();
  if (auto ran = smith::interpret(smith::build_nest(program), memory, 7); !ran) return ran.error().message;
  for (const smith::Argument& argument : test.problem.arguments)
    if (argument.role == smith::ArgumentRole::kOutput)
      if (std::string off = difference(memory[tensors[argument.c_name]], test.outputs[output++]);
          !off.empty())
        return argument.name + off;
  return "";
}

std::string called(const NodeTest& test, KernelCall call) {
  std::vector<std::vector<std::byte>> memory;
  std::vector<void*> pointers;
  std::size_t input = 0, output = 0;
  for (const smith::Argument& argument : test.problem.arguments) {
    const bool out = argument.role == smith::ArgumentRole::kOutput;
    const ConstantTensor& tensor = out ? test.outputs[output++] : test.inputs[input++];
    memory.emplace_back(tensor.data.size() + 128);
    auto at = reinterpret_cast<std::uintptr_t>(memory.back().data());
    std::byte* aligned = memory.back().data() + (64 - at % 64) % 64;
    if (!out) std::memcpy(aligned, tensor.data.data(), tensor.data.size());
    pointers.push_back(aligned);
  }
  call(pointers.data());
  output = 0;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (test.problem.arguments[i].role != smith::ArgumentRole::kOutput) continue;
    ConstantTensor got = test.outputs[output];
    std::memcpy(got.data.data(), pointers[i], got.data.size());
    if (std::string off = difference(got.as_double(), test.outputs[output++]); !off.empty())
      return test.problem.arguments[i].name + off;
  }
  return "";
}

TEST(SmithOperators, GiveThePublishedValues) {
  const fs::path folder = "/usr/share/libonnx-testdata/data/node";
  if (!fs::is_directory(folder)) GTEST_SKIP() << "apt-get install libonnx-testdata";
  auto machine = describe_machine();
  ASSERT_TRUE(machine);
  const bool compile_all = std::getenv("SMITH_COMPILE_ALL") != nullptr;
  const char* only = std::getenv("SMITH_TEST");
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder))
    if (!only || entry.path().filename().string().find(only) != std::string::npos)
      folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  int passed = 0;
  std::map<std::string, std::vector<std::string>> refused;
  std::vector<NodeTest> to_compile;
  std::vector<KernelSource> sources;
  auto compile = [&](NodeTest& test) {
    auto design = smith::first_design(test.problem);
    ASSERT_TRUE(design) << test.name << ": " << design.error().text();
    sources.push_back({test.problem, design->source});
    to_compile.push_back(std::move(test));
  };
  for (const fs::path& path : folders) {
    if (std::getenv("SMITH_TRACE")) fmt::print(stderr, "{}\n", path.filename().string());
    std::string why;
    for (const bool settings : {false, true}) {
      auto test = read_node_test(path, *machine, settings);
      if (!test) {
        why = "no graph or data: " + test.error().message;
        continue;
      }
      bool text = false;
      for (const smith::Argument& argument : test->problem.arguments)
        text |= argument.dtype == DType::kString;
      if (text) {
        why = "text";
        break;
      }
      std::vector<std::string> missing;
      if (!oracle_supports(test->problem.graph, &missing)) {
        why = "not in the oracle";
        break;
      }
      auto program = smith::lower(test->problem);
      if (!program) {
        why = program.error().message;
        continue;
      }
      why.clear();
      if (compile_all || has_native_code(*program)) {
        compile(*test);
        break;
      }
      // The interpreter computes in double and knows no narrow types: where it does not agree, the compiled
      // program decides.
      if (interpreted(*test, *program).empty()) {
        ++passed;
      } else {
        compile(*test);
      }
      break;
    }
    if (!why.empty())
      refused[why.substr(why.find(": ") == std::string::npos ? 0 : why.find(": ") + 2)].push_back(
          path.filename());
  }
  auto calls = compile_kernels(sources, instruction_sets(*machine)[0], 12);
  ASSERT_TRUE(calls) << calls.error().text();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::string off = called(to_compile[i], (*calls)[i]);
    EXPECT_EQ(off, "") << to_compile[i].name;
    passed += off.empty();
  }
  std::string list;
  for (const auto& [why, names] : refused)
    list += fmt::format("{:>4}  {} ({} ...)\n", names.size(), why, names[0]);
  fmt::print("{} of {} passed, {} of them compiled; the others:\n{}", passed, folders.size(), sources.size(),
             list);
  if (!only) {
    EXPECT_GE(passed, 800);
  }
}

}  // namespace
}  // namespace kforge
