#include "generate/smith_generator.h"

#include <algorithm>

#include "graph/join.h"

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
  generation.status = ReplyStatus::kOk;
  generation.schedule = std::move(design.schedule);
  generation.rationale = std::move(design.summary);
  return generation;
}

Generation generation_of(smith::DeviceDesign design, std::string change) {
  Generation generation;
  generation.change = std::move(change);
  generation.status = ReplyStatus::kOk;
  generation.schedule = design.schedule;
  generation.rationale = design.summary;
  generation.program = candidate_of(std::move(design));
  return generation;
}

Generation nothing_left() {
  Generation none;
  none.program = std::unexpected(Failure(NoProgram{"every neighbouring design was tried"}));
  none.status = ReplyStatus::kExhausted;
  return none;
}

}  // namespace

std::optional<smith::DeviceLanguage> device_language(const Platform& platform) {
  if (platform.kind != PlatformKind::kDevice || !platform.run.driver) return std::nullopt;
  switch (*platform.run.driver) {
    case DeviceDriver::kOpenCl:
      return smith::DeviceLanguage::kOpenCl;
    case DeviceDriver::kVulkan:
      return smith::DeviceLanguage::kGlsl;
    case DeviceDriver::kCuda:
      return smith::DeviceLanguage::kCuda;
    case DeviceDriver::kMetal:
      return smith::DeviceLanguage::kMsl;
  }
  return std::nullopt;
}

Candidate candidate_of(smith::DeviceDesign design) {
  return {{{std::move(design.file), std::move(design.source)}, {kPlanFile, std::move(design.plan)}}, "smith"};
}

smith::Problem problem_of(const BoundTask& task, const Machine& machine, int threads,
                          std::string_view precision) {
  smith::Problem problem;
  problem.name = task.task->name;
  problem.graph = join_operators(task.graph);
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

void SmithGenerator::recall(const Attempt& attempt) {
  if (attempt.generation && !attempt.generation->schedule.empty())
    schedules_[attempt.number] = attempt.generation->schedule;
}

bool SmithGenerator::tried(std::string_view schedule) const {
  return std::ranges::any_of(schedules_, [&](const auto& known) { return known.second == schedule; });
}

Result<Generation> SmithGenerator::first_for_device() {
  const auto remembered = smith::choices_of(first_guess_);
  auto design = smith::device_design(problem_, *language_, remembered.value_or(smith::DeviceChoices{}));
  if (!design)
    return fail_with_remedy(
        "let a model write it: --generator anthropic:NAME, openai:NAME, a URL or mailbox:DIR",
        "the built-in generator cannot write this task: " + design.error().message);
  return generation_of(std::move(*design),
                       remembered ? "what won on this family before" : "first design, from the shapes");
}

// The design one choice from this one that was not tried; the advised kind first.
std::optional<Generation> SmithGenerator::device_neighbour_of(int parent, std::string_view wanted) {
  const auto choices = smith::choices_of(schedules_.at(parent));
  if (!choices) return std::nullopt;
  std::vector<smith::DeviceMove> moves = smith::device_moves(*choices);
  std::ranges::stable_partition(moves, [&](const smith::DeviceMove& move) { return move.tag == wanted; });
  for (const smith::DeviceMove& move : moves) {
    auto design = smith::device_design(problem_, *language_, move.choices);
    if (!design || tried(design->schedule)) continue;
    // A choice about tiles changes nothing where there are none.
    if (std::ranges::find(sources_, design->source) != sources_.end()) continue;
    return generation_of(std::move(*design), fmt::format("{}: {}", move.tag, move.name));
  }
  return std::nullopt;
}

Result<Generation> SmithGenerator::next_for_device(const Plan& plan) {
  const std::string_view wanted = plan.advice ? std::string_view(plan.advice->tag) : "";
  // From the best: choices hardly depend on each other.
  std::vector<int> parents;
  if (plan.best && schedules_.contains(plan.best->number)) parents.push_back(plan.best->number);
  if (plan.last && schedules_.contains(plan.last->number)) parents.push_back(plan.last->number);
  if (parents.empty()) parents.push_back(schedules_.rbegin()->first);
  for (const int parent : parents)
    if (auto found = device_neighbour_of(parent, wanted)) {
      if (plan.advice) found->followed_advice = found->change.starts_with(std::string(wanted) + ":");
      return std::move(*found);
    }
  return nothing_left();
}

Result<Generation> SmithGenerator::first() {
  if (language_) return first_for_device();
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

Result<std::vector<smith::Move>*> SmithGenerator::neighbours_of(int parent) {
  auto known = neighbours_.find(parent);
  if (known == neighbours_.end()) {
    KF_TRY(smith::Design design, smith::design_from(problem_, schedules_.at(parent)));
    known = neighbours_.emplace(parent, smith::moves(problem_, design)).first;
  }
  return &known->second;
}

std::vector<std::string> SmithGenerator::kinds_of_change(const Attempt& attempt) {
  std::lock_guard lock(mutex_);
  if (!schedules_.contains(attempt.number)) return {};
  if (language_) {
    std::vector<std::string> kinds;
    const auto choices = smith::choices_of(schedules_.at(attempt.number));
    for (const smith::DeviceMove& move :
         choices ? smith::device_moves(*choices) : std::vector<smith::DeviceMove>())
      if (std::ranges::find(kinds, move.tag) == kinds.end()) kinds.push_back(move.tag);
    return kinds;
  }
  auto moves = neighbours_of(attempt.number);
  if (!moves) return {};
  std::vector<std::string> kinds;
  for (const smith::Move& move : **moves) {
    if (tried(move.schedule)) continue;
    if (move.tag == "algorithm") return {move.tag};  // comes before every other kind
    if (std::ranges::find(kinds, move.tag) == kinds.end()) kinds.push_back(move.tag);
  }
  return kinds;
}

// The most promising design one step from this one that was not tried.
Result<std::optional<Generation>> SmithGenerator::neighbour_of(int parent, const Plan& plan) {
  KF_TRY(auto* found, neighbours_of(parent));
  std::vector<smith::Move>& moves = *found;
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
    // Advice names the kind of a change: so does the change, that readers see whether they belong together.
    std::string name =
        move.name.starts_with(move.tag) ? move.name : fmt::format("{}: {}", move.tag, move.name);
    Generation generation = generation_of(std::move(*design), fmt::format("{}: {}", name, move.why));
    if (plan.advice) generation.followed_advice = move.tag == wanted;
    return generation;
  }
  return std::nullopt;
}

Result<Generation> SmithGenerator::next(const Plan& plan) {
  if (language_) return next_for_device(plan);
  // What won before need not be the best now: another shape of the family, another machine, another version.
  if (!first_guess_.empty() && !compared_) {
    compared_ = true;
    auto design = smith::first_design(problem_, "");
    if (design && !tried(design->schedule)) {
      Generation generation = generation_of(
          std::move(*design), "the design from caches and shapes, beside what won on this family");
      if (plan.advice) generation.followed_advice = false;
      return generation;
    }
  }
  // Somebody else's program: the smith cannot go on from it, only beside it.
  bool own = plan.last && schedules_.contains(plan.last->number);
  int parent = own ? plan.last->number : schedules_.rbegin()->first;
  KF_TRY(auto found, neighbour_of(parent, plan));
  // The best has no neighbours left: that ends a search. Another one was chosen for breadth, and any other
  // will do instead.
  if (!found && plan.best && parent != plan.best->number)
    for (auto it = schedules_.rbegin(); !found && it != schedules_.rend(); ++it) {
      KF_TRY(found, neighbour_of(it->first, plan));
    }
  if (found) return std::move(*found);
  return nothing_left();
}

Result<Generation> SmithGenerator::generate(const Plan& plan, const AgentSetting&, const ReplyWatch&) {
  std::lock_guard lock(mutex_);
  KF_TRY(Generation generation, schedules_.empty() ? first() : next(plan));
  if (generation.program) schedules_[plan.attempt] = generation.schedule;
  if (generation.program && language_) sources_.push_back(generation.program->files.front().content);
  return generation;
}

}  // namespace kforge
