// Where in the source an address of a library is: what a crash report and its reader need. The program is
// built once more with line tables (which change no instruction), and binutils reads them inside the sandbox:
// debug information is the candidate's too.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "build/build.h"

namespace kforge {

struct SourcePlace {
  std::string function;  // demangled
  std::string file;      // of the candidate by its name there; others by the last part of their path
  int line = 0;          // 0: not known
};

// Frames of a stack, innermost first, as offsets in the library (0: elsewhere, left out): one place or more
// for each, because inlined functions have their own. `build` is the one that crashed. An Error when binutils
// is missing or the program no longer builds alike.
Result<std::vector<SourcePlace>> source_places(std::span<const std::uint64_t> frames,
                                               const Candidate& candidate, const Build& build,
                                               const Platform& platform, const BoundTask& task,
                                               const Machine& machine, BuildOptions options);

// What `addr2line -a -f -i -C` printed; untrusted.
std::vector<SourcePlace> parse_addr2line(std::string_view text, const Candidate& candidate);

// "in row (kernel.cc:12), called from kernel (kernel.cc:30)"; "" when nothing is known.
std::string to_text(const std::vector<SourcePlace>& places);

}  // namespace kforge
