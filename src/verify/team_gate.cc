#include "verify/team_gate.h"

#include <algorithm>

#include <fmt/format.h>

namespace kforge {
namespace {

// Enough to leave what rounding a size up to whole pages makes room for; few enough that a copy of the
// outputs per thread fits into the memory a program may take.
int more_threads(int threads) { return threads + std::max(7, threads / 2 + 1); }

// REQUIRES: a failure that a call or its result can have.
std::string& words_of(Failure& failure) {
  if (auto* crash = std::get_if<Crash>(&failure)) return crash->how;
  if (auto* wrong = std::get_if<WrongValue>(&failure)) return wrong->reason;
  return std::get<Rejected>(failure).reason;
}

}  // namespace

Result<void> judge_team(const JudgeContext& context, const ProgramSpec& program, Verdict& verdict) {
  const int more = more_threads(context.threads);
  KF_TRY(Verdict team, judge_guarded(context, program, more));
  merge_figures(team, verdict);
  if (!team.failed()) {
    verdict.pass(Gate::kThreads,
                 fmt::format("right with {} threads too; nothing past the end of its own memory", more));
    return {};
  }
  Failure& failure = *team.failure;
  // Threads that wait in a loop of their own are slow where they outnumber the processors: no mistake.
  if (std::holds_alternative<Timeout>(failure)) {
    verdict.skip(Gate::kThreads, fmt::format("with {} threads: {}", more, reason_text(failure)));
    return {};
  }
  // Is it the number of threads? The guarded heap finds other mistakes too.
  KF_TRY(const Verdict usual, judge_guarded(context, program, context.threads));
  if (usual.failed()) return verdict.fail(*usual.failure), Result<void>{};
  std::string& words = words_of(failure);
  words = fmt::format(
      "with {} threads ({} are fine): {}. Memory indexed by omp_get_thread_num() needs room for "
      "omp_get_max_threads() "
      "threads, or its parallel region a num_threads() clause",
      more, context.threads, words);
  verdict.fail(failure);
  return {};
}

}  // namespace kforge
