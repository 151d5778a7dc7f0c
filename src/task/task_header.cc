// make_task_header: the header that native candidates include.
#include <fmt/ranges.h>

#include "task/c_names.h"
#include "task/task.h"

namespace kforge {
namespace {

// Dimensions of the shape case, and symbols that only outputs have.
std::map<std::string, std::int64_t> named_dims(const BoundTask& bound) {
  std::map<std::string, std::int64_t> dims = bound.shape_case.dims;
  for (const Value& output : bound.task->graph.outputs) {
    Shape shape = bound.graph.types.at(output.name).shape();
    for (std::size_t i = 0; i < output.type.dims.size() && i < shape.size(); ++i)
      if (!output.type.dims[i].known() && !output.type.dims[i].symbol.empty())
        dims.try_emplace(output.type.dims[i].symbol, shape[i]);
  }
  return dims;
}

std::string parameter(const BoundArgument& argument) {
  bool reads_only = argument.role == Role::kInput || argument.role == Role::kParam;
  return fmt::format("{}{}* {}", reads_only ? "const " : "", c_type_of(argument.dtype), argument.c_name);
}

// "[B, D] = [4096, 4096]", or the numbers alone where nothing is symbolic.
std::string shape_text(const BoundArgument& argument, const Argument& declared) {
  std::vector<std::string> dims;
  bool symbolic = false;
  for (const Dim& dim : declared.type.dims) {
    symbolic |= !dim.known();
    dims.push_back(dim.known() ? std::to_string(dim.value) : dim.symbol.empty() ? "?" : dim.symbol);
  }
  std::string numbers = fmt::format("[{}]", fmt::join(argument.shape, ", "));
  return symbolic ? fmt::format("[{}] = {}", fmt::join(dims, ", "), numbers) : numbers;
}

std::string role_text(const BoundArgument& argument) {
  switch (argument.role) {
    case Role::kInput:
      return "input, new in every call";
    case Role::kParam:
      return "param, the same in every call";
    case Role::kInout:
      return fmt::format("inout, overwritten with {}", argument.output);
    case Role::kOutput:
      return "output";
  }
  return "";
}

// Text of the graph's author inside a comment must not end it or add lines.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == '\\') c = ' ';
  return text;
}

}  // namespace

std::map<std::string, std::int64_t> dimension_symbols(const BoundTask& bound) {
  std::map<std::string, std::int64_t> symbols;
  std::set<std::string> taken;
  for (const auto& [symbol, value] : named_dims(bound)) symbols[make_c_name(symbol, taken)] = value;
  return symbols;
}

std::string make_task_header(const BoundTask& bound) {
  std::string out = fmt::format(
      "// task.h, made by KForge for task {}, shape set {}\n// {}\n#pragma once\n\n#include <stdint.h>\n\n",
      one_line(bound.task->name), bound.shape_set, one_line(bound.task->description));
  std::vector<std::string> dims;
  for (const auto& [name, value] : dimension_symbols(bound))
    dims.push_back(fmt::format("{} = {}", name, value));
  if (!dims.empty())
    out += fmt::format("namespace task {{\ninline constexpr long {};\n}}  // namespace task\n\n",
                       fmt::join(dims, ", "));

  std::vector<std::string> all, params, others;
  for (std::size_t i = 0; i < bound.arguments.size(); ++i) {
    const BoundArgument& argument = bound.arguments[i];
    const char* note = argument.dtype == DType::kBFloat16 ? " (bits of a bfloat16)"
                       : argument.dtype == DType::kBool   ? " (0 or 1)"
                                                          : "";
    out += fmt::format("// {:<12} {}{} {}: {}\n", argument.c_name, name_of(argument.dtype), note,
                       shape_text(argument, bound.task->arguments[i]), role_text(argument));
    all.push_back(parameter(argument));
    (argument.role == Role::kParam ? params : others).push_back(parameter(argument));
  }
  others.insert(others.begin(), "void* state");
  out += fmt::format(
      "// Tensors are contiguous, row-major, 64-byte aligned.\n"
      "extern \"C\" void kernel({});\n\n"
      "// Optional trio instead of kernel: work that depends only on params is done once, outside the timed "
      "calls.\n"
      "extern \"C\" void* prepare({});\n"
      "extern \"C\" void kernel_prepared({});\n"
      "extern \"C\" void release(void* state);\n",
      fmt::join(all, ", "), fmt::join(params, ", "), fmt::join(others, ", "));
  return out;
}

}  // namespace kforge
