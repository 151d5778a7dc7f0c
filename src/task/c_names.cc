#include "task/c_names.h"

#include <algorithm>

namespace kforge {
namespace {

constexpr std::string_view kReserved[] = {
    // C++ keywords and alternative tokens
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
    "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl",
    "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype",
    "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern",
    "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new",
    "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
    "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "static",
    "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true",
    "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
    "wchar_t", "while", "xor", "xor_eq",
    // what task.h uses itself
    "task", "kernel", "kernel_prepared", "prepare", "release", "state", "int8_t", "int16_t", "int32_t",
    "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t",
    // macros that common headers define
    "NULL", "EOF", "INFINITY", "NAN", "HUGE_VAL", "I", "assert", "errno", "stdin", "stdout", "stderr", "M_PI",
    "M_E"};

}  // namespace

std::string make_c_name(std::string_view name, std::set<std::string>& taken) {
  std::string out;
  for (char c : name) {
    bool keep = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    out += keep ? c : '_';
  }
  if (out.empty() || out[0] == '_' || (out[0] >= '0' && out[0] <= '9')) out.insert(out.begin(), 't');
  if (std::ranges::find(kReserved, out) != std::end(kReserved)) out += '_';
  std::string base = out;
  for (int number = 2; !taken.insert(out).second; ++number) out = base + "_" + std::to_string(number);
  return out;
}

}  // namespace kforge
