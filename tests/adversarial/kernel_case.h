// A kernel of this folder and what must become of it, as its opening comment says:
//
//   // task: core/relu                        which task it is for; or a folder, tests/adversarial/tasks/NAME
//   // shapes: small                          which shape set
//   // mode: check | full                     values only, or with timing
//   // expect: outcome=rejected|crash gate=symbols ...
//   // needs: avx512f                         a feature the machine may lack (optional)
//   // on: opencl                             the platform it is for; of a device with
//   // plan: {"run": [...]}                   its launch plan, in one line
//
// Further words of `expect`: `not_faster_than=NAME` (if it passes, it may not be faster than the honest
// kernel NAME that does the same work), `hides=TEXT` (nothing shown may contain TEXT), `leaves=PATH` (no such
// file may appear), `flag=WORD` (the result has it). In Python the lines begin with '#'.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "judge/evaluate.h"

namespace kforge {

struct KernelCase {
  std::string name;  // the file's stem
  std::filesystem::path file;
  std::string what;  // the first sentence, for people
  std::string task, shapes = "small", needs, on, plan;
  bool full = false;
  std::vector<std::string> outcomes;  // any of these
  std::vector<std::string> gates;     // any of them, when the outcome is "rejected" or "wrong_value"
  std::string not_faster_than, beside, hides;
  std::string flag;  // that the result must have
  int threads = 0;   // as --threads; 0: all
  std::vector<std::string> leaves;
};

Result<KernelCase> read_kernel_case(const std::filesystem::path& file);
// Every *.cc of a folder, sorted by name; of the folders of devices and answers, every file.
Result<std::vector<KernelCase>> read_kernel_cases(const std::filesystem::path& folder);
// A device program as a folder below `folder`: its source and plan.json.
Result<std::filesystem::path> write_device_program(const KernelCase& kernel,
                                                   const std::filesystem::path& folder);

// How the tests evaluate: no baselines, few rounds. `short_limits` is the folder of test_platform(), used for
// kernels that may end at the compiler's limit.
EvalOptions quick_options(const KernelCase& kernel, SandboxTier tier,
                          const std::filesystem::path& short_limits = {});

// A copy of platforms/cpu below `folder` with a compiler limit of a few seconds, so that compiler bombs end
// soon.
Result<std::filesystem::path> test_platform(const std::filesystem::path& folder);

}  // namespace kforge
