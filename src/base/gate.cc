#include "base/gate.h"

#include <algorithm>
#include <iterator>

namespace kforge {
namespace {

using enum Gate;
using enum GateKinds;
using Stage = GateStage;

constexpr GateRow kGates[] = {
    {kSymbols, "symbols", Stage::kSymbols, kNative,
     "A program may define no name of the C library, the loader or the run-time, and may import only "
     "computing functions (C and C++ run-time, libm, OpenMP)."},
    {kNonfinite, "nonfinite", Stage::kValues, kAll,
     "Infinities and NaN must stand exactly where the oracle has them, and nowhere else."},
    {kAccuracy, "accuracy", Stage::kValues, kAll,
     "Every output element must be within the precision policy of the fp64 value, on the task's own, normal "
     "and heavy-tailed inputs."},
    {kInteger, "integer", Stage::kValues, kAll,
     "On small whole numbers, where sums and products are exact in fp32, the result must be exact too: a "
     "difference is an indexing or logic error, not rounding."},
    {kExtreme, "extreme", Stage::kValues, kAll,
     "On inputs of large magnitude, large mean, all equal, or zero, the program must do as well as a careful "
     "fp32 program: subtract the maximum before exp, compute a variance in two passes or around a pivot, "
     "guard divisions."},
    {kMemory, "memory", Stage::kValues, kAll,
     "Every output element must be written in every call, nothing outside the outputs may be touched, inputs "
     "and params are read-only."},
    {kRepeat, "repeat", Stage::kValues, kAll,
     "The same inputs must give results within the policy in every call and with every number of threads: "
     "look for races and for state left over between calls."},
    {kThreads, "threads", Stage::kValues, kNative,
     "The number of threads is the caller's choice (omp_get_max_threads()): the program must be right with "
     "more "
     "of them than are timed, keep to its own memory then, and let no others compute."},
    {kCalibration, "calibration", Stage::kCalibration, kAll,
     "Programs that do nothing must fail on this task."},
    {kGenerality, "generality", Stage::kGenerality, kAll,
     "The program says '// kforge: general', so it must be right on other shapes too. Take dimensions from "
     "task.h, handle tails, or drop the line."},
    {kTimedCalls, "timed_calls", Stage::kTimes, kAll,
     "Calls in a timed batch must compute what the same call computes alone: nothing may be carried over "
     "from "
     "earlier calls or prepared for later ones; scratch memory may be kept, values may not."},
    {kClock, "clock", Stage::kTimes, kAll,
     "The time that counts is the wall time seen from outside; the program must finish its work before it "
     "returns."},
    {kAfterReturn, "after_return", Stage::kTimes, kAll,
     "No work may go on after the call returns: join or stop threads, finish all stores first."},
    {kFloor, "floor", Stage::kTimes, kAll,
     "The program was faster than its own compulsory bytes can travel, so it cannot have done the work: "
     "results must be computed from the inputs of this call."},
    {kRun, "run", Stage::kAnyTime, kAll, "The program must compile, load and come back from every call."},
    {kShape, "shape", Stage::kAnyTime, kAll, "Outputs must have the shapes and types of the task."},
    {kSandbox, "sandbox", Stage::kAnyTime, kNative,
     "The program made a system call that a kernel does not need: no files, processes, network, clocks or "
     "page "
     "protection."},
    {kProtocol, "protocol", Stage::kAnyTime, kNative,
     "The runner's messages are the runner's: a program may not write to its descriptors or its memory."},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(kGates); ++i)
    if (kGates[i].gate != static_cast<Gate>(i)) return false;
  return static_cast<std::size_t>(kProtocol) + 1 == std::size(kGates);
}
static_assert(in_order(), "a row per gate, in the order of the enum");

}  // namespace

std::span<const GateRow> all_gates() { return kGates; }

const GateRow& row_of(Gate gate) { return kGates[static_cast<std::size_t>(gate)]; }

std::string_view name_of(Gate gate) { return row_of(gate).name; }

std::optional<Gate> gate_from_name(std::string_view name) {
  auto row = std::ranges::find(kGates, name, &GateRow::name);
  return row == std::end(kGates) ? std::nullopt : std::optional(row->gate);
}

bool judged_on(GateStage stage, std::string_view kind) {
  return std::ranges::any_of(kGates, [&](const GateRow& row) {
    return row.stage == stage && (row.kinds == kAll || kind == "native");
  });
}

std::string_view gate_meaning(std::string_view name) {
  auto gate = gate_from_name(name);
  return gate ? row_of(*gate).asks : "";
}

}  // namespace kforge
