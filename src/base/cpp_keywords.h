// Names that no C++ program can give to anything.
#pragma once

#include <string_view>

namespace kforge {

// A keyword, or another spelling of an operator ("and", "xor_eq").
bool is_cpp_keyword(std::string_view name);

}  // namespace kforge
