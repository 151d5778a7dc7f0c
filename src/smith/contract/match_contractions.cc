#include "smith/contract/match_contractions.h"

#include <fmt/format.h>

#include <algorithm>

#include "smith/contract/epilogue.h"
#include "smith/graph/passes.h"
#include "smith/graph/window.h"

namespace kforge::smith {

namespace {

// Below this a loop nest is as good.
constexpr double kWorthFlops = 5e3;

bool is_load(const Expr& e) {
  return e->op == Op::kLoad &&
         (e->dtype == DType::kFloat32 || e->dtype == DType::kBFloat16 || e->dtype == DType::kFloat16);
}

// The two loads of a product; nothing else may stand around them but a guard (the padding of a convolution).
struct Factors {
  Expr a, b;
  bool guarded = false;
};
std::optional<Factors> factors_of(const Stage& stage) {
  if (stage.combine != Combine::kSum || stage.scan_axis >= 0 || stage.native || !stage.body) return {};
  Expr body = stage.body;
  Factors factors;
  if (body->op == Op::kGuard) {
    factors.guarded = true;
    body = body->args[1];
  }
  if (body->op != Op::kMul || body->type != Type::kFloat || !is_load(body->args[0]) ||
      !is_load(body->args[1]))
    return {};
  factors.a = body->args[0];
  factors.b = body->args[1];
  return factors;
}

struct Place {
  Expr flat;
  // Stride of a variable in the operand; nothing where it does not enter as a plain multiple.
  std::optional<long> stride(const Expr& variable) const {
    bool linear = true;
    const auto step = coefficient(flat, variable->name, &linear);
    if (!linear) return {};
    return static_cast<long>(step);
  }
};

// What is left of an address when every variable is zero.
std::optional<long> constant_part(const Expr& flat, const std::vector<Expr>& variables) {
  std::map<std::string, Expr> zero;
  for (const Expr& v : variables) zero[v->name] = integer(0);
  std::int64_t value = 0;
  if (!is_constant(substitute(flat, zero), &value)) return {};
  return static_cast<long>(value);
}

// Matrix products of any number of dimensions: each dimension of the result belongs to a, to b, or to both
// (batch).
struct MatchedProduct {
  Contraction c;
  IndexMap map;  // dimensions of the stage from batch, row and column
};
std::optional<MatchedProduct> match_product(const Stage& stage, const Factors& factors) {
  Place a{flat_position(factors.a->coefs, factors.a->args)},
      b{flat_position(factors.b->coefs, factors.b->args)};
  std::vector<Expr> all = stage.dims;
  all.insert(all.end(), stage.reduced.begin(), stage.reduced.end());
  for (const Expr& v : all)
    if (v->op != Op::kVar || !a.stride(v) || !b.stride(v)) return {};
  auto a_offset = constant_part(a.flat, all), b_offset = constant_part(b.flat, all);
  if (!a_offset || !b_offset) return {};
  // The last dimension that is longer than one lies along b.
  std::size_t last = stage.dims.size();
  while (last > 0 && stage.view[last - 1] == 1) --last;
  Expr left = factors.a, right = factors.b;
  if (last > 0) {
    const Expr& v = stage.dims[last - 1];
    if (*a.stride(v) != 0 && *b.stride(v) != 0)
      return {};  // a batch dimension innermost: no vectors along it
    if (*a.stride(v) != 0) std::swap(a, b), std::swap(a_offset, b_offset), std::swap(left, right);
  }
  MatchedProduct d;
  Contraction& c = d.c;
  bool trailing = true;  // still in the columns
  std::vector<int> kind(stage.dims.size());
  for (std::size_t i = stage.dims.size(); i-- > 0;) {
    const long as = *a.stride(stage.dims[i]), bs = *b.stride(stage.dims[i]),
               extent = static_cast<long>(stage.view[i]);
    if (trailing && as == 0 && (bs != 0 || extent == 1)) {
      kind[i] = 2;
    } else {
      trailing = false;
      kind[i] = bs == 0 ? 1 : 0;
    }
    const auto front = [&](std::vector<Axis>& axes, long stride) {
      axes.insert(axes.begin(), Axis{extent, stride});
    };
    if (kind[i] == 2) front(c.b.side, bs), c.n *= extent;
    if (kind[i] == 1) front(c.a.side, as), c.m *= extent;
    if (kind[i] == 0) front(c.a.batch, as), front(c.b.batch, bs), c.batch *= extent;
  }
  for (const Expr& v : stage.reduced) {
    const long extent = static_cast<long>(v->integer);
    c.a.depth.push_back({extent, *a.stride(v)});
    c.b.depth.push_back({extent, *b.stride(v)});
    c.k *= extent;
  }
  c.a.offset = *a_offset, c.b.offset = *b_offset;
  c.a.pointer = left->name, c.b.pointer = right->name;
  c.a.dtype = left->dtype, c.b.dtype = right->dtype;
  if (c.flops() < kWorthFlops) return {};
  d.map = index_map(stage.view, kind, c.batch, c.m, c.n);
  return d;
}

struct MatchedConvolution {
  Convolution c;
  IndexMap map;
};
std::optional<MatchedConvolution> match_convolution(const Stage& stage, const Factors& factors) {
  const Node& node = *stage.node;
  const std::string auto_pad = node.string_attr("auto_pad", "NOTSET");
  const bool transposed = node.op == "ConvTranspose";
  if (transposed && (node.has_attr("output_shape") || (auto_pad != "NOTSET" && auto_pad != "VALID")))
    return {};
  const Shape &x = factors.a->coefs, &w = factors.b->coefs;
  const std::size_t rank = stage.dims.size() - 2;
  if (stage.dims.size() < 3 || rank > 3 || x.size() != rank + 2 || w.size() != rank + 2) return {};
  if (factors.a->dtype != DType::kFloat32 || factors.b->dtype != DType::kFloat32) return {};
  // Both must lie as ONNX says: images first, then channels, then space.
  if (!same(factors.a->args[0], stage.dims[0]) || !uses(factors.a->args[1], stage.reduced[0]->name))
    return {};
  for (std::size_t d = 0; d < rank; ++d)
    if (!uses(factors.a->args[d + 2], stage.dims[d + 2]->name) ||
        !same(factors.b->args[d + 2], stage.reduced[d + 1]))
      return {};
  MatchedConvolution result;
  Convolution& c = result.c;
  c.transposed = transposed;
  c.groups = static_cast<long>(node.int_attr("group", 1));
  c.images = static_cast<long>(x[0]);
  c.channels = static_cast<long>(x[1]) / c.groups;
  c.filters = static_cast<long>(transposed ? w[1] : w[0] / c.groups);
  if (static_cast<long>(stage.view[1]) != c.groups * c.filters) return {};
  const Shape kernel(w.begin() + 2, w.end());
  const auto longs = [](const Shape& s) { return std::vector<long>(s.begin(), s.end()); };
  c.input = longs(Shape(x.begin() + 2, x.end()));
  c.output = longs(Shape(stage.view.begin() + 2, stage.view.end()));
  c.kernel = longs(kernel);
  if (transposed) {
    c.strides = longs(spatial_attr(node, "strides", rank, 1));
    c.dilations = longs(spatial_attr(node, "dilations", rank, 1));
    c.begins = longs(spatial_attr(node, "pads", 2 * rank, 0));
    c.begins.resize(rank);
  } else {
    const Window window(node, x, kernel, stage.view);
    c.strides = longs(window.strides), c.dilations = longs(window.dilations), c.begins = longs(window.begins);
  }
  c.x = factors.a->name, c.w = factors.b->name;
  if (c.contraction().flops() < kWorthFlops) return {};
  long pixels = 1;
  for (long extent : c.output) pixels *= extent;
  c = with_long_rows(std::move(c));
  result.map = image_map(stage.view, c.groups, c.filters, c.images * c.groups, pixels);
  return result;
}

// Reading b along k from memory once, with one or two rows: a plain reduction does that as well, without
// packing.
bool is_reduction(const Contraction& c) {
  return c.m <= 2 && !c.b.param && linear_stride(c.b.depth) == 1 && linear_stride(c.b.side) != 1;
}

}  // namespace

MatchedContractions match_contractions(Program program, const std::set<std::string>& fixed) {
  MatchedContractions matched;
  for (std::size_t i = 0; i < program.stages.size(); ++i) {
    const Stage stage = with_reduced_apart(program.stages[i]);
    const auto factors = factors_of(stage);
    if (!factors || program.tensor(stage.tensor).dtype != DType::kFloat32) continue;
    MatchedContraction part;
    part.tensor = stage.tensor;
    part.label = stage.label;
    part.used = std::make_shared<std::set<std::string>>();
    IndexMap map;
    const bool convolves = stage.node && (stage.node->op == "Conv" || stage.node->op == "ConvTranspose");
    if (convolves) {
      auto matched = match_convolution(stage, *factors);
      if (!matched) continue;
      part.convolution = std::move(matched->c);
      part.convolution->w_param = fixed.contains(part.convolution->w);
      map = matched->map;
    } else {
      if (factors->guarded) continue;
      auto matched = match_product(stage, *factors);
      if (!matched) continue;
      part.product = std::move(matched->c);
      part.product->a.param = fixed.contains(part.product->a.pointer);
      part.product->b.param = fixed.contains(part.product->b.pointer);
      if (is_reduction(*part.product)) continue;
      map = matched->map;
    }
    const Epilogue epilogue = find_epilogue(program, i, map);
    // Names inside of the namespace end in an underscore: they cannot meet those of its own variables.
    // In an order that names do not change: layers that are alike then have the same kernel.
    std::vector<std::string> names;
    const auto add = [&](const std::string& name) {
      if (name != epilogue.tensor && std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    add(convolves ? part.convolution->x : part.product->a.pointer);
    add(convolves ? part.convolution->w : part.product->b.pointer);
    for (const std::string& name : epilogue.reads) add(name);
    names.push_back(epilogue.tensor);
    std::vector<Tensor> tensors;
    auto native = std::make_shared<NativeCode>();
    std::string call;
    for (const std::string& name : names) {
      const TensorInfo& info = program.tensor(name);
      const bool written = name == epilogue.tensor;
      tensors.push_back({fmt::format("{}{}*", written ? "" : "const ", c_type_of(info.dtype)), name + "_"});
      (written ? native->writes : native->reads).push_back(name);
      call += (call.empty() ? "{" : ", {") + name + "}";
      part.prepare_arguments.push_back(fixed.contains(name) ? name : "nullptr");
    }
    const std::string space = part.tensor + "_kernel";
    const auto fill = [&](auto& c) {
      c.name = space;
      c.what = fmt::format("{} ({})", epilogue.tensor, stage.label);
      c.tensors = tensors;
      c.finish = finish_with(epilogue, program, part.used);
      c.stream_ok = program.tensor(epilogue.tensor).where == TensorInfo::Where::kOutput && epilogue.in_order;
    };
    if (convolves) {
      part.convolution->x += "_", part.convolution->w += "_";
      fill(*part.convolution);
    } else {
      part.product->a.pointer += "_", part.product->b.pointer += "_";
      fill(*part.product);
    }
    native->lines =
        fmt::format("{}::work({{{}}}, {}, {});", space, call, part.prepared_buffer(), part.scratch_buffer());
    native->parallel = true;
    Stage line;
    line.tensor = epilogue.tensor;
    line.view = program.tensor(epilogue.tensor).shape;
    line.native = native;
    line.label = fmt::format("{}: contraction with its epilogue", stage.label);
    if (epilogue.consumer) {
      program.stages[*epilogue.consumer] = line;
      program.stages.erase(program.stages.begin() + static_cast<std::ptrdiff_t>(i));
      program.tensors.erase(stage.tensor);
      --i;
    } else {
      program.stages[i] = line;
    }
    matched.parts.push_back(std::move(part));
  }
  matched.rest = std::move(program);
  return matched;
}

ContractionSchedule first_schedule(const MatchedContraction& t, const Machine& machine, int threads,
                                   std::string_view precision) {
  ContractionSchedule s = t.product ? first_schedule(*t.product, machine, threads, precision)
                                    : first_schedule(*t.convolution, machine, threads, precision);
  s.threads = threads;  // the program's team calls it whole
  return s;
}

std::vector<ScheduleMove> neighbours(const ContractionSchedule& s, const MatchedContraction& t,
                                     const Machine& machine, std::string_view precision) {
  std::vector<ScheduleMove> moves = t.product ? neighbours(s, *t.product, machine, precision)
                                              : neighbours(s, *t.convolution, machine, precision);
  std::erase_if(moves, [](const ScheduleMove& move) { return move.tag == "parallelize"; });
  return moves;
}

Result<ContractionCode> emit_matched(const MatchedContraction& t, const ContractionSchedule& s) {
  return t.product ? emit_contraction(*t.product, s) : emit_convolution(*t.convolution, s);
}

}  // namespace kforge::smith
