// Matrix products: oneDNN's matmul and inner product, or a loop that reads the weights once when there are
// few rows.
#include <algorithm>

#include "baseline/onednn/operators.h"

namespace kforge::onednn {
namespace {

using Desc = dnnl::memory::desc;

Tensor matrix_view(Builder& b, const Tensor& x, const Shape& shape) {
  if (auto view = reshaped(x, shape)) return *view;
  return *reshaped(b.dense(x), shape);
}

// oneDNN wants the last two dimensions in one order or the other.
bool is_matrix_layout(const Tensor& t) {
  std::size_t r = t.shape.size();
  auto fits = [&](std::size_t inner, std::size_t outer) {
    return (t.strides[inner] == 1 || t.shape[inner] == 1) &&
           (t.strides[outer] >= t.shape[inner] || t.shape[outer] == 1);
  };
  for (std::size_t d = 0; d + 2 < r; ++d)
    if (t.strides[d] == 0 && t.shape[d] > 1) return false;
  return fits(r - 1, r - 2) || fits(r - 2, r - 1);
}

// Strides of dimensions of size one say nothing, but oneDNN takes them at their word.
Desc describe_matrix(const Tensor& t) {
  Tensor clean = t;
  std::size_t r = t.shape.size(), row = r - 2, column = r - 1;
  for (std::size_t d = 0; d < row; ++d)
    if (t.shape[d] == 1) clean.strides[d] = dense_strides(t.shape)[d];
  if (t.shape[column] == 1) clean.strides[column] = 1;
  if (t.shape[row] == 1) clean.strides[row] = clean.strides[column] == 1 ? t.shape[column] : 1;
  return describe(clean);
}

struct Product {
  Tensor x, w, y;      // [.., M, K] x [.., K, N] -> [.., M, N], equal ranks, batches equal or 1
  const Tensor* bias;  // [N] or null
};

void add_matmul(Builder& b, const Product& p, bool packed, std::vector<Way>& ways) {
  Desc x = describe_matrix(p.x), y = describe_matrix(p.y);
  Desc w = packed ? Desc(p.w.shape, kF32, kAny) : describe_matrix(p.w);
  Shape bias_shape(p.y.shape.size(), 1);
  bias_shape.back() = p.y.shape.back();
  Desc bias = describe_dense(bias_shape);
  auto desc = p.bias ? dnnl::matmul::desc(x, w, bias, y) : dnnl::matmul::desc(x, w, y);
  dnnl::matmul::primitive_desc pd(desc, engine());
  if (packed && pd.weights_desc() == describe_matrix(p.w)) return;  // nothing is gained by packing
  dnnl::matmul primitive(pd);
  std::vector<std::pair<int, Desc>> layouts = {
      {DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DST, y}};
  if (p.bias) layouts.push_back({DNNL_ARG_BIAS, bias});
  ways.push_back({[=] { return probe_primitive(primitive, layouts); },
                  [=, &b] {
                    Tensor weights = packed ? b.in_layout(p.w, pd.weights_desc()) : p.w;
                    std::vector<Operand> operands = {{DNNL_ARG_SRC, x, p.x},
                                                     {DNNL_ARG_WEIGHTS, pd.weights_desc(), weights},
                                                     {DNNL_ARG_DST, y, p.y}};
                    if (p.bias) operands.push_back({DNNL_ARG_BIAS, bias, *p.bias});
                    b.primitive(std::string("matmul ") + pd.impl_info_str(), primitive, operands);
                  }});
}

// The same product as a fully connected layer, whose weights are [N, K] in a layout of its choice.
void add_inner_product(Builder& b, const Product& p, std::vector<Way>& ways) {
  Tensor transposed = permuted(p.w, {1, 0});
  Desc x = describe_matrix(p.x), y = describe_matrix(p.y), bias = describe_dense({p.y.shape[1]});
  if (!p.x.dense() || !p.y.dense()) return;
  Desc any(transposed.shape, kF32, kAny);
  auto desc = p.bias ? dnnl::inner_product_forward::desc(kForward, x, any, bias, y)
                     : dnnl::inner_product_forward::desc(kForward, x, any, y);
  dnnl::inner_product_forward::primitive_desc pd(desc, engine());
  dnnl::inner_product_forward primitive(pd);
  std::vector<std::pair<int, Desc>> layouts = {
      {DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DST, y}};
  if (p.bias) layouts.push_back({DNNL_ARG_BIAS, bias});
  ways.push_back({[=] { return probe_primitive(primitive, layouts); },
                  [=, &b] {
                    Tensor weights = b.in_layout(transposed, pd.weights_desc());
                    std::vector<Operand> operands = {{DNNL_ARG_SRC, x, p.x},
                                                     {DNNL_ARG_WEIGHTS, pd.weights_desc(), weights},
                                                     {DNNL_ARG_DST, y, p.y}};
                    if (p.bias) operands.push_back({DNNL_ARG_BIAS, bias, *p.bias});
                    b.primitive(std::string("inner product ") + pd.impl_info_str(), primitive, operands);
                  }});
}

// Few rows against a matrix: the matrix in the type it is stored in where that is narrower.
struct Skinny {
  Tensor vectors, matrix;
  std::int64_t m, n, k;
  bool transposed;  // the matrix is [n, k]
};

void add_skinny(Builder& b, const Skinny& s, const Tensor* bias, const Tensor& y, std::vector<Way>& ways) {
  Tensor matrix = s.matrix;
  const Tensor* stored = b.stored_form(matrix);
  if (stored && stored->count() == matrix.count() && matrix.offset == 0) {
    Tensor narrow = *stored;
    narrow.shape = matrix.shape;
    narrow.strides = matrix.strides;
    matrix = narrow;
  }
  loops::Number type = number_of(matrix.dtype);
  auto run = s.transposed ? loops::loops().matvec : loops::loops().vecmat;
  auto elements = [](std::size_t index, std::int64_t count) {
    return reinterpret_cast<float*>(probe_memory(index, static_cast<std::size_t>(count) * sizeof(float)));
  };
  std::vector<Tensor> touches = {s.vectors, matrix, y};
  if (bias) touches.push_back(*bias);
  std::optional<Tensor> bias_tensor = bias ? std::optional(*bias) : std::nullopt;
  ways.push_back({[=] {
                    float *x = elements(0, s.m * s.k), *w = elements(1, s.n * s.k),
                          *out = elements(2, s.m * s.n);
                    return probe([&] { run(type, x, w, nullptr, out, s.m, s.n, s.k); });
                  },
                  [=, &b] {
                    b.step("loop over the weights", touches, [=](const Pointers& p) {
                      run(type, p.get<float>(s.vectors), p.raw(matrix),
                          bias_tensor ? p.get<float>(*bias_tensor) : nullptr, p.get<float>(y), s.m, s.n, s.k);
                    });
                  }});
}

void add_skinny_ways(Builder& b, const Product& p, std::vector<Way>& ways) {
  std::int64_t m = p.y.shape[0], n = p.y.shape[1], k = p.x.shape[1];
  constexpr std::int64_t kFew = 16;
  if (!p.y.dense()) return;
  Tensor transposed = permuted(p.w, {1, 0});
  if (m <= kFew && p.x.dense()) {
    if (p.w.dense())
      add_skinny(b, {p.x, p.w, m, n, k, false}, p.bias, p.y, ways);
    else if (transposed.dense())
      add_skinny(b, {p.x, transposed, m, n, k, true}, p.bias, p.y, ways);
  } else if (n == 1 && !p.bias) {  // y^T = w^T x^T
    Tensor x_transposed = permuted(p.x, {1, 0});
    Tensor vector = b.dense(transposed);
    if (p.x.dense())
      add_skinny(b, {vector, p.x, 1, m, k, true}, nullptr, p.y, ways);
    else if (x_transposed.dense())
      add_skinny(b, {vector, x_transposed, 1, m, k, false}, nullptr, p.y, ways);
  }
}

void emit(Builder& b, Product p) {
  if (!is_matrix_layout(p.x)) p.x = b.dense(p.x);
  if (!is_matrix_layout(p.w)) p.w = b.dense(p.w);
  std::vector<Way> ways;
  bool matrix = p.y.shape.size() == 2;
  if (matrix) add_skinny_ways(b, p, ways);
  add_matmul(b, p, false, ways);
  if (matrix && b.fixed(p.w)) {
    add_matmul(b, p, true, ways);
    add_inner_product(b, p, ways);
  }
  emit_fastest(ways);
}

Tensor with_rank(Tensor t, std::size_t rank) {
  while (t.shape.size() < rank) {
    t.strides.insert(t.strides.begin(), t.shape.empty() ? 1 : t.strides[0] * t.shape[0]);
    t.shape.insert(t.shape.begin(), 1);
  }
  return t;
}

// Batch dimensions joined to one where all operands allow it.
Product join_batch(Builder& b, Product p) {
  std::size_t rank = p.y.shape.size();
  Shape batch(p.y.shape.begin(), p.y.shape.end() - 2);
  auto joined = [&](const Tensor& t) -> std::optional<Tensor> {
    Shape own(t.shape.begin(), t.shape.end() - 2);
    bool single = std::ranges::all_of(own, [](std::int64_t d) { return d == 1; });
    if (own != batch && !single) return std::nullopt;
    return reshaped(t, {element_count(own), t.shape[rank - 2], t.shape[rank - 1]});
  };
  auto full = [&](const Tensor& t) {
    if (auto view = joined(t)) return *view;
    Shape shape = batch;
    shape.insert(shape.end(), t.shape.end() - 2, t.shape.end());
    return *joined(b.dense(expanded(t, shape)));
  };
  return {full(p.x), full(p.w), *joined(p.y), p.bias};
}

void emit_matmul(Builder& b, const Node& node) {
  Tensor x = b.plain_input(node, 0), w = b.plain_input(node, 1);
  if (x.dtype != DType::kFloat32 || w.dtype != DType::kFloat32)
    throw Unsupported("whole-number products are not implemented");
  Tensor y = b.output(node, 0);
  // A vector counts as a row on the left and as a column on the right; its dimension is not in the result.
  if (x.shape.size() == 1)
    x = {x.buffer, x.dtype, {1, x.shape[0]}, {x.shape[0] * x.strides[0], x.strides[0]}, x.offset, {}};
  if (w.shape.size() == 1) w = {w.buffer, w.dtype, {w.shape[0], 1}, {w.strides[0], 1}, w.offset, {}};
  std::size_t rank = std::max(x.shape.size(), w.shape.size());
  x = with_rank(x, rank);
  w = with_rank(w, rank);
  Shape shape;
  for (std::size_t d = 0; d + 2 < rank; ++d) shape.push_back(std::max(x.shape[d], w.shape[d]));
  std::int64_t m = x.shape[rank - 2], k = x.shape[rank - 1], n = w.shape[rank - 1];
  shape.push_back(m);
  shape.push_back(n);
  Tensor out = *reshaped(y, shape);
  if (element_count(Shape(w.shape.begin(), w.shape.end() - 2)) == 1) {  // all rows meet the same matrix
    Tensor rows = matrix_view(b, x, {product(x.shape, 0, rank - 1), k});
    return emit(b, {rows, *reshaped(w, {k, n}), *reshaped(out, {rows.shape[0], n}), nullptr});
  }
  emit(b, join_batch(b, {x, w, out, nullptr}));
}

void emit_gemm(Builder& b, const Node& node) {
  Tensor x = b.plain_input(node, 0), w = b.plain_input(node, 1);
  if (x.dtype != DType::kFloat32) throw Unsupported("whole-number products are not implemented");
  if (node.int_attr("transA", 0)) x = permuted(x, {1, 0});
  if (node.int_attr("transB", 0)) w = permuted(w, {1, 0});
  float alpha = node.float_attr("alpha", 1), beta = node.float_attr("beta", 1);
  Tensor y = b.output(node, 0);
  bool has_c = b.has_input(node, 2) && beta != 0;
  if (has_c && alpha == 1 && beta == 1) {
    const Tensor& c = b.input(node, 2);
    if (c.count() == y.shape[1] && c.shape.back() == y.shape[1]) {
      Tensor bias = *reshaped(b.dense(c), {y.shape[1]});
      return emit(b, {x, w, y, &bias});
    }
  }
  emit(b, {x, w, y, nullptr});
  auto scale = [&](const Tensor& from, const Tensor& to, float factor) {
    b.step("scale", {from, to}, [=, n = to.count()](const Pointers& p) {
      loops::loops().unary(loops::Unary::kLinear, factor, 0, p.get<float>(from), p.get<float>(to), n);
    });
  };
  if (alpha != 1) scale(y, y, alpha);
  if (!has_c) return;
  Tensor c = b.plain_input(node, 2);
  if (beta != 1)
    c = b.once_if_fixed(c, [&] {
      Tensor dense = b.dense(c), scaled = b.temporary(DType::kFloat32, dense.shape);
      scale(dense, scaled, beta);
      return scaled;
    });
  emit_pair(b, loops::Binary::kAdd, y, c, y);
}

// --- Einsum of one or two operands without repeated letters in an operand: permute, multiply, permute.

struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

Equation parse_equation(const std::string& text, std::size_t operands) {
  Equation equation;
  std::string clean;
  for (char c : text)
    if (c != ' ') clean += c;
  std::size_t arrow = clean.find("->");
  std::string left = clean.substr(0, arrow);
  if (clean.find('.') != std::string::npos) throw Unsupported("an ellipsis in Einsum is not implemented");
  std::size_t at = 0;
  while (true) {
    std::size_t comma = left.find(',', at);
    equation.inputs.push_back(left.substr(at, comma - at));
    if (comma == std::string::npos) break;
    at = comma + 1;
  }
  if (equation.inputs.size() != operands)
    throw Unsupported("the equation of Einsum does not fit its operands");
  if (arrow != std::string::npos) {
    equation.output = clean.substr(arrow + 2);
  } else {  // letters that occur once, sorted
    for (char c = 'A'; c <= 'z'; ++c)
      if (std::ranges::count(left, c) == 1) equation.output += c;
  }
  for (const std::string& input : equation.inputs)
    for (char c : input)
      if (std::ranges::count(input, c) > 1) throw Unsupported("a diagonal in Einsum is not implemented");
  return equation;
}

Tensor by_letters(Builder& b, const Tensor& t, const std::string& have, const std::string& want,
                  const std::vector<std::string>& groups) {
  std::vector<std::int64_t> order;
  for (char c : want) order.push_back(static_cast<std::int64_t>(have.find(c)));
  Tensor view = permuted(t, order);
  Shape shape;
  std::size_t at = 0;
  for (const std::string& group : groups) {
    shape.push_back(product(view.shape, at, at + group.size()));
    at += group.size();
  }
  return matrix_view(b, view, shape);
}

void emit_einsum(Builder& b, const Node& node) {
  Equation equation = parse_equation(node.string_attr("equation", ""), node.inputs.size());
  if (node.inputs.size() == 1 && equation.inputs[0].size() == equation.output.size()) {
    std::vector<std::int64_t> order;
    for (char c : equation.output) order.push_back(static_cast<std::int64_t>(equation.inputs[0].find(c)));
    return b.set_output(node, 0, permuted(b.plain_input(node, 0), order));
  }
  if (node.inputs.size() != 2) throw Unsupported("Einsum of other than two operands is not implemented");
  const std::string &left = equation.inputs[0], &right = equation.inputs[1], &out = equation.output;
  std::string batch, rows, columns, inner;
  for (char c : left) {
    bool in_right = right.find(c) != std::string::npos, in_out = out.find(c) != std::string::npos;
    if (in_right && in_out)
      batch += c;
    else if (in_right)
      inner += c;
    else if (in_out)
      rows += c;
    else
      throw Unsupported("a sum over one operand in Einsum is not implemented");
  }
  for (char c : right) {
    if (left.find(c) != std::string::npos) continue;
    if (out.find(c) == std::string::npos)
      throw Unsupported("a sum over one operand in Einsum is not implemented");
    columns += c;
  }
  Tensor x = by_letters(b, b.plain_input(node, 0), left, batch + rows + inner, {batch, rows, inner});
  Tensor w = by_letters(b, b.plain_input(node, 1), right, batch + inner + columns, {batch, inner, columns});
  std::string made = batch + rows + columns;
  Tensor y = b.output(node, 0);
  auto multiply = [&](const Tensor& to) {
    Shape shape{x.shape[0], x.shape[1], w.shape[2]};
    Tensor target = *reshaped(to, shape);
    if (shape[0] == 1)
      emit(b, {*reshaped(x, {shape[1], x.shape[2]}), *reshaped(w, {w.shape[1], shape[2]}),
               *reshaped(target, {shape[1], shape[2]}), nullptr});
    else
      emit(b, {x, w, target, nullptr});
  };
  if (made == out) return multiply(y);
  Shape made_shape;
  std::vector<std::int64_t> order;
  for (char c : made) made_shape.push_back(y.shape[out.find(c)]);
  for (char c : out) order.push_back(static_cast<std::int64_t>(made.find(c)));
  Tensor product = b.temporary(DType::kFloat32, made_shape);
  multiply(product);
  b.copy(permuted(product, order), y);
}

}  // namespace

void emit_product(Builder& b, const Tensor& x, const Tensor& w, const Tensor* bias, const Tensor& y) {
  emit(b, {x, w, y, bias});
}

const OperatorTable& product_operators() {
  static const OperatorTable kTable = {{"MatMul", emit_matmul}, {"Gemm", emit_gemm}, {"Einsum", emit_einsum}};
  return kTable;
}

}  // namespace kforge::onednn
