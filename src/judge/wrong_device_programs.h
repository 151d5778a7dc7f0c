// Programs that must fail on a device platform, made from its example: platforms/wrong_device/.
#pragma once

#include "judge/wrong_programs.h"

namespace kforge {

Result<std::vector<WrongProgram>> wrong_device_programs(const Candidate& example, const BoundTask& task);

// A program that does the example's work `times` times in each call: what a clock must see.
Result<Candidate> repeated_device_example(const Candidate& example, int times);

}  // namespace kforge
