// What the user would run instead of a candidate: libraries that compute the same graph, as programs to run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "baseline/library_release.h"
#include "execute/program_process.h"
#include "machine/machine.h"
#include "task/task.h"

namespace kforge {

struct BaselineOptions {
  std::vector<std::string> names;         // empty: all that are present
  std::filesystem::path python;           // --python; asked before the others
  int threads = 0;                        // 0: all allowed
  SandboxTier tier = SandboxTier::kNone;  // for modules of imported tasks; libraries need none
  std::string precision = "fp32";  // policy; libraries that can be asked for bf16 are, where it allows that
};

struct Baseline {
  std::string name;  // "onednn", "onnxruntime", "openvino", "torch", "torch.compile"
  std::string what;  // "oneDNN 2.6.3, operator by operator, 2 threads"
  ProgramSpec spec;
  LibraryRelease release;
};

struct AbsentBaseline {
  std::string name, reason, remedy;  // "not installed", "operator LSTM has no implementation", ...
};

struct Baselines {
  std::vector<Baseline> present;
  std::vector<AbsentBaseline> absent;
};

// An Error, with the names there are, when `name` is none of them.
Result<void> check_baseline_name(const std::string& name);

// Looks what is installed (a probe of Python is cached by its path and modification time under kforge_home())
// and whether it can run this graph. Weights are prepared outside timed calls. Threads: the better of one and
// all is found by the caller, who starts the program twice with different spec.threads. `work` is a folder
// that stays until the baselines are done (graph files go there).
Result<Baselines> find_baselines(const BoundTask& task, const Machine& machine,
                                 const BaselineOptions& options, const std::filesystem::path& work);

}  // namespace kforge
