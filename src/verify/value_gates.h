// The gates of the stage "values": is what the program computes right, on inputs of every kind, in every
// repeat and with every thread count, and does it keep to its own memory?
#pragma once

#include <span>
#include <vector>

#include "execute/program_process.h"
#include "oracle/expected.h"
#include "verify/verdict.h"

namespace kforge {

// Judges the program and records every gate in `verdict`, up to the first failure. An Error is the
// machinery's.
Result<void> judge_values(const JudgeContext& context, const ProgramSpec& program, Verdict& verdict);

// Programs that nobody wrote to be judged (libraries): are their values right on inputs of every kind? One
// call for each, in one process; the calls that find out a program which keeps answers, works on after it
// returned or knows how it is judged are left out. Libraries take seconds to start: all do so at once, and
// are judged one after the other. A verdict for each, in their order.
Result<std::vector<Verdict>> judge_trusted_values(const JudgeContext& context,
                                                  std::span<const ProgramSpec> programs);

// How many slots there are where values are judged. The same wherever a program is asked for results that are
// compared with the truth or with a timed call: it can see the number.
std::uint32_t check_slots(const BoundTask& task);

// One output set in a slot against the expected one: the failure, or nothing. Adds to the verdict's figures.
std::optional<Failure> judge_outputs(const JudgeContext& context, const Expected& expected,
                                     const TensorMemory& outputs, std::uint32_t slot, InputKind kind,
                                     Gate gate, Verdict& verdict);

}  // namespace kforge
