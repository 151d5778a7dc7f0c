#include "judge/watched_call.h"

#include <algorithm>

#include "execute/fill.h"
#include "judge/program.h"

namespace kforge {
namespace {

// A simulator takes some microseconds for an instruction: more than this is not waited for.
constexpr std::size_t kMostWatchedBytes = 4 << 20;
constexpr std::chrono::milliseconds kWatchedLimit{30'000};
// Of the limit of a call: who gave a short one does not wait half a minute for a program that hangs.
constexpr int kWatchedCalls = 3;

}  // namespace

Result<std::optional<BoundTask>> watched_shapes(const JudgeSetup& setup, const Candidate& candidate,
                                                const BoundTask& asked) {
  std::optional<BoundTask> task = asked;
  if (candidate.claims_general() && asked.shape_set != "small" && setup.task.shapes.contains("small")) {
    KF_TRY(task, bind_task(setup.task, "small"));
  }
  std::size_t bytes = 0;
  for (const BoundArgument& argument : task->arguments) bytes += argument.bytes();
  if (bytes > kMostWatchedBytes) task.reset();
  return task;
}

Result<Watched> watched_call(Workspace& workspace, const Build& build, const BoundTask& task,
                             const JudgeContext& context,
                             const std::map<std::string, std::string>& variables) {
  KF_TRY(StagedProgram program, stage_program(workspace, "candidate, watched", build, task));
  for (const auto& [name, value] : variables) program.spec.env[name] = value;
  KF_TRY(InputMemory memory, InputMemory::create(task, 1));
  const InputChoice choice{InputKind::kOwn, context.check_seed(InputKind::kOwn)};
  fill_params(task, memory, choice);
  fill_inputs(task, memory, choice, 0);
  const auto limit = std::min(kWatchedLimit, kWatchedCalls * context.call_limit);
  KF_TRY(auto started, ProgramProcess::start(program.spec, task, memory, kWatchedLimit));
  if (!started) return Watched{"", "", started.error()};
  ProgramProcess& process = **started;
  reset_outputs(task, process.outputs(), choice, 0);
  auto run = [&]() -> Step<bool> {
    KF_STEP([[maybe_unused]] CallTime prepared, process.prepare(limit));
    KF_STEP([[maybe_unused]] CallTime called, process.call({0}, limit));
    return process.finish();
  };
  KF_TRY(auto ran, run());
  // One that reported its failure still lives, and what was said of it lies in its output.
  if (!ran && process.said().empty() && process.printed().empty()) {
    KF_TRY([[maybe_unused]] auto ended, process.finish());
  }
  Watched watched{process.said(), process.printed(), std::nullopt};
  if (!ran) watched.failure = ran.error();
  return watched;
}

}  // namespace kforge
