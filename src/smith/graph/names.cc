#include "smith/graph/names.h"

#include <algorithm>
#include <array>

namespace kforge::smith {
namespace {

constexpr auto kTaken = std::to_array<std::string_view>(
    {// C++
     "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
     "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
     "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype",
     "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern",
     "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new",
     "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
     "register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed", "sizeof", "static",
     "static_assert", "static_cast", "std", "struct", "switch", "template", "this", "thread_local", "throw",
     "true", "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void",
     "volatile", "wchar_t", "while", "xor", "xor_eq", "size_t", "int8_t", "int16_t", "int32_t", "int64_t",
     "uint8_t", "uint16_t", "uint32_t", "uint64_t", "free", "memcpy", "memset", "aligned_alloc",
     // the program around the loops
     "State", "allocated", "kThreadBytes", "kThreads", "kernel", "kernel_prepared", "main",
     "omp_get_max_threads", "omp_get_num_threads", "omp_get_thread_num", "prepare", "release", "s", "state",
     "task", "team_size",
     // the prelude
     "ExpParts", "F", "I", "IVec", "Int", "L", "Lane", "Larger", "Mask", "Of", "Partial", "Plus", "Smaller",
     "T", "Tensors", "Times", "U", "UVec", "Vec", "VecAt", "along", "at_least", "at_most", "backward", "body",
     "ceil_of", "each", "each_mask", "erf_of", "erf_small", "erfc_of", "exp_low", "exp_of", "exp_parts",
     "below_zero", "lower", "normal_cdf", "upper", "expm1_of", "floor_mod", "floor_of", "int_power", "lane",
     "load", "load_bf16", "load_f16", "load_int", "load_mask", "log1p_of", "log_of", "magnitude", "maximum",
     "minimum", "of", "pick", "positions", "power_of_two", "prefix", "result", "round_of", "scaled", "set",
     "sigmoid_of", "softplus_of", "sqrt_of", "store", "mirrored", "one_up", "turn", "turned", "store_bf16",
     "store_f16", "store_mask", "stream", "stream_end", "strided", "take", "tanh_of", "to_bf16", "to_float",
     "u", "whole", "widened", "copy", "copy_past", "with_sign_of"});

}  // namespace

bool is_taken_name(std::string_view name) {
  return name.ends_with('_') || std::ranges::find(kTaken, name) != kTaken.end();
}

std::string free_name(std::string_view name) {
  std::string free(name);
  while (free.ends_with('_')) free.pop_back();
  if (free.empty() || is_taken_name(free)) free += "_value";
  return free;
}

}  // namespace kforge::smith
