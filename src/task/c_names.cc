#include "task/c_names.h"

#include <algorithm>

#include "base/cpp_keywords.h"

namespace kforge {
namespace {

constexpr std::string_view kReserved[] = {
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
  if (is_cpp_keyword(out) || std::ranges::find(kReserved, out) != std::end(kReserved)) out += '_';
  std::string base = out;
  for (int number = 2; !taken.insert(out).second; ++number) out = base + "_" + std::to_string(number);
  return out;
}

}  // namespace kforge
