#include "smith/device/dialect.h"

#include <cmath>

#include <fmt/format.h>

namespace kforge::smith {

std::string Dialect::type(Type type) const {
  switch (type) {
    case Type::kDouble:
      return has_double ? "double" : "float";
    case Type::kInt:
      return std::string(whole);
    case Type::kBool:
      return "bool";
    default:
      return "float";
  }
}

std::string Dialect::cast(std::string_view type, const std::string& text) const {
  return constructor_casts ? fmt::format("{}({})", type, text) : fmt::format("({})({})", type, text);
}

std::string Dialect::literal(double value, Type type) const {
  const bool single = type == Type::kFloat || !has_double;
  if (single) value = static_cast<double>(static_cast<float>(value));
  if (std::isnan(value)) return std::string(nan);
  if (std::isinf(value)) return (value < 0 ? "-" : "") + std::string(infinity);
  std::string text = single ? fmt::format("{}", static_cast<float>(value)) : fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text + (single ? "f" : language == DeviceLanguage::kGlsl ? "lf" : "");
}

std::string Dialect::whole_literal(std::int64_t value) const {
  // The smallest one has no literal of its own: its digits alone are too large.
  if (value == INT64_MIN) return fmt::format("(-9223372036854775807{} - 1)", whole_end);
  return fmt::format("{}{}", value, whole_end);
}

std::string Dialect::identifier(const std::string& name) const {
  static const std::set<std::string_view> everywhere = {
      "int",      "float",   "double",   "bool",     "char",    "short",  "long",   "void",
      "if",       "else",    "for",      "while",    "do",      "switch", "case",   "break",
      "true",     "false",   "return",   "const",    "struct",  "auto",   "static", "signed",
      "unsigned", "default", "continue", "register", "volatile"};
  std::string text = name;
  // Two underscores in a row, and names that begin with gl_, belong to GLSL.
  for (std::size_t at; (at = text.find("__")) != std::string::npos;) text.replace(at, 2, "_u_");
  if (text.starts_with("gl_") || everywhere.contains(text) || reserved.contains(text)) text = "the_" + text;
  return text;
}

std::string Dialect::file_head(bool narrow_ints, bool halves, bool doubles) const {
  switch (language) {
    case DeviceLanguage::kOpenCl:
      return doubles ? "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" : "";
    case DeviceLanguage::kCuda:
      return halves ? "#include <cuda_fp16.h>\n" : "";
    case DeviceLanguage::kMsl:
      return "#include <metal_stdlib>\nusing namespace metal;\n";
    case DeviceLanguage::kGlsl:
      break;
  }
  std::string text = "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n";
  if (narrow_ints)
    text +=
        "#extension GL_EXT_shader_8bit_storage : require\n"
        "#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require\n";
  if (halves || narrow_ints)
    text +=
        "#extension GL_EXT_shader_16bit_storage : require\n"
        "#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require\n";
  if (halves) text += "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n";
  return text;
}

std::string Dialect::open_kernel(const std::string& name, const std::vector<KernelBuffer>& buffers, int block,
                                 const std::vector<std::string>& shared_declarations) const {
  std::string text, list;
  if (language == DeviceLanguage::kGlsl) {
    text = fmt::format("#ifdef KERNEL_{}\nlayout(local_size_x = {}) in;\n", name, block);
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const KernelBuffer& b = buffers[i];
      const std::string_view access = !b.written ? "readonly " : b.read ? "coherent " : "writeonly ";
      text += fmt::format("layout(std430, binding = {}) {}buffer Buffer{} {{ {} {}[]; }};\n", i, access, i,
                          stored.at(b.dtype), b.text);
    }
    for (const std::string& declaration : shared_declarations)
      text += std::string(shared) + declaration + ";\n";
    return text + "void main() {\n";
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const KernelBuffer& b = buffers[i];
    const std::string_view type = stored.at(b.dtype), constant_word = b.written ? "" : "const ";
    if (i) list += ", ";
    if (language == DeviceLanguage::kOpenCl)
      list += fmt::format("__global {}{}* restrict {}", constant_word, type, b.text);
    else if (language == DeviceLanguage::kCuda)
      list += fmt::format("{}{}* __restrict__ {}", constant_word, type, b.text);
    else
      list += fmt::format("device {}{}* {} [[buffer({})]]", constant_word, type, b.text, i);
  }
  if (language == DeviceLanguage::kOpenCl)
    text = fmt::format("__kernel __attribute__((reqd_work_group_size({}, 1, 1)))\nvoid {}({}) {{\n", block,
                       name, list);
  else if (language == DeviceLanguage::kCuda)
    text = fmt::format("extern \"C\" __global__ void __launch_bounds__({})\n{}({}) {{\n", block, name, list);
  else
    text = fmt::format(
        "kernel void {}({}{}uint3 thread_ [[thread_position_in_threadgroup]],\n    uint3 group_ "
        "[[threadgroup_position_in_grid]], uint3 groups_ [[threadgroups_per_grid]]) {{\n",
        name, list, list.empty() ? "" : ", ");
  for (const std::string& declaration : shared_declarations)
    text += fmt::format("  {}{};\n", shared, declaration);
  return text;
}

std::string Dialect::close_kernel() const {
  return language == DeviceLanguage::kGlsl ? "}\n#endif\n" : "}\n";
}

}  // namespace kforge::smith
