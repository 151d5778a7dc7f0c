// Is the program right, and does it keep to its own memory, with more threads than it is timed with?
//
// The contract leaves the number of threads to whoever calls the kernel (omp_get_max_threads()). A program
// whose scratch memory has room for fewer corrupts its caller; at the timed number everything looks fine, and
// somewhat above it page rounding, or an unused neighbour on the heap, hides the damage.
#pragma once

#include "verify/verdict.h"

namespace kforge {

// REQUIRES: program.guarded names the runner with the guarded heap.
Result<void> judge_team(const JudgeContext& context, const ProgramSpec& program, Verdict& verdict);

// value_gates.cc: one process on the guarded heap, judged on the task's own inputs under gate "threads".
Result<Verdict> judge_guarded(const JudgeContext& context, const ProgramSpec& program, int threads);
// Adds the times and errors of a further process to the verdict on all of them.
void merge_figures(const Verdict& further, Verdict& verdict);

}  // namespace kforge
