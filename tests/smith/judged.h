// A program of the smith against the truth: every kind of input, under the same bounds as the gates.
#pragma once

#include <functional>
#include <string>

#include "task/task.h"

namespace kforge {

// Calls a program; pointers in C order.
using AnyCall = std::function<void(void** arguments)>;

// Empty where every kind of input is computed rightly, inputs stay what they were and nothing is written
// behind the outputs; else what is wrong. `policy`: the precision that is asked for.
std::string judge(const BoundTask& task, const AnyCall& call, std::string_view policy = "fp32");

}  // namespace kforge
