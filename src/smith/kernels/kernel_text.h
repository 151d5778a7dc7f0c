// The headers of this folder as text for emitted programs. They are C++ that our own compiler, formatter and
// tests see; an emitted program holds those it needs, put together as one file.
//
// A header opens with a comment that says what it is, includes what it needs ("smith/kernels/..."), and
// keeps its names in an unnamed namespace. Includes, #pragma once and the namespace are left out of the text:
// emitted programs have one of each.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace kforge::smith {

struct KernelHeader {
  std::string_view path;  // "math/exp.h"
  std::string_view text;
};
// All of them, by path.
const std::vector<KernelHeader>& kernel_headers();

// The text of headers (by path) and of all that they include, each once and after what it needs. `left_out`:
// what the program has in another way.
std::string kernel_text(const std::set<std::string>& headers, const std::set<std::string>& left_out = {});

}  // namespace kforge::smith
