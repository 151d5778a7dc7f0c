#include "smith/smith.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "smith/emit/cpp.h"
#include "smith/emit/repeats.h"
#include "smith/graph/names.h"
#include "smith/pipeline.h"
#include "smith/schedule/schedule.h"

namespace kforge::smith {
namespace {

// Everything up to the loops: the same for every schedule of a problem.
struct Prepared {
  Program program;  // of each call
  Nest nest;        // its loops, unscheduled
  Nest prepared;    // of prepare()
  std::vector<MatchedContraction> contractions;
  std::vector<MatchedAttention> attentions;
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
  KF_TRY(Pipeline p, run_passes(renamed ? *renamed : given));
  return Prepared{p.program,
                  build_nest(p.program),
                  build_nest(p.prepared),
                  std::move(p.contractions),
                  std::move(p.attentions),
                  std::move(renamed)};
}

// The schedule of a contraction: the one that is given, else the analytic guess.
Result<ContractionSchedule> schedule_of(const Problem& problem, const MatchedContraction& matched,
                                        const Schedule& schedule) {
  const auto given = schedule.contractions.find(matched.tensor);
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
  return first_schedule(matched, plain, problem.threads, problem.precision);
}

Result<AttentionSchedule> schedule_of(const Problem& problem, const MatchedAttention& matched,
                                      const Schedule& schedule) {
  const auto given = schedule.contractions.find(matched.attention.tensor);
  if (given != schedule.contractions.end())
    return attention_schedule_from_json(given->second, matched.attention);
  return first_schedule(matched.attention, problem.machine, problem.threads);
}

// A contraction as a part of the program: its code, and the memory it packs params into or works in.
Result<KernelPart> part_of(const MatchedContraction& matched, const ContractionSchedule& chosen,
                           std::string& summary) {
  KF_TRY(const ContractionCode code, emit_matched(matched, chosen));
  KernelPart part;
  part.definitions = code.definitions;
  part.name = code.name;
  part.names = {code.name, code.name + "_config"};
  for (const Tensor& tensor : matched.product ? matched.product->tensors : matched.convolution->tensors)
    part.names.insert(tensor.name);
  part.headers = *matched.used;
  part.headers.insert(code.headers.begin(), code.headers.end());
  part.buffers = {{matched.prepared_buffer(), code.prepared_floats},
                  {matched.scratch_buffer(), code.scratch_floats}};
  if (code.prepared_floats > 0) {
    std::string arguments;
    for (const std::string& argument : matched.prepare_arguments)
      arguments += (arguments.empty() ? "" : ", ") + argument;
    part.prepare = "  " + code.name + "::prepare({" + arguments + "}, " + matched.prepared_buffer() + ");\n";
  }
  summary = code.summary;
  return part;
}

// A kernel that another one is but for the names of its tensors becomes a second name of that.
void join_repeated(std::vector<KernelPart>& parts) {
  std::map<std::string, std::string> known;  // shape to name
  for (KernelPart& part : parts) {
    const Skeleton skeleton = skeleton_of(part.definitions, [&](std::string_view word) {
      return part.names.contains(std::string(word)) || part.names.contains(std::string(numbered_stem(word)));
    });
    const auto [first, is_new] = known.try_emplace(skeleton.shape, part.name);
    if (!is_new) part.definitions = fmt::format("using {} = {};\n", part.name, first->second);
  }
}

Result<Design> design(const Problem& problem, const Prepared& prepared, Schedule schedule,
                      std::vector<std::string> reasons) {
  KF_TRY(Nest nest, apply_all(prepared.nest, schedule.steps));
  CppProgram program;
  for (const MatchedContraction& matched : prepared.contractions) {
    KF_TRY(const ContractionSchedule chosen, schedule_of(problem, matched, schedule));
    std::string summary;
    KF_TRY(KernelPart part, part_of(matched, chosen, summary));
    program.parts.push_back(std::move(part));
    schedule.contractions[matched.tensor] = to_json(chosen);
    if (chosen.arithmetic != Arithmetic::kFp32) program.arithmetic = name_of(chosen.arithmetic);
    if (chosen.winograd) program.arithmetic = "fp32-winograd";
    reasons.push_back(summary);
  }
  for (const MatchedAttention& matched : prepared.attentions) {
    KF_TRY(const AttentionSchedule chosen, schedule_of(problem, matched, schedule));
    KernelPart part;
    part.definitions = attention_source(matched, chosen, part.headers);
    part.name = matched.attention.tensor + "_attention";
    part.names = {part.name, part.name + "_config"};
    for (const auto& [name, info] : matched.tensors) part.names.insert(name + "_");
    program.parts.push_back(std::move(part));
    schedule.contractions[matched.attention.tensor] = to_json(chosen);
    reasons.push_back(summary_of(matched, chosen));
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
  join_repeated(program.parts);
  result.source = emit_cpp(program);
  for (const std::string& reason : program.comment) result.summary += reason + "\n";
  return result;
}

// What makes two contractions the same problem to a schedule.
std::string shape_of(const MatchedContraction& matched) {
  const Contraction c = matched.product ? *matched.product : matched.convolution->contraction();
  std::string shape = fmt::format("{} {} {} {} {} ", c.batch, c.m, c.n, c.k, c.run);
  if (const auto& conv = matched.convolution)
    shape +=
        fmt::format("{} {} {} ", fmt::join(conv->kernel, "x"), fmt::join(conv->strides, "x"), conv->groups);
  return shape;
}
std::string shape_of(const Attention& a) {
  return fmt::format("attention {} {} {} {} {} {} ", a.batch, a.queries, a.keys, a.depth, a.width, a.causal);
}

// The layers of a network are often alike, and one function serves them all: what is tried for one of them is
// tried for all, in one attempt, or a search would compile the network once for each layer.
class AlikeMoves {
 public:
  explicit AlikeMoves(const Schedule& from) : from_(from) {}

  // One step for one kernel; `name` of a step is the same for kernels that are alike by `kind`.
  void add(const std::string& kind, const std::string& tensor, const std::string& schedule, Move move,
           const std::string& name) {
    const auto [place, is_new] = known_.try_emplace(kind + "/" + name, steps_.size());
    if (is_new) steps_.push_back({std::move(move), from_, 0});
    Joint& step = steps_[place->second];
    step.schedule.contractions[tensor] = schedule;
    ++step.kernels;
  }
  std::vector<Move> moves() {
    std::vector<Move> all;
    for (Joint& step : steps_) {
      if (step.kernels > 1) step.move.name += fmt::format(" and {} alike", step.kernels - 1);
      step.move.schedule = to_json(step.schedule);
      all.push_back(std::move(step.move));
    }
    return all;
  }

 private:
  struct Joint {
    Move move;
    Schedule schedule;
    int kernels = 0;
  };
  const Schedule& from_;
  std::vector<Joint> steps_;
  std::map<std::string, std::size_t> known_;  // kind and name to step
};

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
  AlikeMoves alike(*schedule);
  for (const MatchedContraction& matched : prepared->contractions) {
    const auto now = schedule_of(problem, matched, *schedule);
    if (!now) continue;
    for (const ScheduleMove& move : neighbours(*now, matched, problem.machine, problem.precision))
      alike.add(shape_of(matched) + to_json(*now), matched.tensor, to_json(move.schedule),
                {move.name + " " + matched.tensor, move.tag, move.why, {}, move.expected}, move.name);
  }
  for (const MatchedAttention& matched : prepared->attentions) {
    const auto now = schedule_of(problem, matched, *schedule);
    if (!now) continue;
    for (const AttentionMove& move : neighbours(*now, matched.attention))
      alike.add(shape_of(matched.attention) + to_json(*now), matched.attention.tensor, to_json(move.schedule),
                {move.name, "tile", move.why}, move.name);
  }
  for (Move& move : alike.moves()) found.push_back(std::move(move));
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
