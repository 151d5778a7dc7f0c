// Ordinary inputs with a few large elements among them. A program that looks at a sample of its inputs and
// then takes a shorter way (a softmax without its maximum, sums in fewer digits) is right where all elements
// are alike, small or large; and where a result is the mean of many, what each of them loses is not seen. One
// element that none of the others is like shows both.
#pragma once

#include "execute/program_process.h"
#include "verify/value_gates.h"

namespace kforge {

// What failed on three draws one after the other; nothing where one of them was right, or where the oracle
// takes too long. The verdict may have failed by itself, by a crash say.
Result<std::optional<Failure>> judge_spikes(const JudgeContext& context, const InputMemory& memory,
                                            ProgramProcess& process, Verdict& verdict);

}  // namespace kforge
