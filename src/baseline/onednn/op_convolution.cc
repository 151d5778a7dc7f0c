// Convolutions: oneDNN with layouts of its choice (reorders counted) or plain layouts, loops for depthwise
// ones, and for transposed ones a matrix product whose columns are scattered.
#include <algorithm>

#include "baseline/onednn/operators.h"
#include "baseline/onednn/window.h"

namespace kforge::onednn {
namespace {

using Desc = dnnl::memory::desc;

struct Convolution {
  Tensor x, w;  // w as oneDNN sees it: [g,] out, in, kernel...
  std::optional<Tensor> bias;
  Shape y_shape;
  std::int64_t groups;
  WindowShape window;
  bool stay_blocked;
};

Tensor grouped_weights(const Tensor& w, std::int64_t groups) {
  Shape shape = w.shape;
  shape.insert(shape.begin(), groups);
  shape[1] /= groups;
  return *reshaped(w, shape);
}

// Matrices of columns beyond this are not worth a try where there is another way.
constexpr std::size_t kMostColumns = std::size_t{256} << 20;

double reorder_time(const Desc& from, const Desc& to) {
  if (from == to) return 0;
  dnnl::reorder::primitive_desc pd(engine(), from, engine(), to);
  return probe_primitive(dnnl::reorder(pd), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
}

// Both kinds of convolution differ only in the primitive's type.
template <class Primitive, dnnl::algorithm kAlgorithm>
void add_primitive(Builder& b, const Node& node, const Convolution& c, bool plain, std::vector<Way>& ways) {
  Desc x_plain = describe_dense(c.x.shape), y_plain = describe_dense(c.y_shape);
  Desc x_any(c.x.shape, kF32, kAny), y_any(c.y_shape, kF32, kAny), w_any(c.w.shape, kF32, kAny);
  Desc bias = c.bias ? describe_dense({c.y_shape[1]}) : Desc();
  Shape dilation;
  for (std::int64_t d : c.window.dilation) dilation.push_back(d - 1);  // oneDNN counts the gaps
  typename Primitive::desc desc(kForward, kAlgorithm, plain ? x_plain : x_any, w_any, bias,
                                plain ? y_plain : y_any, c.window.stride, dilation, c.window.pad,
                                c.window.pad_end);
  typename Primitive::primitive_desc pd;
  try {
    pd = {desc, engine()};
  } catch (const dnnl::error&) {
    return;
  }
  if (std::string(pd.impl_info_str()).starts_with("ref")) return;
  Primitive primitive(pd);
  std::vector<std::pair<int, Desc>> layouts = {
      {DNNL_ARG_SRC, pd.src_desc()}, {DNNL_ARG_WEIGHTS, pd.weights_desc()}, {DNNL_ARG_DST, pd.dst_desc()}};
  if (c.bias) layouts.push_back({DNNL_ARG_BIAS, bias});
  Desc x_now = describe(c.x);
  ways.push_back({[=] {
                    double time = probe_primitive(primitive, layouts) + reorder_time(x_now, pd.src_desc());
                    return c.stay_blocked ? time : time + reorder_time(pd.dst_desc(), y_plain);
                  },
                  [=, &b, &node] {
                    Tensor x = b.in_layout(c.x, pd.src_desc()), w = b.in_layout(c.w, pd.weights_desc());
                    Tensor y =
                        pd.dst_desc() == y_plain ? b.output(node, 0) : b.temporary(pd.dst_desc(), c.y_shape);
                    std::vector<Operand> operands = {{DNNL_ARG_SRC, pd.src_desc(), x},
                                                     {DNNL_ARG_WEIGHTS, pd.weights_desc(), w},
                                                     {DNNL_ARG_DST, pd.dst_desc(), y}};
                    if (c.bias) operands.push_back({DNNL_ARG_BIAS, bias, *c.bias});
                    b.primitive(pd.impl_info_str(), primitive, operands);
                    if (!y.blocked) return;
                    if (c.stay_blocked) return b.set_output(node, 0, y);
                    Tensor end = b.output(node, 0);
                    b.reorder(y, end);
                  }});
}

void add_depthwise(Builder& b, const Node& node, const Convolution& c, std::vector<Way>& ways) {
  loops::Window window = loop_window(c.x.shape, c.y_shape, c.window);
  auto floats = [](std::size_t i, std::int64_t n) {
    return reinterpret_cast<float*>(probe_memory(i, static_cast<std::size_t>(n) * 4));
  };
  ways.push_back({[=] {
                    float *x = floats(0, c.x.count()), *w = floats(1, c.w.count()),
                          *y = floats(2, element_count(c.y_shape));
                    double reorder = c.x.blocked ? reorder_time(*c.x.blocked, describe_dense(c.x.shape)) : 0;
                    return reorder + probe([&] { loops::loops().depthwise(window, x, w, nullptr, y); });
                  },
                  [=, &b, &node] {
                    Tensor x = b.dense(c.x), w = b.dense(c.w), y = b.output(node, 0);
                    std::vector<Tensor> touches = {x, w, y};
                    if (c.bias) touches.push_back(*c.bias);
                    b.step("depthwise loop", touches, [=](const Pointers& p) {
                      loops::loops().depthwise(window, p.get<float>(x), p.get<float>(w),
                                               c.bias ? p.get<float>(*c.bias) : nullptr, p.get<float>(y));
                    });
                  }});
}

// The classic way: what every output sums laid out as a matrix, image by image, then one matrix product.
void add_columns(Builder& b, const Node& node, const Convolution& c, std::vector<Way>& ways) {
  std::int64_t batch = c.x.shape[0], in = c.x.shape[1], out = c.y_shape[1],
               taps = element_count(c.window.kernel);
  std::int64_t positions = product(c.y_shape, 2, c.y_shape.size()), deep = in / c.groups * taps;
  loops::Window window = loop_window(c.x.shape, c.y_shape, c.window);
  window.planes = in;
  Shape weights_shape{c.groups, out / c.groups, deep};
  Desc weights = describe_dense(weights_shape), columns = describe_dense({c.groups, deep, positions}),
       image = describe_dense({c.groups, out / c.groups, positions});
  if (columns.get_size() > kMostColumns) return;
  dnnl::matmul::primitive_desc pd({weights, columns, image}, engine());
  if (std::string(pd.impl_info_str()).starts_with("ref")) return;
  dnnl::matmul primitive(pd);
  std::int64_t x_step = product(c.x.shape, 1, c.x.shape.size()), y_step = out * positions;
  loops::Walk bias_walk;
  bias_walk.rank = 2;
  bias_walk.size[0] = out, bias_walk.size[1] = positions;
  bias_walk.stride[0][0] = bias_walk.stride[1][0] = positions, bias_walk.stride[2][0] = 1;
  bias_walk.stride[0][1] = bias_walk.stride[1][1] = 1, bias_walk.stride[2][1] = 0;
  auto lay_out = loops::loops().image_to_columns;
  ways.push_back(
      {[=] {
         double one = probe_primitive(
             primitive, {{DNNL_ARG_SRC, weights}, {DNNL_ARG_WEIGHTS, columns}, {DNNL_ARG_DST, image}});
         auto* from = reinterpret_cast<float*>(probe_memory(3, static_cast<std::size_t>(x_step) * 4));
         auto* to = reinterpret_cast<float*>(probe_memory(1, columns.get_size()));
         one += probe([&] { lay_out(window, from, to); });
         double reorder = c.x.blocked ? reorder_time(*c.x.blocked, describe_dense(c.x.shape)) : 0;
         return one * static_cast<double>(batch) + reorder;
       },
       [=, &b, &node] {
         Tensor x = b.dense(c.x), w = *reshaped(b.dense(c.w), weights_shape), y = b.output(node, 0);
         Tensor space = b.temporary(columns, {c.groups, deep, positions});
         std::vector<Tensor> touches = {x, w, y, space};
         if (c.bias) touches.push_back(*c.bias);
         dnnl::memory wm(weights, engine(), DNNL_MEMORY_NONE), cm(columns, engine(), DNNL_MEMORY_NONE),
             ym(image, engine(), DNNL_MEMORY_NONE);
         b.step(std::string("columns and matmul ") + pd.impl_info_str(), touches,
                [=](const Pointers& p) mutable {
                  wm.set_data_handle(p.raw(w));
                  cm.set_data_handle(p.raw(space));
                  for (std::int64_t i = 0; i < batch; ++i) {
                    float* out_image = p.get<float>(y) + i * y_step;
                    lay_out(window, p.get<float>(x) + i * x_step, p.get<float>(space));
                    ym.set_data_handle(out_image);
                    primitive.execute(stream(),
                                      {{DNNL_ARG_SRC, wm}, {DNNL_ARG_WEIGHTS, cm}, {DNNL_ARG_DST, ym}});
                    stream().wait();
                    if (c.bias)
                      loops::loops().binary(loops::Binary::kAdd, loops::Number::kFloat, bias_walk, out_image,
                                            out_image, p.raw(*c.bias));
                  }
                });
       }});
}

void emit_conv(Builder& b, const Node& node) {
  Convolution c;
  c.x = b.input(node, 0);
  c.w = b.dense_input(node, 1);
  if (b.has_input(node, 2)) c.bias = b.dense_input(node, 2);
  c.y_shape = b.shape_of(node.outputs[0]);
  c.groups = node.int_attr("group", 1);
  Shape kernel(c.w.shape.begin() + 2, c.w.shape.end());
  c.window = read_window(node, kernel, c.x.shape, c.y_shape);
  c.stay_blocked = b.may_stay_blocked(node, 0);
  if (!c.x.blocked) c.x = b.dense(c.x);
  bool depthwise = c.groups > 1 && c.groups == c.x.shape[1] && c.w.shape[1] == 1 && c.y_shape[1] == c.groups;
  std::vector<Way> ways;
  if (depthwise)
    add_depthwise(b, node, c, ways);
  else
    add_columns(b, node, c, ways);
  if (c.groups > 1) c.w = grouped_weights(c.w, c.groups);
  add_primitive<dnnl::convolution_forward, dnnl::algorithm::convolution_direct>(b, node, c, false, ways);
  if (!c.x.blocked)
    add_primitive<dnnl::convolution_forward, dnnl::algorithm::convolution_direct>(b, node, c, true, ways);
  emit_fastest(ways);
}

// Columns = W^T X by a matrix product per image, then every column adds its taps to the output. `w` is
// [groups, in, out * taps].
void add_scatter(Builder& b, const Node& node, const Convolution& c, const Tensor& w,
                 std::vector<Way>& ways) {
  std::int64_t batch = c.x.shape[0], groups = c.groups, in = w.shape[1], wide = w.shape[2];
  std::int64_t positions = product(c.x.shape, 2, c.x.shape.size());
  loops::Window window = loop_window(c.x.shape, c.y_shape, c.window);
  window.planes = c.y_shape[1];  // one image at a time, so that the columns stay near
  window.channels = c.y_shape[1];
  Tensor columns_of = permuted(w, {0, 2, 1});
  Desc weights(columns_of.shape, kF32, columns_of.strides),
      image = describe_dense({groups, in, positions}), columns = describe_dense({groups, wide, positions});
  if (!ways.empty() && columns.get_size() > kMostColumns) return;
  dnnl::matmul::primitive_desc pd({weights, image, columns}, engine());
  if (std::string(pd.impl_info_str()).starts_with("ref")) return;
  dnnl::matmul primitive(pd);
  std::int64_t x_step = product(c.x.shape, 1, c.x.shape.size()),
               y_step = product(c.y_shape, 1, c.y_shape.size());
  ways.push_back(
      {[=] {
         double one = probe_primitive(
             primitive, {{DNNL_ARG_SRC, weights}, {DNNL_ARG_WEIGHTS, image}, {DNNL_ARG_DST, columns}});
         auto* from = reinterpret_cast<float*>(probe_memory(2, columns.get_size()));
         auto* to = reinterpret_cast<float*>(probe_memory(3, static_cast<std::size_t>(y_step) * 4));
         one += probe([&] { loops::loops().columns_to_image(window, from, nullptr, to); });
         return one * static_cast<double>(batch);
       },
       [=, &b, &node] {
         Tensor x = b.dense(c.x), y = b.output(node, 0);
         Tensor space = b.temporary(columns, {groups, wide, positions});
         std::vector<Tensor> touches = {x, w, y, space};
         if (c.bias) touches.push_back(*c.bias);
         dnnl::memory wm(weights, engine(), DNNL_MEMORY_NONE), xm(image, engine(), DNNL_MEMORY_NONE),
             cm(columns, engine(), DNNL_MEMORY_NONE);
         b.step(std::string("matmul ") + pd.impl_info_str() + " and scatter", touches,
                [=](const Pointers& p) mutable {
                  wm.set_data_handle(p.raw(w));
                  cm.set_data_handle(p.raw(space));
                  for (std::int64_t i = 0; i < batch; ++i) {
                    xm.set_data_handle(p.get<float>(x) + i * x_step);
                    primitive.execute(stream(),
                                      {{DNNL_ARG_SRC, wm}, {DNNL_ARG_WEIGHTS, xm}, {DNNL_ARG_DST, cm}});
                    stream().wait();
                    loops::loops().columns_to_image(window, p.get<float>(space),
                                                    c.bias ? p.get<float>(*c.bias) : nullptr,
                                                    p.get<float>(y) + i * y_step);
                  }
                });
       }});
}

void emit_conv_transpose(Builder& b, const Node& node) {
  Convolution c;
  c.x = b.input(node, 0);
  Tensor w = b.dense_input(node, 1);  // [in, out / groups, kernel...]
  if (b.has_input(node, 2)) c.bias = b.dense_input(node, 2);
  c.y_shape = b.shape_of(node.outputs[0]);
  c.groups = node.int_attr("group", 1);
  Shape kernel(w.shape.begin() + 2, w.shape.end());
  // The window slides over the output: the roles of the two images are swapped.
  c.window = read_window(node, kernel, c.y_shape, c.x.shape);
  c.stay_blocked = b.may_stay_blocked(node, 0);
  if (!c.x.blocked) c.x = b.dense(c.x);
  Tensor grouped = grouped_weights(w, c.groups);
  std::vector<std::int64_t> order(grouped.shape.size());
  for (std::size_t d = 0; d < order.size(); ++d) order[d] = static_cast<std::int64_t>(d);
  std::swap(order[1], order[2]);
  c.w = permuted(grouped, order);
  if (c.groups == 1) {
    c.w.shape.erase(c.w.shape.begin());
    c.w.strides.erase(c.w.strides.begin());
  }
  std::vector<Way> ways;
  add_primitive<dnnl::deconvolution_forward, dnnl::algorithm::deconvolution_direct>(b, node, c, false, ways);
  if (!c.x.blocked)
    add_primitive<dnnl::deconvolution_forward, dnnl::algorithm::deconvolution_direct>(b, node, c, true, ways);
  Tensor columns =
      *reshaped(grouped, {c.groups, grouped.shape[1], product(grouped.shape, 2, grouped.shape.size())});
  add_scatter(b, node, c, columns, ways);
  emit_fastest(ways);
}

}  // namespace

const OperatorTable& convolution_operators() {
  static const OperatorTable kTable = {{"Conv", emit_conv}, {"ConvTranspose", emit_conv_transpose}};
  return kTable;
}

}  // namespace kforge::onednn
