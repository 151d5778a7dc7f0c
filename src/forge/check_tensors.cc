#include "forge/check_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "oracle/oracle.h"
#include "task/inputs.h"

namespace kforge {
namespace {

using Json = nlohmann::ordered_json;

// Known to everybody, unlike the seeds of judging.
constexpr std::uint64_t kSeed = 0x6b666f726765;
// Stored of an input: so many elements, in whole rows, which repeat to the end. Of an output: so many, evenly
// spread. Indices are stored whole where that is possible, for repeated ones may write to the same place.
constexpr std::int64_t kStoredFloats = 1 << 16, kStoredIntegers = 1 << 20, kStoredOutputs = 1 << 12;
// Rounding differs between compilers and thread counts; a wrong result is off by more than this.
constexpr double kSlack = 4;

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

void fill(CheckTensor& tensor, std::size_t index) {
  const BoundArgument& argument = *tensor.argument;
  tensor.bytes.resize(argument.bytes());
  fill_argument(argument, InputKind::kOwn, kSeed, index, tensor.bytes);
  std::int64_t row = argument.shape.empty() ? 1 : std::max<std::int64_t>(1, argument.shape.back());
  std::int64_t count = element_count(argument.shape);
  std::int64_t most = is_float(argument.dtype) ? kStoredFloats : kStoredIntegers;
  std::int64_t block = std::min(count, std::max(row, most / row * row));
  tensor.stored = static_cast<std::size_t>(block) * size_of(argument.dtype);
  for (std::size_t at = tensor.stored; at < tensor.bytes.size(); at += tensor.stored)
    std::memcpy(tensor.bytes.data() + at, tensor.bytes.data(),
                std::min(tensor.stored, tensor.bytes.size() - at));
}

// Among equal values any index is as good, and repeated rows hold many equal values.
bool chosen_indices(const BoundTask& task, const std::string& output) {
  return std::ranges::any_of(task.graph.nodes, [&](const Node& node) {
    bool chooses = node.op == "ArgMax" || node.op == "ArgMin" || node.op == "TopK";
    return chooses && std::ranges::find(node.outputs, output) != node.outputs.end();
  });
}

double rounding_of(DType dtype) {
  return dtype == DType::kBFloat16 ? 0x1p-7 : dtype == DType::kFloat16 ? 0x1p-10 : 0;
}

void expect_floats(CheckTensor& tensor, const std::vector<double>& truth, const std::vector<float>& yardstick,
                   double tolerance) {
  double squares = 0, finite = 0, worst = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    if (!std::isfinite(truth[i])) continue;
    squares += truth[i] * truth[i];
    finite += 1;
    if (std::isfinite(yardstick[i]))
      worst = std::max(worst, std::abs(static_cast<double>(yardstick[i]) - truth[i]));
  }
  tensor.absolute = kSlack * std::max(tolerance * std::sqrt(squares / std::max(finite, 1.0)), worst);
  tensor.relative = kSlack * tolerance + rounding_of(tensor.argument->dtype);
  std::vector<double> sample;
  for (std::size_t i = 0; i < truth.size(); i += static_cast<std::size_t>(tensor.every))
    sample.push_back(truth[i]);
  tensor.expected = raw(sample);
}

void expect(CheckTensor& tensor, const OracleTensor& truth, const std::vector<float>& yardstick,
            double tolerance) {
  std::int64_t count = element_count(tensor.argument->shape);
  tensor.every = std::max<std::int64_t>(1, count / kStoredOutputs) | 1;  // odd: no column is left out
  if (const auto* floats = std::get_if<std::vector<double>>(&truth.values)) {
    expect_floats(tensor, *floats, yardstick, tolerance);
  } else if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&truth.values)) {
    std::vector<std::int64_t> sample;
    for (std::size_t i = 0; i < integers->size(); i += static_cast<std::size_t>(tensor.every))
      sample.push_back((*integers)[i]);
    tensor.expected = raw(sample);
  }
}

}  // namespace

Result<std::vector<CheckTensor>> make_check_tensors(const BoundTask& task, const PrecisionPolicy& policy,
                                                    int threads) {
  std::vector<CheckTensor> tensors;
  std::vector<TensorView> views;
  bool repeated = false;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    CheckTensor& tensor = tensors.emplace_back();
    tensor.argument = &task.arguments[i];
    if (!tensor.given()) continue;
    fill(tensor, i);
    repeated = repeated || tensor.stored < tensor.bytes.size();
  }
  for (const CheckTensor& tensor : tensors)
    if (tensor.given())
      views.push_back(
          {tensor.argument->name, tensor.argument->dtype, tensor.argument->shape, tensor.bytes.data()});
  // The plain fp32 results first, as floats again: they wait while the truth is computed.
  KF_TRY(auto plain, run_oracle(task.graph, views, Precision::kFp32, threads));
  std::vector<std::vector<float>> yardstick(plain.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (auto* values = std::get_if<std::vector<double>>(&plain[i].values))
      yardstick[i].assign(values->begin(), values->end());
    plain[i].values = {};
  }
  KF_TRY(auto truth, run_oracle(task.graph, views, Precision::kFp64, threads));
  for (CheckTensor& tensor : tensors) {
    if (!tensor.written()) continue;
    const BoundArgument& argument = *tensor.argument;
    const std::string& name = argument.role == Role::kInout ? argument.output : argument.name;
    for (std::size_t i = 0; i < task.graph.outputs.size(); ++i)
      if (task.graph.outputs[i].name == name) expect(tensor, truth[i], yardstick[i], policy.tolerance);
    tensor.compared = !tensor.expected.empty() && !(repeated && chosen_indices(task, name));
  }
  return tensors;
}

std::string pointer_text(const BoundArgument& argument, std::string_view pointer) {
  bool reads_only = argument.role == Role::kInput || argument.role == Role::kParam;
  return fmt::format("({}{}*){}", reads_only ? "const " : "", c_type_of(argument.dtype), pointer);
}

std::string tensors_header(const std::vector<CheckTensor>& tensors, std::string_view includes,
                           std::string_view call) {
  std::string text = fmt::format(
      "// Made by KForge: the tensors of the kernel in the order of its parameters, and one call of it.\n"
      "#pragma once\n\n#include <stdbool.h>\n#include <stddef.h>\n\n{}\n"
      "typedef struct Tensor {{\n  const char *name, *dtype;\n  bool given, compared, floating;\n"
      "  size_t elements, element_bytes;\n"
      "  size_t every;               // each so-many-th element of the result is in the file\n"
      "  double absolute, relative;  // how far it may be off\n}} Tensor;\n\n"
      "static const Tensor kTensors[] = {{\n",
      includes);
  for (const CheckTensor& t : tensors) {
    const BoundArgument& a = *t.argument;
    text += fmt::format("    {{\"{}\", \"{}\", {}, {}, {}, {}, {}, {}, {:.17g}, {:.17g}}},\n", a.c_name,
                        name_of(a.dtype), t.given(), t.compared, is_float(a.dtype), element_count(a.shape),
                        size_of(a.dtype), t.every, t.absolute, t.relative);
  }
  return text + fmt::format("}};\n\nstatic inline void call(char* const* t) {}\n", call);
}

std::string tensors_json(const std::vector<CheckTensor>& tensors, bool prepared) {
  Json list = Json::array();
  for (const CheckTensor& t : tensors)
    list.push_back({{"name", t.argument->c_name},
                    {"dtype", name_of(t.argument->dtype)},
                    {"shape", t.argument->shape},
                    {"elements", element_count(t.argument->shape)},
                    {"param", t.argument->role == Role::kParam},
                    {"given", t.given()},
                    {"compared", t.compared},
                    {"floating", is_float(t.argument->dtype)},
                    {"every", t.every},
                    {"absolute", t.absolute},
                    {"relative", t.relative}});
  return Json{{"prepared", prepared}, {"tensors", list}}.dump(1) + "\n";
}

std::vector<SourceFile> tensor_files(const std::vector<CheckTensor>& tensors, std::string_view folder) {
  std::vector<SourceFile> files;
  for (const CheckTensor& tensor : tensors) {
    const auto* bytes = reinterpret_cast<const char*>(tensor.bytes.data());
    const std::string name = fmt::format("{}/{}", folder, tensor.argument->c_name);
    if (tensor.given()) files.push_back({name + ".in", std::string(bytes, tensor.stored)});
    if (tensor.compared) files.push_back({name + ".expected", tensor.expected});
  }
  return files;
}

}  // namespace kforge
