#include "smith/smith.h"

#include <algorithm>
#include <optional>
#include <set>

#include "smith/attention/attention.h"
#include "smith/contract/take_contractions.h"
#include "smith/emit/cpp.h"
#include "smith/graph/names.h"
#include "smith/graph/passes.h"
#include "smith/graph/push_sums.h"
#include "smith/schedule/schedule.h"

namespace kforge::smith {
namespace {

// Everything up to the loops: the same for every schedule of a problem.
struct Prepared {
  Program program;  // of each call
  Nest nest;        // its loops, unscheduled
  Nest prepared;    // of prepare()
  std::vector<TakenContraction> contractions;
  std::vector<TakenAttention> attentions;
  std::optional<Problem> renamed;  // where an argument has a name that programs use themselves
};

// Task.h only declares: a definition may call its arguments as it likes.
std::optional<Problem> with_free_names(const Problem& problem) {
  auto taken = [](const Argument& argument) { return is_taken_name(argument.c_name); };
  if (std::ranges::none_of(problem.arguments, taken)) return std::nullopt;
  Problem renamed = problem;
  std::set<std::string> names;
  for (Argument& argument : renamed.arguments) {
    const std::string wanted = free_name(argument.c_name);
    argument.c_name = wanted;
    for (int i = 2; !names.insert(argument.c_name).second; ++i)
      argument.c_name = fmt::format("{}_{}", wanted, i);
  }
  return renamed;
}

Result<Prepared> prepare(const Problem& given) {
  std::optional<Problem> renamed = with_free_names(given);
  const Problem& problem = renamed ? *renamed : given;
  KF_TRY(Program program, lower(problem));
  program = settle_in_place(push_sums(prune(std::move(program))));
  Hoisted hoisted = hoist_params(std::move(program));
  std::set<std::string> fixed;  // what prepare() has
  for (const auto& [name, tensor] : hoisted.rest.tensors)
    if (tensor.where == TensorInfo::Where::kParam || tensor.where == TensorInfo::Where::kConstant)
      fixed.insert(name);
  for (const Stage& stage : hoisted.prepared.stages) fixed.insert(stage.tensor);
  TakenAttentions attended = take_attention(std::move(hoisted.rest));
  Taken taken = take_contractions(std::move(attended.rest), fixed, problem.threads);
  Program rest = split_reductions(std::move(taken.rest), problem.threads);
  rest = tidy_dimensions(std::move(rest));
  Program before = tidy_dimensions(std::move(hoisted.prepared));
  Prepared result{rest,
                  build_nest(rest),
                  build_nest(before),
                  std::move(taken.parts),
                  std::move(attended.parts),
                  std::move(renamed)};
  return result;
}

// The schedule of a contraction: the one that is given, else the analytic guess.
Result<ContractionSchedule> schedule_of(const Problem& problem, const TakenContraction& taken,
                                        const Schedule& schedule) {
  const auto given = schedule.contractions.find(taken.tensor);
  if (given != schedule.contractions.end()) {
    KF_TRY(ContractionSchedule found, contraction_schedule_from_json(given->second));
    found.threads =
        problem.threads;  // the program's team calls it whole: its scratch must have room for all of it
    return found;
  }
  // Tile instructions are a move of the search, taken when they were seen to be right and faster: never a
  // first guess.
  Machine plain = problem.machine;
  plain.features.erase("amx");
  return first_schedule(taken, plain, problem.threads, problem.precision);
}

Result<AttentionSchedule> schedule_of(const Problem& problem, const TakenAttention& taken,
                                      const Schedule& schedule) {
  const auto given = schedule.contractions.find(taken.attention.tensor);
  if (given != schedule.contractions.end())
    return attention_schedule_from_json(given->second, taken.attention);
  return first_schedule(taken.attention, problem.machine, problem.threads);
}

// A contraction as a part of the program: its code, and the memory it packs params into or works in.
Result<ForeignPart> part_of(const TakenContraction& taken, const ContractionSchedule& chosen,
                            std::string& story) {
  KF_TRY(const ContractionCode code, emit_taken(taken, chosen));
  ForeignPart part;
  part.definitions = code.definitions + "\n";
  part.used = *taken.used;
  part.buffers = {{taken.prepared_buffer(), code.prepared_floats},
                  {taken.scratch_buffer(), code.scratch_floats}};
  if (code.prepared_floats > 0) {
    std::string arguments;
    for (const std::string& argument : taken.prepare_arguments)
      arguments += (arguments.empty() ? "" : ", ") + argument;
    part.prepare = "  " + code.name + "::prepare({" + arguments + "}, " + taken.prepared_buffer() + ");\n";
  }
  story = code.story;
  return part;
}

Result<Design> design(const Problem& problem, const Prepared& prepared, Schedule schedule,
                      std::vector<std::string> reasons) {
  KF_TRY(Nest nest, apply_all(prepared.nest, schedule.steps));
  CppProgram program;
  for (const TakenContraction& taken : prepared.contractions) {
    KF_TRY(const ContractionSchedule chosen, schedule_of(problem, taken, schedule));
    std::string story;
    KF_TRY(ForeignPart part, part_of(taken, chosen, story));
    program.foreign.push_back(std::move(part));
    schedule.contractions[taken.tensor] = to_json(chosen);
    if (chosen.arithmetic != Arithmetic::kFp32) program.arithmetic = name_of(chosen.arithmetic);
    if (chosen.winograd) program.arithmetic = "fp32-winograd";
    reasons.push_back(story);
  }
  for (const TakenAttention& taken : prepared.attentions) {
    KF_TRY(const AttentionSchedule chosen, schedule_of(problem, taken, schedule));
    ForeignPart part;
    part.definitions = attention_source(taken, chosen, part.used);
    program.foreign.push_back(std::move(part));
    schedule.contractions[taken.attention.tensor] = to_json(chosen);
    reasons.push_back(story_of(taken, chosen));
  }
  program.problem = prepared.renamed ? &*prepared.renamed : &problem;
  program.nest = shrink_temporaries(nest);
  program.prepared = prepared.prepared;
  program.algebraic = !prepared.program.algebra.empty();
  for (const std::string& rewrite : prepared.program.algebra) reasons.push_back("algebra: " + rewrite);
  program.comment = std::move(reasons);
  Design result;
  result.algebraic = program.algebraic;
  result.schedule = to_json(schedule);
  result.arithmetic = program.arithmetic;
  for (const std::string& reason : program.comment) result.story += reason + "\n";
  result.source = emit_cpp(program);
  return result;
}

}  // namespace

Result<Design> first_design(const Problem& problem, std::string_view remembered) {
  if (!remembered.empty())
    if (auto again = design_from(problem, remembered)) return again;
  KF_TRY(Prepared prepared, prepare(problem));
  Guess guess = first_steps(prepared.program, prepared.nest, problem.machine, problem.threads);
  return design(problem, prepared, Schedule{guess.steps, {}}, guess.reasons);
}

Result<Design> design_from(const Problem& problem, std::string_view text) {
  KF_TRY(Schedule schedule, schedule_from_json(text));
  KF_TRY(Prepared prepared, prepare(problem));
  std::vector<std::string> reasons;
  for (const Step& step : schedule.steps) reasons.push_back(print(step));
  return design(problem, prepared, schedule, reasons);
}

std::vector<Move> moves(const Problem& problem, const Design& from) {
  const auto schedule = schedule_from_json(from.schedule);
  const auto prepared = prepare(problem);
  std::vector<Move> found;
  if (!schedule || !prepared) return found;
  for (const Variation& v : variations(prepared->nest, schedule->steps, problem.machine, problem.threads)) {
    Schedule next = *schedule;
    next.steps = v.steps;
    found.push_back({v.name, v.tag, v.why, to_json(next)});
  }
  for (const TakenContraction& taken : prepared->contractions) {
    const auto now = schedule_of(problem, taken, *schedule);
    if (!now) continue;
    for (const ScheduleMove& move : neighbours(*now, taken, problem.machine, problem.precision)) {
      Schedule next = *schedule;
      next.contractions[taken.tensor] = to_json(move.schedule);
      found.push_back({move.name + " " + taken.tensor, move.tag, move.why, to_json(next)});
    }
  }
  for (const TakenAttention& taken : prepared->attentions) {
    const auto now = schedule_of(problem, taken, *schedule);
    if (!now) continue;
    for (const AttentionMove& move : neighbours(*now, taken.attention)) {
      Schedule next = *schedule;
      next.contractions[taken.attention.tensor] = to_json(move.schedule);
      found.push_back({move.name, "tile", move.why, to_json(next)});
    }
  }
  return found;
}

std::string family(const Problem& problem) {
  std::string ops;
  for (const Node& node : problem.graph.nodes) ops += (ops.empty() ? "" : "+") + node.op;
  auto bucket = [](std::int64_t n) {
    std::int64_t b = 1;
    while (b * 2 <= n) b *= 2;
    return b;
  };
  std::string shapes;
  for (const Argument& argument : problem.arguments) {
    shapes += "/";
    for (std::size_t d = 0; d < argument.shape.size(); ++d)
      shapes += (d ? "x" : "") + std::to_string(bucket(argument.shape[d]));
  }
  return ops + shapes;
}

Result<std::string> print_loops(const Problem& problem, std::string_view text) {
  KF_TRY(Prepared prepared, prepare(problem));
  Schedule schedule;
  if (text.empty()) {
    schedule.steps = first_steps(prepared.program, prepared.nest, problem.machine, problem.threads).steps;
  } else {
    KF_TRY(schedule, schedule_from_json(text));
  }
  KF_TRY(Nest nest, apply_all(prepared.nest, schedule.steps));
  return print(prepared.program) + "\n" + print(shrink_temporaries(nest));
}

}  // namespace kforge::smith
