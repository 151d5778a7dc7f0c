#include <utility>

#include "generate/feedback.h"

namespace kforge {

std::string_view gate_meaning(std::string_view gate) {
  static constexpr std::pair<std::string_view, std::string_view> kMeanings[] = {
      {"accuracy",
       "Every output element must be within the precision policy of the fp64 value, on the task's own, "
       "normal and heavy-tailed inputs."},
      {"nonfinite", "Infinities and NaN must stand exactly where the oracle has them, and nowhere else."},
      {"integer",
       "On small whole numbers, where sums and products are exact in fp32, the result must be exact too: a "
       "difference is an indexing or logic error, not rounding."},
      {"extreme",
       "On inputs of large magnitude, large mean, all equal, or zero, the program must do as well as a "
       "careful fp32 program: subtract the maximum before exp, compute a variance in two passes or around a "
       "pivot, guard divisions."},
      {"memory",
       "Every output element must be written in every call, nothing outside the outputs may be touched, "
       "inputs and params are read-only."},
      {"repeat",
       "The same inputs must give results within the policy in every call and with every number of threads: "
       "look for races and for state left over between calls."},
      {"timed_calls",
       "Calls in a timed batch must compute what the same call computes alone: nothing may be carried over "
       "from earlier calls or prepared for later ones; scratch memory may be kept, values may not."},
      {"threads", "Only the threads KForge allows may compute."},
      {"clock",
       "The time that counts is the wall time seen from outside; the program must finish its work before it "
       "returns."},
      {"floor",
       "The program was faster than its own compulsory bytes can travel, so it cannot have done the work: "
       "results must be computed from the inputs of this call."},
      {"after_return",
       "No work may go on after the call returns: join or stop threads, finish all stores first."},
      {"symbols",
       "A program may define no name of the C library, the loader or the run-time, and may import only "
       "computing functions (C and C++ run-time, libm, OpenMP)."},
      {"sandbox",
       "The program made a system call that a kernel does not need: no files, processes, network, clocks or "
       "page protection."},
      {"generality",
       "The program says '// kforge: general', so it must be right on other shapes too. Take dimensions from "
       "task.h, handle tails, or drop the line."},
      {"calibration", "Programs that do nothing must fail on this task."},
  };
  for (const auto& [name, meaning] : kMeanings)
    if (name == gate) return meaning;
  return "";
}

}  // namespace kforge
