#include "judge/generality.h"

#include <algorithm>
#include <iterator>

#include "base/random_seed.h"
#include "graph/opaque.h"
#include "judge/program.h"
#include "verify/value_gates.h"

namespace kforge {
namespace {

// The value gates on a build for one other shape.
Result<Verdict> judge_shape(Workspace& workspace, const Candidate& candidate, const BoundTask& task,
                            Stopwatch& watch, std::vector<SeedRecord>& seeds) {
  Verdict verdict;
  KF_TRY(auto built, build_program(workspace, candidate, task, &watch));
  if (!built) return verdict.fail(built.error()), std::move(verdict);
  KF_TRY(JudgeContext context, workspace.context(task, true));
  seeds.push_back({"check", context.secret});
  KF_TRY(StagedProgram program, stage_program(workspace, "candidate", *built, task));
  KF_TRY_VOID(judge_values(context, program.spec, verdict));
  if (verdict.failed()) locate_crash(workspace.setup(), *verdict.failure, candidate, *built, task);
  return verdict;
}

std::string shape_text(const ShapeCase& shape) {
  std::string dims;
  for (const auto& [name, value] : shape.dims)
    dims += fmt::format("{}{}={}", dims.empty() ? "" : " ", name, value);
  return dims;
}

}  // namespace

Result<Generality> judge_generality(Workspace& workspace, const Candidate& candidate, bool long_shapes,
                                    Stopwatch& watch) {
  const JudgeSetup& setup = workspace.setup();
  Generality found;
  std::uint64_t seed = random_seed();
  std::vector<BoundTask> shapes;
  std::string judged;
  for (std::string_view set : {"small", "odd"}) {
    if (set == setup.options.shape_set || !setup.task.shapes.contains(std::string(set))) continue;
    KF_TRY(BoundTask task, bind_task(setup.task, set));
    shapes.push_back(std::move(task));
    judged += fmt::format("{}, ", set);
  }
  std::vector<BoundTask> hidden;
  // Which sizes of an opaque module fit together nobody knows but itself.
  if (!is_opaque(setup.task.graph)) {
    KF_TRY(hidden, bind_hidden_shapes(setup.task, seed));
    if (!long_shapes) hidden.resize(1);  // the first lies between small and odd
  }
  judged += fmt::format("{} hidden", hidden.size());
  std::ranges::move(hidden, std::back_inserter(shapes));
  for (const BoundTask& task : shapes) {
    workspace.progress().advance(1, fmt::format("shape set {}", task.shape_set));
    KF_TRY(Verdict verdict, judge_shape(workspace, candidate, task, watch, found.seeds));
    watch.add("oracle", verdict.oracle_seconds);
    if (!verdict.failed()) continue;
    found.finding =
        std::unexpected(Rejected{Gate::kGenerality,
                                 fmt::format("claims any shape, but fails on {} ({}): {}", task.shape_set,
                                             shape_text(task.shape_case), reason_text(*verdict.failure)),
                                 evidence_of(*verdict.failure)});
    return found;
  }
  found.seeds.push_back({"hidden shape", seed});
  found.finding = passed(Gate::kGenerality, "right on " + judged + " shapes too");
  return found;
}

}  // namespace kforge
