#include "smith/schedule/groups.h"

#include <algorithm>

namespace kforge::smith {
namespace {

class Grouping {
 public:
  Grouping(const Program& program, Classes& classes, int threads)
      : program_(program), classes_(classes), threads_(threads) {}

  std::vector<Group> groups() {
    std::vector<Group> all;
    for (const Stage& stage : program_.stages) {
      if (stage.native) {
        all.push_back({{&stage}, {}});
        continue;
      }
      if (!all.empty() && join(all.back(), stage)) continue;
      Group fresh{{&stage}, classes_of(stage.dims)};
      if (stage.scan_axis >= 0) fresh.common.erase(fresh.common.begin() + stage.scan_axis);
      all.push_back(std::move(fresh));
    }
    return all;
  }

 private:
  std::vector<std::string> classes_of(const std::vector<Expr>& variables) {
    std::vector<std::string> names;
    for (const Expr& v : variables) names.push_back(classes_.of(v->name));
    return names;
  }
  bool join(Group& group, const Stage& stage) {
    if (group.stages[0]->native || stage.node) return false;
    std::vector<std::string> mine = classes_of(stage.dims), common;
    if (stage.scan_axis >= 0) mine[static_cast<std::size_t>(stage.scan_axis)].clear();
    std::set<std::string> broken;
    bool reads = false;
    visit(stage.body, [&](const ExprNode& node) {
      if (node.op != Op::kLoad) return;
      for (const Stage* other : group.stages) {
        if (other->tensor != node.name) continue;
        reads = true;
        for (std::size_t d = 0; d < other->dims.size(); ++d) {
          const std::string name = classes_.of(other->dims[d]->name);
          const bool plain = other->view == node.coefs && node.args[d]->op == Op::kVar &&
                             classes_.of(node.args[d]->name) == name;
          if (!plain) broken.insert(name);
        }
      }
    });
    for (const std::string& name : group.common)
      if (contains(mine, name) && !broken.contains(name)) common.push_back(name);
    // A contraction takes what is done to each of its results, nothing else.
    const bool after_contraction = group.stages[0]->node != nullptr;
    if (after_contraction && (stage.combine != Combine::kNone || stage.view != group.stages[0]->view ||
                              common.size() != stage.dims.size()))
      return false;
    const bool sibling = stage.view == group.stages.back()->view && common.size() == stage.dims.size();
    if (!reads && !sibling && !shares_rows(group, stage)) return false;
    std::int64_t lanes = 1;
    for (const std::string& name : common) lanes *= extent_of(group, classes_, name);
    if (common.empty() || lanes < 2 * threads_) return false;
    group.stages.push_back(&stage);
    group.common = std::move(common);
    return true;
  }

  // Both read much of the same tensor, row by row: the second finds it in cache.
  bool shares_rows(const Group& group, const Stage& stage) {
    auto rows_of = [&](const Stage& of) {
      std::set<std::string> found;
      visit(of.body, [&](const ExprNode& node) {
        if (node.op != Op::kLoad || element_count(node.coefs) < (1 << 16)) return;
        std::string key = node.name;
        for (const Expr& at : node.args) key += " " + (at->op == Op::kVar ? classes_.of(at->name) : "?");
        if (key.find('?') == std::string::npos) found.insert(key);
      });
      return found;
    };
    const auto mine = rows_of(stage);
    for (const Stage* other : group.stages)
      for (const std::string& key : rows_of(*other))
        if (mine.contains(key)) return true;
    return false;
  }

  const Program& program_;
  Classes& classes_;
  int threads_;
};

}  // namespace

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::int64_t extent_of(const Group& group, Classes& classes, const std::string& name) {
  for (const Stage* stage : group.stages)
    for (const Expr& v : stage->dims)
      if (classes.of(v->name) == name) return v->integer;
  return 1;
}

std::vector<Group> groups_of(const Program& program, Classes& classes, int threads) {
  return Grouping(program, classes, threads).groups();
}

}  // namespace kforge::smith
