#include "forge/smith_agent.h"

#include <algorithm>

namespace kforge {
namespace {

smith::ArgumentRole role_of(Role role) {
  switch (role) {
    case Role::kInput:
      return smith::ArgumentRole::kInput;
    case Role::kParam:
      return smith::ArgumentRole::kParam;
    case Role::kInout:
      return smith::ArgumentRole::kInout;
    case Role::kOutput:
      return smith::ArgumentRole::kOutput;
  }
  return smith::ArgumentRole::kInput;
}

Generation generation_of(smith::Design design, std::string change) {
  Generation generation;
  Candidate candidate;
  candidate.files.push_back({"kernel.cc", std::move(design.source)});
  candidate.origin = "smith";
  generation.program = std::move(candidate);
  generation.change = std::move(change);
  generation.extraction = "ok";
  generation.schedule = std::move(design.schedule);
  generation.story = std::move(design.summary);
  return generation;
}

}  // namespace

smith::Problem problem_of(const BoundTask& task, const Machine& machine, int threads,
                          std::string_view precision) {
  smith::Problem problem;
  problem.name = task.task->name;
  problem.graph = task.graph;
  problem.threads = threads;
  problem.machine = machine;
  problem.precision = precision;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const BoundArgument& from = task.arguments[i];
    smith::Argument to;
    to.name = from.name;
    to.c_name = from.c_name;
    to.output = from.output;
    to.role = role_of(from.role);
    to.dtype = from.dtype;
    to.shape = from.shape;
    const Argument& unbound = task.task->arguments[i];
    for (const Dim& dim : unbound.type.dims) to.dims.push_back(dim.symbol);
    problem.arguments.push_back(std::move(to));
  }
  return problem;
}

bool SmithAgent::tried(std::string_view schedule) const {
  return std::ranges::any_of(schedules_, [&](const auto& known) { return known.second == schedule; });
}

Result<Generation> SmithAgent::first() {
  auto design = smith::first_design(problem_, first_guess_);
  if (!design)
    return fail_with_remedy(
        design.error().remedy.empty()
            ? "let a model write it: --generator anthropic:NAME, openai:NAME, a URL or mailbox:DIR"
            : design.error().remedy,
        "the built-in generator cannot write this task: " + design.error().message);
  // What won before and fails now is not tried twice.
  if (tried(design->schedule)) {
    KF_TRY(design, smith::first_design(problem_, ""));
  }
  bool remembered = !first_guess_.empty() && design->schedule == first_guess_;
  return generation_of(std::move(*design), remembered ? "what won on this family before"
                                                      : "first design, from caches and shapes");
}

Result<Generation> SmithAgent::next(const Plan& plan) {
  auto parent = schedules_.find(plan.last->number);
  if (parent == schedules_.end()) {
    // Somebody else's program: the smith cannot go on from it, only beside it.
    if (schedules_.empty()) return first();
    parent = std::prev(schedules_.end());
  }
  // What won before need not be the best now: another shape of the family, another machine, another version.
  if (!first_guess_.empty() && !compared_) {
    compared_ = true;
    auto design = smith::first_design(problem_, "");
    if (design && !tried(design->schedule))
      return generation_of(std::move(*design),
                           "the design from caches and shapes, beside what won on this family");
  }
  auto known = neighbours_.find(parent->first);
  if (known == neighbours_.end()) {
    KF_TRY(smith::Design design, smith::design_from(problem_, parent->second));
    known = neighbours_.emplace(parent->first, smith::moves(problem_, design)).first;
  }
  std::vector<smith::Move>& moves = known->second;
  std::string_view wanted = plan.advice ? std::string_view(plan.advice->tag) : "";
  // The advised kind first; within it, and else, in the order of promise.
  std::ranges::stable_partition(moves, [&](const smith::Move& move) { return move.tag == wanted; });
  // Less work beats the same work done better, whatever the profile says.
  std::ranges::stable_partition(moves, [](const smith::Move& move) { return move.tag == "algorithm"; });
  while (!moves.empty()) {
    smith::Move move = std::move(moves.front());
    moves.erase(moves.begin());
    if (tried(move.schedule)) continue;
    auto design = smith::design_from(problem_, move.schedule);
    if (!design || tried(design->schedule)) continue;
    return generation_of(std::move(*design), fmt::format("{}: {}", move.name, move.why));
  }
  Generation none;
  none.program = std::unexpected(Failure(NoProgram{std::string(kNoNeighbours)}));
  none.extraction = "exhausted";
  return none;
}

Result<Generation> SmithAgent::generate(const Plan& plan, const GenerationContext&, const ReplyWatch&) {
  KF_TRY(Generation generation, plan.last && plan.pass == Pass::kOptimization ? next(plan) : first());
  if (generation.program) schedules_[plan.attempt] = generation.schedule;
  return generation;
}

}  // namespace kforge
