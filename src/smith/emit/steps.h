// The nests of a large program as functions of their own, one for all that differ only in their tensors. The
// kernel is then a list of calls, no function is too large for the compiler, and a layer that comes again
// costs a line.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "smith/loops/loops.h"

namespace kforge::smith {

struct Steps {
  std::string functions;                     // at file scope
  std::string calls;                         // in the kernel
  std::vector<std::set<std::string>> words;  // names that each step uses, in order
  std::int64_t thread_bytes = 0;             // of the heap of a thread
};

// Programs of fewer nests read better as one function.
bool is_large(const Nest& nest);

// `used`: headers of kernels/ that the text needs; `counter`: for names.
Steps steps_of(const Nest& nest, bool team, std::set<std::string>& used, int& counter);

}  // namespace kforge::smith
