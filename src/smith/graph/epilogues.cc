#include "smith/graph/epilogues.h"

#include <algorithm>

namespace kforge::smith {
namespace {

bool reads(const Stage& stage, const std::string& tensor) {
  if (stage.native) return std::ranges::count(stage.native->reads, tensor) > 0;
  return tensors_of(stage.body).contains(tensor);
}

// `tensor` is read at the place of the element that is computed, and nowhere else.
bool reads_in_place(const Expr& body, const std::string& tensor, const Shape& view,
                    const std::vector<Expr>& dims) {
  // A dimension of one may stand there as its variable or as 0.
  std::map<std::string, Expr> ones;
  for (const Expr& dim : dims)
    if (dim->integer == 1) ones[dim->name] = integer(0);
  const Expr here = substitute(flat_position(view, dims), ones);
  bool in_place = true;
  visit(body, [&](const ExprNode& node) {
    if (node.op == Op::kLoad && node.name == tensor)
      in_place &= node.coefs == view && same(substitute(flat_position(node.coefs, node.args), ones), here);
  });
  return in_place;
}

// The one stage that reads a tensor; nothing where there are more or none.
Stage* only_reader(Program& program, const std::string& tensor, std::size_t writer) {
  Stage* found = nullptr;
  for (std::size_t i = writer + 1; i < program.stages.size(); ++i) {
    if (!reads(program.stages[i], tensor)) continue;
    if (found) return nullptr;
    found = &program.stages[i];
  }
  return found;
}

// Where a load of a loose stage's tensor lies in the stage's own dimensions.
std::vector<Expr> place_in(const Stage& loose, const ExprNode& load) {
  return load.coefs == loose.view ? load.args : unflatten(flat_position(load.coefs, load.args), loose.view);
}
// A reshape between the two can leave places that only divisions give: those are not worth it.
bool has_plain_places(const Stage& reader, const Stage& loose) {
  bool plain = true;
  visit(reader.body, [&](const ExprNode& node) {
    if (node.op != Op::kLoad || node.name != loose.tensor || node.coefs == loose.view) return;
    for (const Expr& at : place_in(loose, node))
      visit(at, [&](const ExprNode& part) { plain &= part.op != Op::kDigit; });
  });
  return plain;
}

bool may_take(const Stage& reader, const Stage& loose) {
  if (reader.native || reader.node || tensors_of(loose.body).contains(reader.tensor)) return false;
  if (reader.combine == Combine::kNone && reader.scan_axis < 0 &&
      reads_in_place(reader.body, loose.tensor, reader.view, reader.dims))
    return true;
  std::int64_t results = 1;
  for (const auto* list : {&reader.dims, &reader.reduced})
    for (const Expr& v : *list) results *= v->integer;
  const std::int64_t repeats = results / element_count(loose.view) - 1;
  return cost_of(loose.body) * static_cast<double>(repeats) <= kWorthStoring &&
         has_plain_places(reader, loose);
}

void take(Stage& reader, const Stage& loose) {
  reader.body = rewrite(reader.body, [&](const Expr& e) -> Expr {
    if (e->op != Op::kLoad || e->name != loose.tensor) return nullptr;
    const std::vector<Expr> position = place_in(loose, *e);
    std::map<std::string, Expr> dims;
    for (std::size_t d = 0; d < loose.dims.size(); ++d) dims[loose.dims[d]->name] = position[d];
    return substitute(loose.body, dims);
  });
}

}  // namespace

bool is_epilogue_of(const Value& value, const std::set<std::string>& sums) {
  const std::vector<Expr> dims = probe_position(value.shape);
  const Expr body = value.at(dims);
  if (body->op == Op::kLoad) return false;
  const auto read = tensors_of(body);
  return std::ranges::any_of(read, [&](const std::string& tensor) {
    return sums.contains(tensor) && reads_in_place(body, tensor, value.shape, dims);
  });
}

void join_loose_stages(Program& program) {
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    const Stage loose = program.stages[i];
    if (!loose.loose || program.tensor(loose.tensor).where != TensorInfo::Where::kTemporary) continue;
    Stage* const reader = only_reader(program, loose.tensor, i);
    if (!reader || !may_take(*reader, loose)) continue;
    take(*reader, loose);
    program.tensors.erase(loose.tensor);
    program.stages.erase(program.stages.begin() + static_cast<std::ptrdiff_t>(i--));
  }
}

}  // namespace kforge::smith
