// Runs ONNX's own node tests through loader and oracle and prints a table: passed, failed, unsupported by
// name. Exit 1 when a supported operator fails or fewer tests pass than kMustPass; 2 when the data is not
// installed.
//
//   onnx_conformance [--verbose] [FOLDER [TEST]]
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "graph/tensor_proto.h"
#include "oracle/oracle.h"

namespace kforge {
namespace {

constexpr int kMustPass = 600;
constexpr const char* kInstalledAt = "/usr/share/libonnx-testdata/data/node";

// ONNX's own runner compares floats with these; the yardstick rounds more, so near zero it may be further
// off.
struct Tolerance {
  double relative, absolute;
};
constexpr Tolerance kFp64Tolerance{1e-3, 1e-7}, kFp32Tolerance{1e-3, 2e-6};

struct Outcome {
  enum Kind { kPassed, kFailed, kUnsupported } kind;
  std::string reason;
};

Result<ConstantTensor> read_tensor(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  onnx::TensorProto proto;
  if (!proto.ParseFromIstream(&file)) return fail("{} is not a tensor", path.filename().string());
  return tensor_from_proto(proto, "");
}

std::vector<std::filesystem::path> numbered(const std::filesystem::path& folder, const std::string& stem) {
  std::vector<std::filesystem::path> files;
  for (int i = 0;; ++i) {
    const auto file = folder / fmt::format("{}_{}.pb", stem, i);
    if (!std::filesystem::exists(file)) return files;
    files.push_back(file);
  }
}

// The published files hold bfloat16 elements as uint16 ones; the model says what they are.
void name_bfloat16(DType wanted, ConstantTensor& tensor) {
  if (wanted == DType::kBFloat16 && tensor.dtype == DType::kUInt16) tensor.dtype = wanted;
}

// The first difference in words, or nothing. `slack` is how far 8-bit integers may be off.
std::string compare(const OracleTensor& got, const ConstantTensor& want, const Tolerance& tolerance,
                    std::int64_t slack) {
  if (got.dtype != want.dtype)
    return fmt::format("is {} instead of {}", name_of(got.dtype), name_of(want.dtype));
  if (got.shape != want.shape)
    return fmt::format("has shape {} instead of {}", to_string(got.shape), to_string(want.shape));
  if (const auto* strings = std::get_if<std::vector<std::string>>(&got.values)) {
    for (std::size_t i = 0; i < strings->size(); ++i)
      if ((*strings)[i] != want.strings[i])
        return fmt::format("[{}] is \"{}\" instead of \"{}\"", i, (*strings)[i], want.strings[i]);
    return "";
  }
  if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&got.values)) {
    const auto wanted = want.as_int64();
    for (std::size_t i = 0; i < ints->size(); ++i)
      if (std::abs((*ints)[i] - wanted[i]) > (size_of(got.dtype) == 1 ? slack : 0))
        return fmt::format("[{}] is {} instead of {}", i, (*ints)[i], wanted[i]);
    return "";
  }
  const auto& floats = std::get<std::vector<double>>(got.values);
  const auto wanted = want.as_double();
  // The published bfloat16 values were cut off, not rounded: they may be one unit in the last place away.
  const double relative = got.dtype == DType::kBFloat16 ? 1.0 / 128 : tolerance.relative;
  for (std::size_t i = 0; i < floats.size(); ++i) {
    const double a = floats[i], b = wanted[i];
    if (std::isnan(a) && std::isnan(b)) continue;
    if (a == b || std::fabs(a - b) <= tolerance.absolute + relative * std::fabs(b)) continue;
    return fmt::format("[{}] is {} instead of {}", i, a, b);
  }
  return "";
}

struct DataSet {
  Graph graph;  // string inputs have become initializers, as they have no raw form
  std::vector<std::pair<std::string, ConstantTensor>> inputs;
  std::vector<ConstantTensor> outputs;
};

Result<DataSet> read_data_set(const Graph& graph, const std::filesystem::path& folder) {
  DataSet data{graph, {}, {}};
  const auto inputs = numbered(folder, "input"), outputs = numbered(folder, "output");
  if (inputs.size() != graph.inputs.size() || outputs.size() != graph.outputs.size())
    return fail("{} inputs and {} outputs for a graph of {} and {}", inputs.size(), outputs.size(),
                graph.inputs.size(), graph.outputs.size());
  data.graph.inputs.clear();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    KF_TRY(ConstantTensor tensor, read_tensor(inputs[i]));
    name_bfloat16(graph.inputs[i].type.dtype, tensor);
    if (tensor.dtype == DType::kString) {
      data.graph.initializers.push_back({graph.inputs[i].name, std::move(tensor)});
    } else {
      data.graph.inputs.push_back(graph.inputs[i]);
      data.inputs.emplace_back(graph.inputs[i].name, std::move(tensor));
    }
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    KF_TRY(ConstantTensor tensor, read_tensor(outputs[i]));
    name_bfloat16(graph.outputs[i].type.dtype, tensor);
    data.outputs.push_back(std::move(tensor));
  }
  return data;
}

Outcome run_data_set(const DataSet& data, Precision precision, std::int64_t slack) {
  std::vector<TensorView> views;
  for (const auto& [name, tensor] : data.inputs)
    views.push_back({name, tensor.dtype, tensor.shape, tensor.data.data()});
  const auto results = run_oracle(data.graph, views, precision, 2);
  if (!results) {
    const bool unsupported =
        results.error().message.find("is not supported by the oracle") != std::string::npos;
    return {unsupported ? Outcome::kUnsupported : Outcome::kFailed, results.error().message};
  }
  const Tolerance& tolerance = precision == Precision::kFp64 ? kFp64Tolerance : kFp32Tolerance;
  for (std::size_t i = 0; i < results->size(); ++i)
    if (const std::string difference = compare((*results)[i], data.outputs[i], tolerance, slack);
        !difference.empty())
      return {Outcome::kFailed, fmt::format("output {} {}", i, difference)};
  return {Outcome::kPassed, ""};
}

// The values of this test were computed with an epsilon that its model does not name.
void mend(const std::string& test, Graph& graph) {
  if (test == "test_adam_multiple") graph.nodes.at(0).attributes["epsilon"] = 0.01f;
}

// What the loader says without the names of file and value, so that equal reasons are counted together.
std::string loader_reason(const std::string& message) {
  for (const char* kind : {"sequence types", "optional types"})
    if (message.find(kind) != std::string::npos) return fmt::format("{} are not supported", kind);
  const auto file_end = message.find("model.onnx: ");
  return file_end == std::string::npos ? message : message.substr(file_end + 12);
}

// Both precisions of one test folder.
std::pair<Outcome, Outcome> run_test(const std::filesystem::path& folder) {
  auto both = [](Outcome outcome) { return std::pair(outcome, outcome); };
  auto graph = load_graph(folder / "model.onnx");
  if (!graph) return both({Outcome::kUnsupported, "by the loader: " + loader_reason(graph.error().message)});
  mend(folder.filename(), *graph);
  std::vector<std::string> missing;
  if (!oracle_supports(*graph, &missing)) return both({Outcome::kUnsupported, "operator " + missing[0]});
  std::pair<Outcome, Outcome> worst{{Outcome::kPassed, ""}, {Outcome::kPassed, ""}};
  for (int set = 0;; ++set) {
    const auto data_folder = folder / fmt::format("test_data_set_{}", set);
    if (!std::filesystem::exists(data_folder)) break;
    const auto data = read_data_set(*graph, data_folder);
    if (!data) return both({Outcome::kFailed, data.error().message});
    // The published values were computed in fp32. One that is quantised from a tie may fall on the other side
    // in fp64: that is accepted where fp32 gives exactly what was published.
    if (worst.second.kind == Outcome::kPassed) worst.second = run_data_set(*data, Precision::kFp32, 0);
    const std::int64_t slack = worst.second.kind == Outcome::kPassed ? 1 : 0;
    if (worst.first.kind == Outcome::kPassed) worst.first = run_data_set(*data, Precision::kFp64, slack);
  }
  return worst;
}

struct Totals {
  int passed = 0, failed = 0, unsupported = 0;

  void count(const Outcome& outcome) {
    ++(outcome.kind == Outcome::kPassed ? passed : outcome.kind == Outcome::kFailed ? failed : unsupported);
  }
};

int run_all(const std::filesystem::path& folder, const std::string& only, bool verbose) {
  if (!std::filesystem::is_directory(folder)) {
    fmt::print("ONNX's node tests are not at {}.\nInstall them with: apt-get install libonnx-testdata\n",
               folder.string());
    return 2;
  }
  std::vector<std::filesystem::path> tests;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_directory() && (only.empty() || entry.path().filename() == only))
      tests.push_back(entry.path());
  std::sort(tests.begin(), tests.end());

  Totals fp64, fp32;
  std::map<std::string, std::vector<std::string>> unsupported;  // reason to tests
  for (const auto& test : tests) {
    const std::string name = test.filename();
    const auto [first, second] = run_test(test);
    fp64.count(first);
    fp32.count(second);
    if (first.kind == Outcome::kFailed) fmt::print("failed in fp64: {}: {}\n", name, first.reason);
    if (second.kind == Outcome::kFailed) fmt::print("failed in fp32: {}: {}\n", name, second.reason);
    if (first.kind == Outcome::kUnsupported) unsupported[first.reason].push_back(name);
  }
  fmt::print("ONNX node tests  {:>6}\n                   fp64   fp32\n", tests.size());
  fmt::print("passed           {:>6} {:>6}\n", fp64.passed, fp32.passed);
  fmt::print("failed           {:>6} {:>6}\n", fp64.failed, fp32.failed);
  fmt::print("unsupported      {:>6} {:>6}\n", fp64.unsupported, fp32.unsupported);
  for (const auto& [reason, names] : unsupported) {
    fmt::print("  {:>4}  {}\n", names.size(), reason);
    if (verbose)
      for (const std::string& name : names) fmt::print("          {}\n", name);
  }
  const bool enough = !only.empty() || fp64.passed >= kMustPass;
  return fp64.failed == 0 && fp32.failed == 0 && enough ? 0 : 1;
}

}  // namespace
}  // namespace kforge

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool verbose = std::erase(words, "--verbose") > 0;
  return kforge::run_all(words.empty() ? kforge::kInstalledAt : words[0], words.size() > 1 ? words[1] : "",
                         verbose);
}
