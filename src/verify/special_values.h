// NaN, infinities, denormals and -0 among the inputs. What a program should make of them is less certain than
// what it should make of numbers: a comparison with NaN may be written either way, an exponential may be cut
// off before it overflows, denormals may be flushed. So every reading of them that a careful program may have
// is computed by the oracle, and an element is wrong where it agrees with none. Judged where each output
// element follows from one input element; sums, products and windows spread such values in ways that depend
// on the algorithm.
#pragma once

#include "execute/program_process.h"
#include "verify/verdict.h"

namespace kforge {

// Whether the task is of that sort.
bool judges_special_values(const BoundTask& task);

// One call in slot 0; what failed, if the program itself did not. REQUIRES: judges_special_values().
Result<std::optional<Failure>> judge_special_values(const JudgeContext& context, const InputMemory& memory,
                                                    ProgramProcess& process, Verdict& verdict);

}  // namespace kforge
