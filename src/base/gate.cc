#include "base/gate.h"

#include <algorithm>
#include <iterator>

namespace kforge {
namespace {

using enum Gate;
using enum KindRule::How;
using Stage = GateStage;

constexpr KindRule kEmulatorOnly = {
    kDiffers,
    "by KForge's emulator, or for OpenCL by oclgrind where it is installed, on the small shapes of general "
    "programs"};
constexpr KindRule kNoKernels = {kNotApplicable, "it has no kernels of blocks and threads"};

constexpr GateRow kGates[] = {
    {kSymbols,
     "symbols",
     Stage::kSymbols,
     "A program may define no name of the C library, the loader or the run-time, and may import only "
     "computing functions (C and C++ run-time, libm, OpenMP).",
     {kNotApplicable, "it imports nothing: it is source, compiled by the device's own compiler"},
     {kNotApplicable, "it may be in any language"}},
    {kNonfinite,
     "nonfinite",
     Stage::kValues,
     "Infinities and NaN must stand exactly where the oracle has them, and nowhere else.",
     {kDiffers,
      "NaN and denormals that a probe kernel shows the device not to keep are recorded and not asked"}},
    {kAccuracy, "accuracy", Stage::kValues,
     "Every output element must be within the precision policy of the fp64 value, on the task's own, normal "
     "and heavy-tailed inputs."},
    {kInteger, "integer", Stage::kValues,
     "On small whole numbers, where sums and products are exact in fp32, the result must be exact too: a "
     "difference is an indexing or logic error, not rounding."},
    {kExtreme, "extreme", Stage::kValues,
     "On inputs of large magnitude, large mean, all equal, or zero, the program must do as well as a careful "
     "fp32 program: subtract the maximum before exp, compute a variance in two passes or around a pivot, "
     "guard divisions."},
    {kMemory,
     "memory",
     Stage::kValues,
     "Every output element must be written in every call, nothing outside the outputs may be touched, inputs "
     "and params are read-only.",
     {kDiffers,
      "guard zones of 4 KB around each device buffer in place of guard pages; inputs and what prepare made "
      "are "
      "compared after each call; reads outside are not seen"},
     {kDiffers, "outputs are in a file with a pattern in every element; guard zones there are none"}},
    {kRepeat, "repeat", Stage::kValues,
     "The same inputs must give results within the policy in every call and with every number of threads: "
     "look for races and for state left over between calls."},
    {kThreads,
     "threads",
     Stage::kValues,
     "The number of threads is the caller's choice (omp_get_max_threads()): the program must be right with "
     "more "
     "of them than are timed, keep to its own memory then, and let no others compute.",
     {kNotApplicable, "the driver shares the work out"},
     {kNotApplicable, "the platform's own runner starts the threads"}},
    {kCalibration, "calibration", Stage::kCalibration, "Programs that do nothing must fail on this task."},
    {kGenerality, "generality", Stage::kGenerality,
     "The program says '// kforge: general', so it must be right on other shapes too. Take dimensions from "
     "task.h, handle tails, or drop the line."},
    {kTimedCalls,
     "timed_calls",
     Stage::kTimes,
     "Calls in a timed batch must compute what the same call computes alone: nothing may be carried over "
     "from "
     "earlier calls or prepared for later ones; scratch memory may be kept, values may not.",
     {kDiffers,
      "inputs are on the device before the batch; its calls have private buffers of their own as long as "
      "they "
      "fit"},
     {kDiffers, "every call of a run has its own inputs"}},
    {kClock,
     "clock",
     Stage::kTimes,
     "The time that counts is the wall time seen from outside; the program must finish its work before it "
     "returns.",
     {kDiffers, "the device's own clock must agree with the wall's"},
     {kDiffers,
      "the slope between runs of one and of many calls, from outside; a run in between must lie on the "
      "line"}},
    {kAfterReturn,
     "after_return",
     Stage::kTimes,
     "No work may go on after the call returns: join or stop threads, finish all stores first.",
     {kDiffers, "a call ends when the device has finished its last step"},
     {kDiffers,
      "every run is a process anew, and nothing of it may outlive it; all is frozen between samples"}},
    {kFloor,
     "floor",
     Stage::kTimes,
     "The program was faster than its own compulsory bytes can travel, so it cannot have done the work: "
     "results must be computed from the inputs of this call.",
     {kDiffers, "by the processor's bandwidth where the device is the processor, else by [peaks]"},
     {kDiffers, "not where what start-ups vary by hides the calls"}},
    {kRun, "run", Stage::kAnyTime, "The program must compile, load and come back from every call."},
    {kShape, "shape", Stage::kAnyTime, "Outputs must have the shapes and types of the task."},
    {kSandbox,
     "sandbox",
     Stage::kAnyTime,
     "The program made a system call that a kernel does not need: no files, processes, network, clocks or "
     "page "
     "protection.",
     {kDiffers, "profile driver: code and threads may be made, files and network are out of reach"},
     {kDiffers, "profile driver: code, threads and processes may be made"}},
    {kProtocol,
     "protocol",
     Stage::kAnyTime,
     "The runner's messages are the runner's: a program may not write to its descriptors or its memory.",
     {},
     {kNotApplicable, "it speaks through files"}},
    {kRaces, "races", Stage::kAnyTime,
     "Two threads may not touch the same word, one of them writing, without a barrier, a warp's meeting or "
     "an atomic "
     "between them.",
     kEmulatorOnly, kNoKernels, kNoKernels},
    {kBounds, "bounds", Stage::kAnyTime,
     "Every access must be inside of what the launch was given, of a shared or of a local array, and read "
     "only shared "
     "memory that was written.",
     kEmulatorOnly, kNoKernels, kNoKernels},
    {kBarriers, "barriers", Stage::kAnyTime,
     "All threads of a block must reach the same barriers, and all lanes of a mask the same warp functions.",
     kEmulatorOnly, kNoKernels, kNoKernels},
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < std::size(kGates); ++i)
    if (kGates[i].gate != static_cast<Gate>(i)) return false;
  return static_cast<std::size_t>(kBarriers) + 1 == std::size(kGates);
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

const KindRule& rule_of(const GateRow& row, std::string_view kind) {
  return kind == "device" ? row.device : kind == "command" ? row.command : row.native;
}

bool judged_on(GateStage stage, std::string_view kind) {
  return std::ranges::any_of(kGates, [&](const GateRow& row) {
    return row.stage == stage && rule_of(row, kind).how != kNotApplicable;
  });
}

std::string_view gate_meaning(std::string_view name) {
  auto gate = gate_from_name(name);
  return gate ? row_of(*gate).asks : "";
}

}  // namespace kforge
