// bind_task: a task with its dimensions filled in.
#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "runner/protocol.h"
#include "task/distribution.h"
#include "task/follow.h"
#include "task/guess.h"
#include "task/index_limit.h"
#include "task/task.h"

namespace kforge {
namespace {

Result<double> bound_value(double number, const std::string& symbol,
                           const std::map<std::string, std::int64_t>& dims) {
  if (symbol.empty()) return number;
  auto found = dims.find(symbol);
  if (found == dims.end()) return fail("the dimension '{}' has no value", symbol);
  return static_cast<double>(found->second);
}

Result<Distribution> bind_distribution(const Argument& argument, const BoundArgument& bound,
                                       const BoundTask& task) {
  if (!argument.stated) return guess_distribution(task.graph, argument.name, bound.dtype, bound.role);
  Distribution out = argument.distribution;
  if (out.any_index) {
    if (bound.index_limit == 0)
      return fail("'{}' indexes nothing: write integer(a, b) with bounds", argument.name);
    out.any_index = false;
    out.b = static_cast<double>(bound.index_limit);
  }
  KF_TRY(out.a, bound_value(out.a, out.a_symbol, task.shape_case.dims));
  KF_TRY(out.b, bound_value(out.b, out.b_symbol, task.shape_case.dims));
  if (out.kind == Distribution::Kind::kInteger && !(out.a < out.b))
    return fail("'{}': integer({:g}, {:g}) is empty", argument.name, out.a, out.b);
  // An index past the end would make every kernel crash: the task is wrong, not the kernel.
  if (out.kind == Distribution::Kind::kInteger && bound.index_limit > 0 &&
      out.b > static_cast<double>(bound.index_limit))
    return fail("'{}' takes values up to {:g} but indexes a dimension of {}", argument.name, out.b - 1,
                bound.index_limit);
  return out;
}

Result<BoundArgument> bind_argument(const Argument& argument, const BoundTask& task) {
  BoundArgument bound{
      argument.name, argument.c_name, argument.output, argument.role, argument.type.dtype, {}, {}};
  bound.shape = task.graph.types.at(argument.name).shape();
  if (argument.role == Role::kInout && task.graph.types.at(argument.output).shape() != bound.shape)
    return fail("'{}' is {} but its new value '{}' is {}", argument.name, to_string(bound.shape),
                argument.output, to_string(task.graph.types.at(argument.output).shape()));
  if (argument.role == Role::kOutput) return bound;
  if (!is_float(bound.dtype)) bound.index_limit = index_limit_of(task.graph, argument.name);
  KF_TRY(bound.distribution, bind_distribution(argument, bound, task));
  if (bound.distribution.kind == Distribution::Kind::kFixed)
    bound.fixed = &task.task->graph.find_initializer(argument.name)->tensor;
  return bound;
}

// An inout that is only scattered into is updated in place: what is not hit is neither read nor written.
void discount_in_place(BoundTask& bound) {
  for (const BoundArgument& argument : bound.arguments) {
    if (argument.role != Role::kInout) continue;
    for (const Node& node : bound.graph.nodes) {
      bool scatters = node.op == "ScatterND" || node.op == "ScatterElements";
      if (!scatters || node.inputs[0] != argument.name || node.outputs[0] != argument.output) continue;
      double updates = static_cast<double>(element_count(bound.graph.types.at(node.inputs[2]).shape())) *
                       static_cast<double>(size_of(argument.dtype));
      auto whole = static_cast<double>(argument.bytes());
      if (updates >= whole || real_uses(bound.graph, argument.name).size() != 1) continue;
      bound.cost.compulsory_bytes += updates - 2 * whole;
      bound.cost.written_bytes += updates - whole;
    }
  }
}

}  // namespace

Result<BoundTask> bind_case(const Task& task, const std::string& set, const ShapeCase& shape_case) {
  BoundTask bound;
  bound.task = &task;
  bound.shape_set = set;
  bound.shape_case = shape_case;
  auto graph = bind_dims(task.graph, shape_case.dims);
  if (!graph) return fail("task '{}', shape set '{}': {}", task.name, set, graph.error().message);
  bound.graph = std::move(*graph);
  if (task.arguments.size() > KFORGE_MAX_ARGUMENTS)
    return fail_with_remedy(
        "split the model, or join weights that are used together",
        fmt::format("task '{}' has {} inputs, params and outputs; a kernel can be given {}", task.name,
                    task.arguments.size(), KFORGE_MAX_ARGUMENTS));
  for (const Argument& argument : task.arguments) {
    auto one = bind_argument(argument, bound);
    if (!one) return fail("task '{}', shape set '{}': {}", task.name, set, one.error().message);
    bound.arguments.push_back(std::move(*one));
  }
  bound.cost = count_cost(bound.graph);
  discount_in_place(bound);
  return bound;
}

Result<BoundTask> bind_task(const Task& task, std::string_view shape_set, std::size_t case_index) {
  auto found = task.shapes.find(std::string(shape_set));
  if (found == task.shapes.end()) {
    std::vector<std::string> sets;
    for (const auto& [name, cases] : task.shapes) sets.push_back(name);
    return fail("task '{}' has no shape set '{}'; it has {}", task.name, shape_set, fmt::join(sets, ", "));
  }
  if (case_index >= found->second.size())
    return fail("shape set '{}' of task '{}' has {} cases, no case {}", shape_set, task.name,
                found->second.size(), case_index);
  return bind_case(task, found->first, found->second[case_index]);
}

}  // namespace kforge
