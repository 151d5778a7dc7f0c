#include "smith/pipeline.h"

#include <algorithm>
#include <chrono>

#include "smith/graph/check_program.h"
#include "smith/graph/passes.h"
#include "smith/graph/push_sums.h"

namespace kforge::smith {
namespace {

void run_prune(Pipeline& p) { p.program = prune(std::move(p.program)); }
void run_push_sums(Pipeline& p) { p.program = push_sums(std::move(p.program)); }
void run_settle_in_place(Pipeline& p) { p.program = settle_in_place(std::move(p.program)); }
void run_hoist_params(Pipeline& p) {
  Hoisted hoisted = hoist_params(std::move(p.program));
  p.program = std::move(hoisted.rest);
  p.prepared = std::move(hoisted.prepared);
  for (const auto& [name, tensor] : p.program.tensors)
    if (tensor.where == TensorInfo::Where::kParam || tensor.where == TensorInfo::Where::kConstant)
      p.fixed.insert(name);
  for (const Stage& stage : p.prepared.stages) p.fixed.insert(stage.tensor);
}
void run_match_attention(Pipeline& p) {
  MatchedAttentions matched = match_attention(std::move(p.program));
  p.program = std::move(matched.rest);
  p.attentions = std::move(matched.parts);
}
void run_match_contractions(Pipeline& p) {
  MatchedContractions matched = match_contractions(std::move(p.program), p.fixed);
  p.program = std::move(matched.rest);
  p.contractions = std::move(matched.parts);
}
void run_split_reductions(Pipeline& p) { p.program = split_reductions(std::move(p.program), p.threads); }
void run_tidy_dimensions(Pipeline& p) {
  p.program = tidy_dimensions(std::move(p.program));
  p.prepared = tidy_dimensions(std::move(p.prepared));
}

}  // namespace

const std::vector<Pass>& passes() {
  static const std::vector<Pass> all = {
      {"prune", run_prune},
      {"push_sums", run_push_sums},
      {"settle_in_place", run_settle_in_place},
      {"hoist_params", run_hoist_params},
      {"match_attention", run_match_attention},
      {"match_contractions", run_match_contractions},
      {"split_reductions", run_split_reductions},
      {"tidy_dimensions", run_tidy_dimensions},
  };
  return all;
}

Result<Pipeline> run_passes(const Problem& problem, const PassOptions& options) {
  using Clock = std::chrono::steady_clock;
  Pipeline p;
  p.threads = problem.threads;
  auto begin = Clock::now();
  const auto finished = [&](std::string_view name) {
    if (options.times)
      options.times->push_back({name, std::chrono::duration<double>(Clock::now() - begin).count()});
    if (options.check) {
      auto good = check_program(p.program, p.prepared);
      KF_CHECK(good, "after {}: {}", name, good.error().message);
    }
    if (options.dump && options.dump_after == name)
      *options.dump = (p.prepared.stages.empty() ? "" : "prepare:\n" + print(p.prepared) + "\ncall:\n") +
                      print(p.program);
    begin = Clock::now();
  };
  KF_TRY(p.program, lower(problem));
  finished("lower");
  for (const Pass& pass : passes()) {
    pass.run(p);
    finished(pass.name);
  }
  return p;
}

}  // namespace kforge::smith
