// Where torch.compile keeps what it compiles for a task's module: a folder that all its processes of one run
// share. Without it every start of that baseline would compile the same code again, for tens of seconds.
#pragma once

#include <filesystem>
#include <span>

#include "base/result.h"
#include "baseline/python_probe.h"

namespace kforge {

// A folder in `work` with one subfolder for each number of threads, which inductor builds into its code. Each
// begins with what `seed` has. Sandboxed processes write there under other users' ids, so it is open to all;
// `work` must be of this run alone: a module could leave anything there.
Result<std::filesystem::path> make_inductor_folder(const std::filesystem::path& work,
                                                   std::span<const int> threads,
                                                   const std::filesystem::path& seed);

// What inductor compiles before any module: trials of the processor's instruction sets. Made once for a
// PyTorch under `cache_folder`, by KForge's own code. Empty: it could not be made, and each process tries for
// itself.
std::filesystem::path inductor_seed(const PythonFacts& python, const std::filesystem::path& cache_folder);

}  // namespace kforge
