#include "smith/loops/loops.h"

#include <fmt/format.h>

namespace kforge::smith {
namespace {

using Kind = StmtNode::Kind;

Stmt make(StmtNode node) { return std::make_shared<const StmtNode>(std::move(node)); }

Stmt statement(Kind kind, const std::string& tensor, const Shape& view, std::vector<Expr> position,
               Expr value, Combine combine) {
  StmtNode node{.kind = kind};
  node.tensor = tensor;
  node.view = view;
  node.position = std::move(position);
  node.value = std::move(value);
  node.combine = combine;
  return make(std::move(node));
}

Stmt wrapped(const std::vector<Expr>& variables, Stmt body) {
  for (std::size_t i = variables.size(); i-- > 0;)
    body = loop(variables[i]->name, variables[i]->integer, body);
  return body;
}

// A running combination: a state per column, taken along the axis.
Stmt scan_nest(const Stage& stage, const TensorInfo& info, Nest& nest) {
  const auto axis = static_cast<std::size_t>(stage.scan_axis);
  const Expr k = stage.dims[axis];
  const Expr at = stage.reverse ? plus(times(k, -1), k->integer - 1) : k;
  std::vector<Expr> position = stage.dims, outer;
  position[axis] = at;
  Shape outer_shape;
  for (std::size_t d = 0; d < stage.dims.size(); ++d)
    if (d != axis) {
      outer.push_back(stage.dims[d]);
      outer_shape.push_back(stage.view[d]);
    }
  const std::string state = stage.tensor + "_state";
  nest.tensors[state] = {
      state,
      info.dtype == DType::kFloat16 || info.dtype == DType::kBFloat16 ? DType::kFloat32 : info.dtype,
      outer_shape,
      TensorInfo::Where::kTemporary,
      {},
      nullptr};
  const DType dtype = nest.tensors[state].dtype;
  const Expr body = substitute(stage.body, {{k->name, at}});
  const Stmt update = statement(Kind::kUpdate, state, outer_shape, outer, body, stage.combine);
  const Stmt store = statement(Kind::kStore, stage.tensor, stage.view, position,
                               load(state, dtype, outer_shape, outer), Combine::kNone);
  const Stmt init = statement(Kind::kStore, state, outer_shape, outer, identity_of(stage.combine, body->type),
                              Combine::kNone);
  Stmt steps = loop(k->name, k->integer,
                    block(stage.exclusive ? std::vector{store, update} : std::vector{update, store}));
  steps = edited(steps, [](StmtNode& n) { n.scan = true; });
  return wrapped(outer, block({init, steps}));
}

Stmt stage_nest(const Stage& stage, Nest& nest) {
  if (stage.native) {
    StmtNode node{.kind = Kind::kNative};
    node.native = stage.native;
    node.note = stage.label;
    return make(std::move(node));
  }
  const TensorInfo& info = nest.tensors.at(stage.tensor);
  if (stage.scan_axis >= 0) return scan_nest(stage, info, nest);
  if (stage.combine == Combine::kNone)
    return wrapped(stage.dims,
                   statement(Kind::kStore, stage.tensor, stage.view, stage.dims, stage.body, Combine::kNone));
  const Stmt init = statement(Kind::kStore, stage.tensor, stage.view, stage.dims,
                              identity_of(stage.combine, stage.body->type), Combine::kNone);
  const Stmt update =
      statement(Kind::kUpdate, stage.tensor, stage.view, stage.dims, stage.body, stage.combine);
  return wrapped(stage.dims, block({init, wrapped(stage.reduced, update)}));
}

void print_into(const Stmt& s, int depth, std::string& text) {
  const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
  auto place = [&] {
    std::string at = s->tensor + "[";
    for (std::size_t i = 0; i < s->position.size(); ++i) at += (i ? ", " : "") + print(s->position[i]);
    return at + "]";
  };
  switch (s->kind) {
    case Kind::kBlock:
      for (const Stmt& child : s->body) print_into(child, depth, text);
      break;
    case Kind::kFor: {
      text += indent + (s->run == Run::kSerial ? "for " : fmt::format("{} ", name_of(s->run))) + s->name;
      text += fmt::format(" in 0..{}", s->extent);
      if (s->limit) text += fmt::format(" while < {}", print(s->limit));
      if (s->unroll > 1) text += fmt::format(" by {} vectors", s->unroll);
      if (s->backwards) text += " backwards";
      if (s->scan) text += " running";
      text += ":\n";
      for (const std::string& local : s->locals) text += indent + "  local " + local + "\n";
      print_into(s->body[0], depth + 1, text);
      break;
    }
    case Kind::kStore:
      text += indent + place() + (s->stream ? " <- stream " : " = ") + print(s->value) + "\n";
      break;
    case Kind::kUpdate:
      text += indent + place() + fmt::format(" {}= ", name_of(s->combine)) + print(s->value) + "\n";
      break;
    case Kind::kNative:
      text += indent + "native: " + s->note + "\n";
      break;
  }
}

}  // namespace

std::string_view name_of(Run run) {
  static constexpr std::string_view kNames[] = {"serial", "parallel", "vector", "unrolled"};
  return kNames[static_cast<std::size_t>(run)];
}

Expr StmtNode::var() const { return variable(name, extent); }

Stmt block(std::vector<Stmt> body) {
  std::vector<Stmt> flat;
  for (Stmt& s : body) {
    if (s->kind == Kind::kBlock)
      flat.insert(flat.end(), s->body.begin(), s->body.end());
    else
      flat.push_back(std::move(s));
  }
  if (flat.size() == 1) return flat[0];
  StmtNode node;
  node.body = std::move(flat);
  return make(std::move(node));
}

Stmt loop(std::string name, std::int64_t extent, Stmt body) {
  StmtNode node{.kind = Kind::kFor};
  node.name = std::move(name);
  node.extent = extent;
  node.body = {std::move(body)};
  return make(std::move(node));
}

Stmt with_body(const Stmt& s, std::vector<Stmt> body) {
  if (s->kind == Kind::kBlock) return block(std::move(body));
  StmtNode node = *s;
  node.body = std::move(body);
  return make(std::move(node));
}

Stmt edited(const Stmt& s, const std::function<void(StmtNode&)>& edit) {
  StmtNode node = *s;
  edit(node);
  return make(std::move(node));
}

Nest build_nest(const Program& program) {
  Nest nest{program.tensors, nullptr};
  std::vector<Stmt> nests;
  for (const Stage& stage : program.stages) nests.push_back(stage_nest(stage, nest));
  StmtNode root;
  for (const Stmt& s : nests) {
    if (s->kind == Kind::kBlock)
      root.body.insert(root.body.end(), s->body.begin(), s->body.end());
    else
      root.body.push_back(s);
  }
  nest.root = make(std::move(root));
  return nest;
}

void visit(const Stmt& s, const std::function<void(const StmtNode&)>& fn) {
  fn(*s);
  for (const Stmt& child : s->body) visit(child, fn);
}

Stmt rewrite(const Stmt& s, const std::function<Stmt(const Stmt&)>& fn) {
  if (Stmt replaced = fn(s)) return replaced;
  if (s->body.empty()) return s;
  std::vector<Stmt> body;
  bool changed = false;
  for (const Stmt& child : s->body) {
    body.push_back(rewrite(child, fn));
    changed |= body.back() != child;
  }
  return changed ? with_body(s, std::move(body)) : s;
}

Stmt map_expressions(const Stmt& s, const std::function<Expr(const Expr&)>& fn) {
  StmtNode node = *s;
  for (Stmt& child : node.body) child = map_expressions(child, fn);
  for (Expr& e : node.position) e = fn(e);
  if (node.value) node.value = fn(node.value);
  if (node.limit) node.limit = fn(node.limit);
  return make(std::move(node));
}

Stmt find_loop(const Stmt& s, std::string_view name) {
  if (s->kind == Kind::kFor && s->name == name) return s;
  for (const Stmt& child : s->body)
    if (Stmt found = find_loop(child, name)) return found;
  return nullptr;
}

std::vector<std::string> loop_names(const Stmt& s) {
  std::vector<std::string> names;
  visit(s, [&](const StmtNode& node) {
    if (node.kind == Kind::kFor) names.push_back(node.name);
  });
  return names;
}

std::set<std::string> reads_of(const Stmt& s) {
  std::set<std::string> found;
  visit(s, [&](const StmtNode& node) {
    for (const Expr& e : node.position) found.merge(tensors_of(e));
    if (node.value) found.merge(tensors_of(node.value));
    if (node.kind == Kind::kUpdate) found.insert(node.tensor);
    if (node.native) found.insert(node.native->reads.begin(), node.native->reads.end());
  });
  return found;
}
std::set<std::string> writes_of(const Stmt& s) {
  std::set<std::string> found;
  visit(s, [&](const StmtNode& node) {
    if (node.kind == Kind::kStore || node.kind == Kind::kUpdate) found.insert(node.tensor);
    if (node.native) found.insert(node.native->writes.begin(), node.native->writes.end());
  });
  return found;
}

std::string print(const Nest& nest) {
  std::string text;
  for (const auto& [name, tensor] : nest.tensors)
    if (tensor.where == TensorInfo::Where::kTemporary)
      text += fmt::format("temporary {} {}{}\n", name, name_of(tensor.dtype), to_string(tensor.shape));
  for (const Stmt& s : nest.root->body) print_into(s, 0, text);
  return text;
}

}  // namespace kforge::smith
