// Elementwise operators: oneDNN's eltwise and binary primitives or a plain loop, whichever is faster.
#include <array>
#include <cmath>
#include <limits>

#include "baseline/onednn/operators.h"

namespace kforge::onednn {

void emit_pair(Builder& b, loops::Binary op, const Tensor& a, const Tensor& c, const Tensor& y) {
  Tensor left = expanded(a, y.shape), right = expanded(c, y.shape);
  loops::Walk walk = make_walk(y.shape, {&y, &left, &right});
  if (is_narrow(y.dtype) || is_narrow(a.dtype) || is_narrow(c.dtype)) {
    std::array types = {number_of(y.dtype), number_of(a.dtype), number_of(c.dtype)};
    b.step("loop over narrow types", {a, c, y}, [=](const Pointers& p) {
      loops::loops().binary_typed(op, types.data(), walk, p.raw(y), p.raw(left), p.raw(right));
    });
    return;
  }
  b.step("loop", {a, c, y}, [=, type = number_of(y.dtype)](const Pointers& p) {
    loops::loops().binary(op, type, walk, p.raw(y), p.raw(left), p.raw(right));
  });
}

namespace {

using loops::Binary;
using loops::Compare;
using loops::Unary;
using Algorithm = dnnl::algorithm;

// A function of one variable, as the loops and (where it has it) as oneDNN call it.
struct Function {
  Unary loop;
  float a = 0, b = 0;
  Algorithm algorithm = Algorithm::undef;
  float alpha = 0, beta = 0;
};

std::optional<Function> activation_of(const Node& node) {
  auto f = [&](const char* name, float otherwise) { return node.float_attr(name, otherwise); };
  const std::string& op = node.op;
  if (op == "Relu") return Function{Unary::kRelu, 0, 0, Algorithm::eltwise_relu};
  if (op == "LeakyRelu")
    return Function{Unary::kLeakyRelu, f("alpha", 0.01f), 0, Algorithm::eltwise_relu, f("alpha", 0.01f)};
  if (op == "ThresholdedRelu") return Function{Unary::kThresholdedRelu, f("alpha", 1)};
  if (op == "Sigmoid") return Function{Unary::kSigmoid, 0, 0, Algorithm::eltwise_logistic};
  if (op == "Tanh") return Function{Unary::kTanh, 0, 0, Algorithm::eltwise_tanh};
  if (op == "Gelu")
    return node.string_attr("approximate", "none") == "tanh"
               ? Function{Unary::kGeluTanh, 0, 0, Algorithm::eltwise_gelu_tanh}
               : Function{Unary::kGelu, 0, 0, Algorithm::eltwise_gelu_erf};
  if (op == "Mish") return Function{Unary::kMish, 0, 0, Algorithm::eltwise_mish};
  if (op == "Swish")
    return Function{Unary::kSwish, f("alpha", 1), 0, Algorithm::eltwise_swish, f("alpha", 1)};
  if (op == "HardSwish") return Function{Unary::kHardSwish, 0, 0, Algorithm::eltwise_hardswish};
  if (op == "HardSigmoid") return Function{Unary::kHardSigmoid, f("alpha", 0.2f), f("beta", 0.5f)};
  if (op == "Selu") return Function{Unary::kSelu, f("alpha", 1.67326319f), f("gamma", 1.05070102f)};
  if (op == "Elu") return Function{Unary::kElu, f("alpha", 1), 0, Algorithm::eltwise_elu, f("alpha", 1)};
  if (op == "Celu") return Function{Unary::kCelu, f("alpha", 1)};
  if (op == "Softplus") return Function{Unary::kSoftplus, 0, 0, Algorithm::eltwise_soft_relu};
  if (op == "Softsign") return Function{Unary::kSoftsign};
  if (op == "Shrink") return Function{Unary::kShrink, f("lambd", 0.5f), f("bias", 0)};
  return std::nullopt;
}

std::optional<Function> mathematical_of(const std::string& op) {
  static const std::map<std::string, Function> kTable = {
      {"Abs", {Unary::kAbs, 0, 0, Algorithm::eltwise_abs}},
      {"Exp", {Unary::kExp, 0, 0, Algorithm::eltwise_exp}},
      {"Log", {Unary::kLog, 0, 0, Algorithm::eltwise_log}},
      {"Sqrt", {Unary::kSqrt, 0, 0, Algorithm::eltwise_sqrt}},
      {"Neg", {Unary::kNeg}},
      {"Reciprocal", {Unary::kReciprocal}},
      {"Erf", {Unary::kErf}},
      {"Floor", {Unary::kFloor}},
      {"Ceil", {Unary::kCeil}},
      {"Round", {Unary::kRound}},
      {"Sign", {Unary::kSign}},
      {"Sin", {Unary::kSin}},
      {"Cos", {Unary::kCos}},
      {"Tan", {Unary::kTan}},
      {"Asin", {Unary::kAsin}},
      {"Acos", {Unary::kAcos}},
      {"Atan", {Unary::kAtan}},
      {"Sinh", {Unary::kSinh}},
      {"Cosh", {Unary::kCosh}},
      {"Asinh", {Unary::kAsinh}},
      {"Acosh", {Unary::kAcosh}},
      {"Atanh", {Unary::kAtanh}},
  };
  auto found = kTable.find(op);
  return found == kTable.end() ? std::nullopt : std::optional(found->second);
}

dnnl::eltwise_forward::primitive_desc eltwise_of(const Function& f, const dnnl::memory::desc& layout) {
  return {{dnnl::prop_kind::forward_inference, f.algorithm, layout, f.alpha, f.beta}, engine()};
}

// Code that is there to be compared with, not to be fast.
bool is_reference(const dnnl::primitive_desc_base& pd) {
  return std::string(pd.impl_info_str()).starts_with("ref");
}

// Which of the two is faster is asked once per function and size class.
bool loop_is_faster(const Function& f, std::int64_t count) {
  constexpr std::int64_t kProbe = 1 << 19;
  if (f.algorithm == Algorithm::undef || count < 4096) return true;
  static std::map<std::tuple<int, float, std::int64_t>, bool> known;
  std::int64_t size = std::min(count, kProbe);
  auto [entry, fresh] = known.try_emplace({static_cast<int>(f.loop), f.a, size});
  if (!fresh) return entry->second;
  dnnl::memory::desc layout = describe_dense({size});
  double library = probe_primitive(dnnl::eltwise_forward(eltwise_of(f, layout)),
                                   {{DNNL_ARG_SRC, layout}, {DNNL_ARG_DST, layout}});
  auto* x = reinterpret_cast<float*>(probe_memory(0, layout.get_size()));
  auto* y = reinterpret_cast<float*>(probe_memory(1, layout.get_size()));
  double loop = probe([&] { loops::loops().unary(f.loop, f.a, f.b, x, y, size); });
  return entry->second = loop < library;
}

void emit_function(Builder& b, const Node& node, const Function& f) {
  Tensor given = b.raw_input(node, 0);
  if (!is_float(given.dtype))
    throw Unsupported(std::string(name_of(given.dtype)) + " input is not implemented");
  if (given.blocked && f.algorithm != Algorithm::undef && !is_reference(eltwise_of(f, *given.blocked))) {
    auto pd = eltwise_of(f, *given.blocked);
    Tensor y = b.temporary(*given.blocked, given.shape);
    b.primitive(pd.impl_info_str(), dnnl::eltwise_forward(pd),
                {{DNNL_ARG_SRC, *given.blocked, given}, {DNNL_ARG_DST, *given.blocked, y}});
    return b.set_output(node, 0, y);
  }
  Tensor x = b.dense(given);
  bool narrow = is_narrow(x.dtype) || b.ends_narrow(node, 0);
  Tensor y = narrow ? b.typed_output(node, 0) : b.output_over(node, 0, x);
  if (narrow) {
    loops::Number from = number_of(x.dtype), to = number_of(y.dtype);
    b.step("loop over narrow types", {x, y}, [=, n = x.count()](const Pointers& p) {
      loops::loops().unary_typed(f.loop, f.a, f.b, from, p.raw(x), to, p.raw(y), n);
    });
  } else if (loop_is_faster(f, x.count())) {
    b.step("loop", {x, y}, [=, n = x.count()](const Pointers& p) {
      loops::loops().unary(f.loop, f.a, f.b, p.get<float>(x), p.get<float>(y), n);
    });
  } else {
    dnnl::memory::desc layout = describe_dense({x.count()});
    auto pd = eltwise_of(f, layout);
    b.primitive(pd.impl_info_str(), dnnl::eltwise_forward(pd),
                {{DNNL_ARG_SRC, layout, x}, {DNNL_ARG_DST, layout, y}});
  }
}

void emit_unary(Builder& b, const Node& node) {
  if (auto f = activation_of(node)) return emit_function(b, node, *f);
  if (auto f = mathematical_of(node.op)) return emit_function(b, node, *f);
  throw Unsupported("unknown function");
}

// One element per channel in the blocks of another layout, where they come out even: the same memory.
std::optional<dnnl::memory::desc> in_blocks_of(const dnnl::memory::desc& blocked, const Shape& shape) {
  const auto& blocking = blocked.data.format_desc.blocking;
  using Tag = dnnl::memory::format_tag;
  static const std::map<std::pair<std::size_t, int>, Tag> kTags = {
      {{3, 8}, Tag::aBc8b},   {{4, 8}, Tag::aBcd8b},   {{5, 8}, Tag::aBcde8b},
      {{3, 16}, Tag::aBc16b}, {{4, 16}, Tag::aBcd16b}, {{5, 16}, Tag::aBcde16b}};
  if (blocking.inner_nblks != 1 || blocking.inner_idxs[0] != 1) return std::nullopt;
  auto tag = kTags.find({shape.size(), static_cast<int>(blocking.inner_blks[0])});
  if (tag == kTags.end() || shape[1] % tag->first.second != 0) return std::nullopt;
  return dnnl::memory::desc({shape.begin(), shape.end()}, dnnl::memory::data_type::f32, tag->second);
}

// y = a (op) b where a lies in a blocked layout and b has at most one element per channel. Not by reference
// code, which takes ten times as long as the convolution before it.
bool emit_blocked_binary(Builder& b, const Node& node, Algorithm algorithm) {
  Tensor x = b.raw_input(node, 0), given = b.raw_input(node, 1);
  if (!x.blocked || given.blocked || !is_channel_operand(given.shape, x.shape)) return false;
  Tensor other = b.dense(given);
  Shape padded(x.shape.size() - other.shape.size(), 1);
  padded.insert(padded.end(), other.shape.begin(), other.shape.end());
  dnnl::memory::desc other_layout = describe_dense(padded);
  if (auto blocks = in_blocks_of(*x.blocked, padded)) other_layout = *blocks;
  dnnl::binary::primitive_desc pd({algorithm, *x.blocked, other_layout, *x.blocked}, engine());
  if (is_reference(pd)) return false;
  Tensor y = b.temporary(*x.blocked, x.shape);
  b.primitive(pd.impl_info_str(), dnnl::binary(pd),
              {{DNNL_ARG_SRC_0, *x.blocked, x},
               {DNNL_ARG_SRC_1, other_layout, other},
               {DNNL_ARG_DST, *x.blocked, y}});
  b.set_output(node, 0, y);
  return true;
}

// An elementwise result may take the place of an operand of the same shape that nobody needs any more.
Tensor result_over(Builder& b, const Node& node, const Tensor& a, const Tensor& c) {
  Shape shape = b.shape_of(node.outputs[0]);
  if (a.buffer == c.buffer && (a.strides != c.strides || a.offset != c.offset)) return b.output(node, 0);
  return b.output_over(node, 0, a.shape == shape || c.shape != shape ? a : c);
}

void emit_binary(Builder& b, const Node& node) {
  static const std::map<std::string, std::pair<Binary, Algorithm>> kTable = {
      {"Add", {Binary::kAdd, Algorithm::binary_add}}, {"Sub", {Binary::kSub, Algorithm::binary_sub}},
      {"Mul", {Binary::kMul, Algorithm::binary_mul}}, {"Div", {Binary::kDiv, Algorithm::binary_div}},
      {"PRelu", {Binary::kPRelu, Algorithm::undef}},  {"Mod", {Binary::kMod, Algorithm::undef}}};
  auto [op, algorithm] = kTable.at(node.op);
  if (node.op == "Mod" && (node.int_attr("fmod", 0) || is_float(b.raw_input(node, 0).dtype)))
    op = Binary::kFmod;
  if (algorithm != Algorithm::undef && emit_blocked_binary(b, node, algorithm)) return;
  Tensor left = b.plain(b.raw_input(node, 0)), right = b.plain(b.raw_input(node, 1));
  bool narrow = is_narrow(left.dtype) || is_narrow(right.dtype) || b.ends_narrow(node, 0);
  if (narrow) left = b.dense(left), right = b.dense(right);
  emit_pair(b, op, left, right, narrow ? b.typed_output(node, 0) : result_over(b, node, left, right));
}

void emit_pow(Builder& b, const Node& node) {
  const ConstantTensor* power = b.constant_input(node, 1);
  if (power && element_count(power->shape) == 1 && is_float(b.raw_input(node, 0).dtype)) {
    float p = static_cast<float>(power->as_double()[0]);
    if (p == 2.0f) return emit_function(b, node, {Unary::kSquare, 0, 0, Algorithm::eltwise_square});
    if (p == 3.0f) return emit_function(b, node, {Unary::kCube});
    if (p == 0.5f) return emit_function(b, node, {Unary::kSqrt, 0, 0, Algorithm::eltwise_sqrt});
    if (p == -1.0f) return emit_function(b, node, {Unary::kReciprocal});
    return emit_function(b, node, {Unary::kPow, p});
  }
  Tensor left = b.plain_input(node, 0), right = b.plain_input(node, 1);
  if (left.dtype != DType::kFloat32) throw Unsupported("whole-number powers are not implemented");
  if (right.dtype != DType::kFloat32) {
    Tensor whole = b.dense(right);
    right = b.temporary(DType::kFloat32, whole.shape);
    b.convert("convert", whole, right);
  }
  emit_pair(b, Binary::kPow, left, right, result_over(b, node, left, right));
}

// Sum, Mean, Max, Min of any number of operands.
void emit_variadic(Builder& b, const Node& node) {
  Binary op = node.op == "Max" ? Binary::kMax : node.op == "Min" ? Binary::kMin : Binary::kAdd;
  Tensor first = b.plain_input(node, 0);
  Tensor y = b.output(node, 0);
  if (node.inputs.size() == 1) return b.copy(expanded(first, y.shape), y);
  emit_pair(b, op, first, b.plain_input(node, 1), y);
  for (std::size_t i = 2; i < node.inputs.size(); ++i) emit_pair(b, op, y, b.plain_input(node, i), y);
  if (node.op != "Mean") return;
  float scale = 1.0f / static_cast<float>(node.inputs.size());
  b.step("loop", {y}, [=, n = y.count()](const Pointers& p) {
    loops::loops().unary(Unary::kLinear, scale, 0, p.get<float>(y), p.get<float>(y), n);
  });
}

void emit_clip(Builder& b, const Node& node) {
  auto known = [&](std::size_t i) { return !b.has_input(node, i) || b.constant_input(node, i); };
  const Tensor& x = b.raw_input(node, 0);
  if (known(1) && known(2) && is_float(x.dtype)) {
    float low = static_cast<float>(b.constant_scalar(node, 1, -std::numeric_limits<float>::infinity()));
    float high = static_cast<float>(b.constant_scalar(node, 2, std::numeric_limits<float>::infinity()));
    bool finite = std::isfinite(low) && std::isfinite(high) && low <= high;
    return emit_function(
        b, node, {Unary::kClip, low, high, finite ? Algorithm::eltwise_clip : Algorithm::undef, low, high});
  }
  Tensor from = b.plain_input(node, 0);
  Tensor y = b.output(node, 0);
  bool low = b.has_input(node, 1), high = b.has_input(node, 2);
  if (!low && !high) return b.copy(from, y);
  if (low) emit_pair(b, Binary::kMax, from, b.plain_input(node, 1), y);
  if (high) emit_pair(b, Binary::kMin, low ? y : from, b.plain_input(node, 2), y);
}

void emit_comparison(Builder& b, Compare op, const Tensor& a, const Tensor& c, const Tensor& y) {
  Tensor left = expanded(a, y.shape), right = expanded(c, y.shape);
  loops::Walk walk = make_walk(y.shape, {&y, &left, &right});
  b.step("loop", {a, c, y}, [=, type = number_of(a.dtype)](const Pointers& p) {
    loops::loops().compare(op, type, walk, p.get<unsigned char>(y), p.raw(left), p.raw(right));
  });
}

void emit_compare(Builder& b, const Node& node) {
  static const std::map<std::string, Compare> kTable = {{"Equal", Compare::kEqual},
                                                        {"Less", Compare::kLess},
                                                        {"LessOrEqual", Compare::kLessOrEqual},
                                                        {"Greater", Compare::kGreater},
                                                        {"GreaterOrEqual", Compare::kGreaterOrEqual},
                                                        {"And", Compare::kAnd},
                                                        {"Or", Compare::kOr},
                                                        {"Xor", Compare::kXor}};
  Tensor left = b.plain_input(node, 0), right = b.plain_input(node, 1);
  emit_comparison(b, kTable.at(node.op), left, right, b.output(node, 0));
}

void emit_not(Builder& b, const Node& node) {
  Tensor x = b.plain_input(node, 0);
  Tensor zero = b.prepared(describe_dense({1}), {});  // memory that is never written stays zero
  zero.dtype = DType::kBool;
  Tensor y = b.output(node, 0);
  emit_comparison(b, Compare::kEqual, x, zero, y);
}

void emit_where(Builder& b, const Node& node) {
  Tensor c = b.plain_input(node, 0);
  bool same = b.raw_input(node, 1).dtype == b.raw_input(node, 2).dtype;
  Tensor x = same ? b.plain(b.raw_input(node, 1)) : b.plain_input(node, 1);
  Tensor z = same ? b.plain(b.raw_input(node, 2)) : b.plain_input(node, 2);
  Tensor y = b.output_as(node, 0, x.dtype);
  Tensor cc = expanded(c, y.shape), xx = expanded(x, y.shape), zz = expanded(z, y.shape);
  loops::Walk walk = make_walk(y.shape, {&y, &cc, &xx, &zz});
  b.step("loop", {c, x, z, y}, [=, bytes = static_cast<int>(size_of(y.dtype))](const Pointers& p) {
    loops::loops().select(bytes, walk, p.raw(y), p.get<unsigned char>(cc), p.raw(xx), p.raw(zz));
  });
}

void emit_cast(Builder& b, const Node& node) {
  Tensor given = b.input(node, 0);
  DType to = b.held_dtype_of(node.outputs[0]);
  if (given.dtype == to)
    return b.set_output(node, 0, given);  // among the float types too: all are held as float32
  Tensor x = b.dense(given);
  Tensor y = b.output(node, 0);
  if (to == DType::kBool) return emit_comparison(b, Compare::kOr, x, x, y);
  b.convert("convert", x, y);
}

// (x - zero) * scale, one scale for all or one per index of the axis.
void emit_dequantize(Builder& b, const Node& node) {
  Tensor x = b.dense_input(node, 0), scale = b.dense_input(node, 1);
  auto along_axis = [&](Tensor t) {
    if (t.shape.empty()) return t;
    if (t.shape.size() != 1) throw Unsupported("blocked scales are not implemented");
    Shape shape(x.shape.size(), 1);
    shape[static_cast<std::size_t>(normal_axis(node.int_attr("axis", 1), x.shape.size()))] = t.shape[0];
    return *reshaped(t, shape);
  };
  auto as_float = [&](const Tensor& whole) {
    Tensor made = b.temporary(DType::kFloat32, whole.shape);
    b.convert("convert", whole, made);
    return made;
  };
  Tensor values = as_float(x);
  if (b.has_input(node, 2))
    emit_pair(b, Binary::kSub, values, along_axis(as_float(b.dense_input(node, 2))), values);
  emit_pair(b, Binary::kMul, values, along_axis(scale), b.output(node, 0));
}

}  // namespace

const OperatorTable& elementwise_operators() {
  static const OperatorTable kTable = [] {
    OperatorTable table;
    for (const char* op : {"Relu",        "LeakyRelu", "ThresholdedRelu",
                           "Sigmoid",     "Tanh",      "Gelu",
                           "Mish",        "Swish",     "HardSwish",
                           "HardSigmoid", "Selu",      "Elu",
                           "Celu",        "Softplus",  "Softsign",
                           "Shrink",      "Abs",       "Exp",
                           "Log",         "Sqrt",      "Neg",
                           "Reciprocal",  "Erf",       "Floor",
                           "Ceil",        "Round",     "Sign",
                           "Sin",         "Cos",       "Tan",
                           "Asin",        "Acos",      "Atan",
                           "Sinh",        "Cosh",      "Asinh",
                           "Acosh",       "Atanh"})
      table[op] = emit_unary;
    for (const char* op : {"Add", "Sub", "Mul", "Div", "PRelu", "Mod"}) table[op] = emit_binary;
    for (const char* op : {"Sum", "Mean", "Max", "Min"}) table[op] = emit_variadic;
    for (const char* op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor"})
      table[op] = emit_compare;
    table["Pow"] = emit_pow;
    table["Clip"] = emit_clip;
    table["Not"] = emit_not;
    table["Where"] = emit_where;
    table["Cast"] = emit_cast;
    table["DequantizeLinear"] = emit_dequantize;
    return table;
  }();
  return kTable;
}

}  // namespace kforge::onednn
