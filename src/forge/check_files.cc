#include "forge/check_files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/files.h"
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

struct Tensor {
  const BoundArgument* argument;
  std::vector<std::byte> bytes;  // of what is given
  std::size_t stored = 0;        // bytes of those in the file
  bool compared = false;
  std::int64_t every = 1;
  double absolute = 0, relative = 0;
  std::string expected;  // raw float64 or int64

  bool given() const { return argument->role != Role::kOutput; }
  bool written() const { return argument->role == Role::kOutput || argument->role == Role::kInout; }
};

template <class T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

void fill(Tensor& tensor, std::size_t index) {
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

void expect_floats(Tensor& tensor, const std::vector<double>& truth, const std::vector<float>& yardstick,
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

void expect(Tensor& tensor, const OracleTensor& truth, const std::vector<float>& yardstick,
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

Result<std::vector<Tensor>> make_tensors(const BoundTask& task, const PrecisionPolicy& policy, int threads) {
  std::vector<Tensor> tensors;
  std::vector<TensorView> views;
  bool repeated = false;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    Tensor& tensor = tensors.emplace_back();
    tensor.argument = &task.arguments[i];
    if (!tensor.given()) continue;
    fill(tensor, i);
    repeated = repeated || tensor.stored < tensor.bytes.size();
  }
  for (const Tensor& tensor : tensors)
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
  for (Tensor& tensor : tensors) {
    if (!tensor.written()) continue;
    const BoundArgument& argument = *tensor.argument;
    const std::string& name = argument.role == Role::kInout ? argument.output : argument.name;
    for (std::size_t i = 0; i < task.graph.outputs.size(); ++i)
      if (task.graph.outputs[i].name == name) expect(tensor, truth[i], yardstick[i], policy.tolerance);
    tensor.compared = !tensor.expected.empty() && !(repeated && chosen_indices(task, name));
  }
  return tensors;
}

std::string header_of(const std::vector<Tensor>& tensors, bool prepared) {
  std::string text =
      "// Made by KForge: the tensors of the kernel in the order of its parameters, and one call of it.\n"
      "#pragma once\n\n#include <cstddef>\n\n#include \"task.h\"\n\n"
      "struct Tensor {\n  const char *name, *dtype;\n  bool given, compared, floating;\n"
      "  std::size_t elements, element_bytes;\n"
      "  std::size_t every;          // each so-many-th element of the result is in the file\n"
      "  double absolute, relative;  // how far it may be off\n};\n\n"
      "inline const Tensor kTensors[] = {\n";
  std::vector<std::string> params, others;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    const BoundArgument& a = *t.argument;
    text += fmt::format("    {{\"{}\", \"{}\", {}, {}, {}, {}, {}, {}, {:.17g}, {:.17g}}},\n", a.c_name,
                        name_of(a.dtype), t.given(), t.compared, is_float(a.dtype), element_count(a.shape),
                        size_of(a.dtype), t.every, t.absolute, t.relative);
    std::string pointer = fmt::format("({}{}*)t[{}]", t.written() ? "" : "const ", c_type_of(a.dtype), i);
    (prepared && a.role == Role::kParam ? params : others).push_back(pointer);
  }
  text += "};\n\n";
  if (!prepared)
    return text +
           fmt::format("inline void call(char* const* t) {{ kernel({}); }}\n", fmt::join(others, ", "));
  others.insert(others.begin(), "state");
  return text + fmt::format(
                    "extern \"C\" void release(void* state) __attribute__((weak));\n\n"
                    "inline void call(char* const* t) {{\n  void* state = prepare({});  // once\n"
                    "  kernel_prepared({});\n  if (release) release(state);\n}}\n",
                    fmt::join(params, ", "), fmt::join(others, ", "));
}

std::string json_of(const std::vector<Tensor>& tensors, bool prepared) {
  Json list = Json::array();
  for (const Tensor& t : tensors)
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

// The compiler, sources and flags of the line that was judged, for CMake.
std::string build_of(const Candidate& program, const BuildFigures& build) {
  std::vector<std::string> sources, options, link;
  std::string ending = fs::path(program.files[0].name).extension().string();
  for (const SourceFile& file : program.files)
    if (fs::path(file.name).extension() == ending) sources.push_back("../" + file.name);
  for (std::size_t i = 1; i < build.command.size(); ++i) {
    const std::string& word = build.command[i];
    bool with_value = word == "-I" || word == "-o" || word == "-include";
    if (with_value) ++i;
    if (with_value || word == "-shared" || word.starts_with("../src/")) continue;
    (word.starts_with("-Wl,") || word.starts_with("-l") ? link : options).push_back(word);
  }
  auto quoted = [](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += fmt::format(" [==[{}]==]", word);
    return text;
  };
  return fmt::format(
      "# Made by KForge from the line that was judged.\nset(KERNEL_COMPILER{})\nset(KERNEL_SOURCES{})\n"
      "set(KERNEL_OPTIONS{})\nset(KERNEL_LINK_OPTIONS{})\n",
      quoted({build.command.empty() ? "" : build.command[0]}), quoted(sources), quoted(options),
      quoted(link));
}

}  // namespace

SourceFile prelude_file(const Platform& platform) {
  std::string text = "// What every program for the platform is compiled with.\n";
  for (const std::string& header : platform.build.precompiled) text += fmt::format("#include <{}>\n", header);
  return {"check/kforge_prelude.h", text};
}

Result<std::vector<SourceFile>> check_files(const BoundTask& task, const Platform& platform,
                                            const PrecisionPolicy& policy, const Candidate& program,
                                            const EvalReport& best, int threads) {
  std::vector<SourceFile> files;
  fs::path callers = platform.folder / "caller";
  std::error_code ignored;
  if (!fs::exists(callers, ignored) || !best.build) return files;
  for (const char* name : {"CMakeLists.txt", "check.cc", "check.py"}) {
    KF_TRY(std::string content, read_file(callers / name));
    files.push_back({fmt::format("check/{}", name), std::move(content)});
  }
  KF_TRY(std::vector<Tensor> tensors, make_tensors(task, policy, threads));
  bool prepared = best.setup.has_value();
  files.push_back({"check/tensors.h", header_of(tensors, prepared)});
  files.push_back({"check/tensors.json", json_of(tensors, prepared)});
  files.push_back({"check/build.cmake", build_of(program, *best.build)});
  for (const Tensor& tensor : tensors) {
    const auto* bytes = reinterpret_cast<const char*>(tensor.bytes.data());
    const std::string name = "check/" + tensor.argument->c_name;
    if (tensor.given()) files.push_back({name + ".in", std::string(bytes, tensor.stored)});
    if (tensor.compared) files.push_back({name + ".expected", tensor.expected});
  }
  return files;
}

}  // namespace kforge
