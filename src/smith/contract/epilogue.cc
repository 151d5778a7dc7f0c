#include "smith/contract/epilogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "smith/contract/config_text.h"
#include "smith/emit/cpp_expr.h"

namespace kforge::smith {

namespace {

constexpr const char* kSums = "sum_at";

}  // namespace

IndexMap index_map(const Shape& view, const std::vector<int>& kind, long batch, long rows, long columns) {
  const Expr variables[] = {variable("batch", batch), variable("row", rows), variable("column", columns)};
  long below[] = {1, 1, 1}, whole[] = {batch, rows, columns};
  IndexMap map{view, std::vector<Expr>(view.size()), columns};
  for (std::size_t i = view.size(); i-- > 0;) {
    const int k = kind[i];
    const bool most_significant = below[k] * view[i] == whole[k];
    map.dims[i] = view[i] == 1 ? integer(0) : digit(variables[k], below[k], most_significant ? 0 : view[i]);
    below[k] *= static_cast<long>(view[i]);
  }
  return map;
}

IndexMap image_map(const Shape& view, long groups, long filters, long batch, long pixels) {
  const Expr item = variable("batch", batch), row = variable("row", filters),
             column = variable("column", pixels);
  IndexMap map{view, {}, pixels};
  map.dims.push_back(groups == 1 ? item : digit(item, groups, 0));
  map.dims.push_back(groups == 1 ? row : plus(times(digit(item, 1, groups), filters), row));
  for (const Expr& e : unflatten(column, Shape(view.begin() + 2, view.end()))) map.dims.push_back(e);
  return map;
}

Epilogue find_epilogue(const Program& program, std::size_t product, const IndexMap& map) {
  const Stage& stage = program.stages[product];
  Epilogue e;
  e.tensor = stage.tensor;
  e.view = stage.view;
  e.position = map.dims;
  const Expr sum = load(kSums, DType::kFloat32, {map.columns}, {variable("column", map.columns)});
  e.value = sum;
  const auto in_order = [&] {
    bool linear = true;
    const auto step = coefficient(flat_position(e.view, e.position), "column", &linear);
    return (linear && step == 1) || map.columns == 1;
  };
  e.in_order = in_order();
  // The one stage that reads it.
  if (program.tensor(stage.tensor).where != TensorInfo::Where::kTemporary) return e;
  std::optional<std::size_t> reader;
  for (std::size_t i = product + 1; i < program.stages.size(); ++i) {
    const Stage& other = program.stages[i];
    bool reads = other.body && tensors_of(other.body).contains(stage.tensor);
    if (other.native)
      reads |= std::count(other.native->reads.begin(), other.native->reads.end(), stage.tensor) > 0;
    if (!reads) continue;
    if (reader || other.native) return e;
    reader = i;
  }
  if (!reader) return e;
  const Stage& next = program.stages[*reader];
  if (next.combine != Combine::kNone || next.scan_axis >= 0 || next.native || next.view != stage.view)
    return e;
  bool same_place = true;
  // A dimension of one may stand there as its variable or as 0: a batch of 1.
  std::map<std::string, Expr> ones;
  for (std::size_t i = 0; i < next.dims.size(); ++i)
    if (next.view[i] == 1 && next.dims[i]->op == Op::kVar) ones[next.dims[i]->name] = integer(0);
  const Expr here = substitute(flat_position(next.view, next.dims), ones);
  visit(next.body, [&](const ExprNode& node) {
    if (node.op == Op::kLoad && node.name == stage.tensor)
      same_place &= same(substitute(flat_position(node.coefs, node.args), ones), here);
  });
  // What it writes must not be what somebody in between reads, nor what it reads elsewhere.
  if (!same_place || tensors_of(next.body).contains(next.tensor)) return e;
  std::map<std::string, Expr> dims;
  for (std::size_t i = 0; i < next.dims.size(); ++i) dims[next.dims[i]->name] = map.dims[i];
  const Expr value = rewrite(next.body, [&](const Expr& node) -> Expr {
    return node->op == Op::kLoad && node->name == stage.tensor ? sum : nullptr;
  });
  e.consumer = reader;
  e.tensor = next.tensor;
  e.value = substitute(value, dims);
  e.in_order = in_order();
  visit(e.value, [&](const ExprNode& node) {
    if (node.op == Op::kLoad && node.name != kSums && std::ranges::find(e.reads, node.name) == e.reads.end())
      e.reads.push_back(node.name);
  });
  return e;
}

Finish finish_with(const Epilogue& given, const Program& program,
                   std::shared_ptr<std::set<std::string>> used) {
  // The same expression over renamed tensors, and what those are.
  auto tensors = std::make_shared<std::map<std::string, TensorInfo>>();
  for (const std::string& name : given.reads)
    (*tensors)[name + "_"] = program.tensor(name), (*tensors)[name + "_"].name = name + "_";
  (*tensors)[given.tensor + "_"] = program.tensor(given.tensor);
  (*tensors)[given.tensor + "_"].name = given.tensor + "_";
  (*tensors)[kSums] = TensorInfo{kSums, DType::kFloat32, {1 << 30}};
  Epilogue e = given;
  e.tensor += "_";
  const std::function<Expr(const Expr&)> renamed = [&](const Expr& node) -> Expr {
    if (node->op != Op::kLoad || node->name == kSums) return nullptr;
    std::vector<Expr> position;
    for (const Expr& p : node->args) position.push_back(rewrite(p, renamed));
    return load(node->name + "_", node->dtype, node->coefs, position);
  };
  e.value = rewrite(given.value, renamed);
  return [e, tensors, used](const FinishSite& site) {
    int counter = 0;
    CppScope scope;
    scope.tensors = tensors.get();
    scope.used = used.get();
    scope.counter = &counter;
    used->insert("vectors/vectors.h");
    const bool vectors = site.lanes > 1 && e.in_order && has_lanes(scope, e.value, "column");
    if (vectors) scope.lane_variable = "column";
    std::string text;
    const CppValue value = cpp_value(scope, e.value);
    for (const std::string& line : value.lines) text += line + "\n";
    text += store_text(scope, tensors->at(e.tensor), e.view, e.position, value, e.value->type,
                       site.stream && vectors) +
            "\n";
    if (mentions(text, "F")) text.insert(0, vectors ? "using F = Vec;\n" : "using F = float;\n");
    if (site.lanes == 1 || vectors) return text;
    // No vector form: element by element.
    return std::string(
        "for (long lane = 0; lane < kLanes; ++lane) finish_element(t, batch, row, column + lane, sum_at);\n");
  };
}

}  // namespace kforge::smith
