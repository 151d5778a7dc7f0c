// A task with its shapes as the smith sees it.
#pragma once

#include "smith/smith.h"
#include "task/task.h"

namespace kforge {

inline smith::Problem smith_problem(const BoundTask& task, const Machine& machine, int threads) {
  smith::Problem problem;
  problem.name = task.task->name;
  problem.graph = task.graph;
  problem.threads = threads;
  problem.machine = machine;
  for (std::size_t i = 0; i < task.arguments.size(); ++i) {
    const BoundArgument& from = task.arguments[i];
    smith::Argument to{from.name,  from.c_name, from.output, static_cast<smith::ArgumentRole>(from.role),
                       from.dtype, from.shape,  {}};
    for (const Dim& dim : task.task->arguments[i].type.dims) to.dims.push_back(dim.symbol);
    problem.arguments.push_back(std::move(to));
  }
  return problem;
}

}  // namespace kforge
