// Arguments that hold their new value after the call: as little as possible is copied for them.
#include <algorithm>

#include "smith/graph/passes.h"

namespace kforge::smith {

using Where = TensorInfo::Where;

namespace {

// A stage that overwrites an argument goes behind the last one that still reads the old value, where nothing
// in between overwrites what it reads itself.
void overwrite_late(Program& program) {
  auto in_place = [&](const Stage& stage) {
    const auto found = program.tensors.find(stage.tensor);
    return !stage.native && found != program.tensors.end() && found->second.where == Where::kInout;
  };
  for (std::size_t i = program.stages.size(); i-- > 0;) {
    if (!in_place(program.stages[i])) continue;
    const std::string target = program.stages[i].tensor;
    const auto mine = reads_of(program.stages[i]);
    std::size_t last = i;
    bool free = true;
    for (std::size_t j = i + 1; j < program.stages.size(); ++j)
      if (reads_of(program.stages[j]).contains(target)) last = j;
    for (std::size_t j = i + 1; j <= last; ++j)
      for (const std::string& name : writes_of(program.stages[j]))
        free &= name != target && !mine.contains(name);
    const auto at = program.stages.begin();
    if (free && last > i)
      std::rotate(at + static_cast<std::ptrdiff_t>(i), at + static_cast<std::ptrdiff_t>(i) + 1,
                  at + static_cast<std::ptrdiff_t>(last) + 1);
  }
}

// The plain load of one whole tensor at the stage's own place; its name, else empty.
std::string copied_by(const Stage& stage) {
  if (stage.native || stage.combine != Combine::kNone || stage.scan_axis >= 0) return {};
  if (stage.body->op != Op::kLoad ||
      !same(flat_position(stage.body->coefs, stage.body->args), flat_position(stage.view, stage.dims)))
    return {};
  return stage.body->name;
}

// temporary = argument; native code change the temporary; argument = temporary: they change the
// argument itself, where nobody else reads either.
void scatter_in_place(Program& program) {
  auto touches = [](const Stage& stage, const std::string& name) {
    return reads_of(stage).contains(name) || writes_of(stage).contains(name);
  };
  for (std::size_t c = 0; c < program.stages.size(); ++c) {
    const std::string target = copied_by(program.stages[c]), copy = program.stages[c].tensor;
    if (target.empty() || program.tensor(target).where != Where::kInout ||
        program.tensor(copy).where != Where::kTemporary ||
        program.tensor(copy).dtype != program.tensor(target).dtype)
      continue;
    std::vector<std::size_t> of_copy, of_target;
    for (std::size_t i = 0; i < program.stages.size(); ++i) {
      if (touches(program.stages[i], copy)) of_copy.push_back(i);
      if (touches(program.stages[i], target)) of_target.push_back(i);
    }
    if (of_copy.size() != 3 || of_target.size() != 2 || of_copy[0] != c || of_target[0] != c ||
        of_target[1] != of_copy[2])
      continue;
    const std::size_t back = of_copy[2];
    Stage& middle = program.stages[of_copy[1]];
    if (!middle.native || copied_by(program.stages[back]) != copy || program.stages[back].tensor != target)
      continue;
    auto changed = std::make_shared<NativeCode>(*middle.native);
    for (auto* list : {&changed->reads, &changed->writes})
      std::replace(list->begin(), list->end(), copy, target);
    const std::string from = "{" + copy + "}", to = "{" + target + "}";
    for (std::size_t at = 0; (at = changed->lines.find(from, at)) != std::string::npos; at += to.size())
      changed->lines.replace(at, from.size(), to);
    middle.native = changed;
    middle.tensor = target;
    program.stages.erase(program.stages.begin() + static_cast<std::ptrdiff_t>(back));
    program.stages.erase(program.stages.begin() + static_cast<std::ptrdiff_t>(c));
    program.tensors.erase(copy);
    --c;
  }
}

}  // namespace

Program settle_in_place(Program program) {
  scatter_in_place(program);
  overwrite_late(program);
  std::vector<Stage> stages, copies;
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    Stage stage = program.stages[i];
    const auto found = program.tensors.find(stage.tensor);
    if (stage.native || found == program.tensors.end() || found->second.where != Where::kInout) {
      stages.push_back(std::move(stage));
      continue;
    }
    const std::string target = stage.tensor;
    bool clash = stage.combine != Combine::kNone;
    const Expr own = flat_position(stage.view, stage.dims);
    visit(stage.body, [&](const ExprNode& node) {
      if (node.op == Op::kLoad && node.name == target)
        clash |= !same(flat_position(node.coefs, node.args), own);
    });
    for (std::size_t j = i + 1; j < program.stages.size(); ++j)
      clash |= reads_of(program.stages[j]).contains(target);
    if (!clash) {
      stages.push_back(std::move(stage));
      continue;
    }
    const std::string copy = target + "_next";
    program.tensors[copy] = {copy, found->second.dtype, found->second.shape, Where::kTemporary, {}, nullptr};
    Stage back = stage;
    back.combine = Combine::kNone;
    back.reduced.clear();
    for (Expr& dim : back.dims) dim = variable(dim->name + "_back", dim->integer);
    back.body = load(copy, found->second.dtype, stage.view, back.dims);
    back.label = "copied back";
    stage.tensor = copy;
    stages.push_back(std::move(stage));
    copies.push_back(std::move(back));
  }
  stages.insert(stages.end(), copies.begin(), copies.end());
  program.stages = std::move(stages);
  return program;
}

}  // namespace kforge::smith
