#include "smith/schedule/classes.h"

#include <cstdlib>

namespace kforge::smith {

Classes::Classes(const Program& program) {
  struct Seen {
    Shape view;
    std::vector<Expr> variables;
  };
  std::map<std::string, Seen> seen;  // how a tensor was written, else first read
  int number = 0;
  for (const Stage& stage : program.stages) {
    if (stage.native) continue;
    ++number;
    for (const auto* list : {&stage.dims, &stage.reduced})
      for (const Expr& v : *list) stages_[v->name] = {number};
    visit(stage.body, [&](const ExprNode& node) {
      if (node.op != Op::kLoad) return;
      const Seen& first = seen.try_emplace(node.name, Seen{node.coefs, node.args}).first->second;
      if (first.view != node.coefs) return;
      for (std::size_t d = 0; d < node.args.size(); ++d)
        if (node.args[d]->op == Op::kVar && first.variables[d]->op == Op::kVar &&
            node.args[d]->integer == first.variables[d]->integer)
          unite(node.args[d]->name, first.variables[d]->name);
    });
    seen[stage.tensor] = {stage.view, stage.dims};
  }
}

std::string Classes::of(const std::string& variable) {
  const auto found = parent_.find(variable);
  if (found == parent_.end()) return variable;
  return found->second = of(found->second);
}

void Classes::unite(const std::string& a, const std::string& b) {
  const std::string x = of(a), y = of(b);
  if (x == y) return;
  std::set<int> both = stages_[x];
  both.insert(stages_[y].begin(), stages_[y].end());
  if (both.size() != stages_[x].size() + stages_[y].size()) return;
  parent_[x] = y;
  stages_[y] = std::move(both);
}

Expr vector_variable(const Stage& stage) {
  const Expr kept = stage.dims.empty() ? nullptr : stage.dims.back();
  const Expr gone = stage.reduced.empty() ? nullptr : stage.reduced.back();
  if (!gone) return kept;
  if (!kept || kept->integer < 4) return gone;
  // Elements read along memory less those read across it.
  auto gain = [&](const Expr& along) {
    double total = 0;
    visit(stage.body, [&](const ExprNode& node) {
      if (node.op != Op::kLoad) return;
      const Expr flat = flat_position(node.coefs, node.args);
      if (!uses(flat, along->name)) return;
      double elements = 1;
      for (const auto* list : {&stage.dims, &stage.reduced})
        for (const Expr& v : *list)
          if (uses(flat, v->name)) elements *= static_cast<double>(v->integer);
      bool linear = true;
      const std::int64_t step = coefficient(flat, along->name, &linear);
      total += linear && std::abs(step) == 1 ? elements : -elements;
    });
    return total;
  };
  return gone->integer >= 4 && gain(gone) > gain(kept) ? gone : kept;
}

}  // namespace kforge::smith
