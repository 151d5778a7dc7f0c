// Compiles many generated kernels as a few translation units (most of the compiler's time is its start) and
// calls them in this process. For tests of the smith: its programs are ours, so no sandbox stands around
// them.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "smith/smith.h"

namespace kforge {

struct KernelSource {
  smith::Problem problem;
  std::string source;
};

// Calls one kernel; pointers in C order.
using KernelCall = void (*)(void** arguments);

// Standard headers and all kernels as one piece of C++: kernel i is called by extern "C" void call_i(void**
// arguments).
std::string kernels_text(const std::vector<KernelSource>& sources, std::size_t first, std::size_t last);

// One function per source, in their order. The libraries stay loaded. `flags` chooses the instruction set.
Result<std::vector<KernelCall>> compile_kernels(const std::vector<KernelSource>& sources,
                                                const std::vector<std::string>& flags, std::size_t per_unit);

// "-march=..." that this machine can run, best first: for tests of one source on several instruction sets.
std::vector<std::vector<std::string>> instruction_sets(const Machine& machine);

}  // namespace kforge
