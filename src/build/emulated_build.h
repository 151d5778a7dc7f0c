// A device program whose device is not here becomes a native library for KForge's emulator
// (emulate/emulate.h).
#pragma once

#include "build/build.h"
#include "device/plan_expr.h"

namespace kforge {

// Fails as build_candidate() does, and with NotVerifiable. BuildOptions::variant chooses what the library
// looks for.
Step<Build> build_emulated_program(const Candidate& candidate, const Platform& platform,
                                   const BoundTask& task, const BuildOptions& options);

// The task with one more output, for what the variants of the emulator that look have to say.
BoundTask with_emulator_report(BoundTask task);

// task.h for CUDA and MSL: dimensions, tunables and the plan's defines as constants in namespace task.
std::string device_task_header(const BoundTask& task, const PlanSymbols& symbols, bool metal);

}  // namespace kforge
