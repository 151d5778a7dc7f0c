// Names that tensors cannot have in emitted programs: those the programs use themselves.
#pragma once

#include <string>
#include <string_view>

namespace kforge::smith {

// Keywords, functions and types of the kernel headers, locals of the emitters; and everything that ends with
// '_', which is what native code call their locals.
bool is_taken_name(std::string_view name);
// The name itself, or one like it that is not taken.
std::string free_name(std::string_view name);

}  // namespace kforge::smith
