// Pooling: oneDNN in plain or blocked layout, or a loop along rows.
#include "baseline/onednn/operators.h"
#include "baseline/onednn/window.h"

namespace kforge::onednn {
namespace {

using Desc = dnnl::memory::desc;

// The loop, with padding at the end that ceil_mode added not counted as padding.
void add_loop(Builder& b, const Node& node, const Tensor& x, const loops::Window& window, bool max,
              std::vector<Way>& ways) {
  Shape y_shape = b.shape_of(node.outputs[0]);
  auto run = max ? loops::loops().pool_max : loops::loops().pool_average;
  ways.push_back(
      {[=] {
         auto* from = reinterpret_cast<float*>(probe_memory(0, static_cast<std::size_t>(x.count()) * 4));
         auto* to =
             reinterpret_cast<float*>(probe_memory(1, static_cast<std::size_t>(element_count(y_shape)) * 4));
         double time = probe([&] { run(window, from, to); });
         if (!x.blocked) return time;
         Desc plain = describe_dense(x.shape);
         dnnl::reorder::primitive_desc pd(engine(), *x.blocked, engine(), plain);
         return time +
                probe_primitive(dnnl::reorder(pd), {{DNNL_ARG_FROM, *x.blocked}, {DNNL_ARG_TO, plain}});
       },
       [=, &b, &node] {
         Tensor from = b.dense(x), y = b.output(node, 0);
         b.step("loop", {from, y},
                [=](const Pointers& p) { run(window, p.get<float>(from), p.get<float>(y)); });
       }});
}

void add_primitive(Builder& b, const Node& node, const Tensor& x, const WindowShape& window,
                   dnnl::algorithm algorithm, std::vector<Way>& ways) {
  Shape y_shape = b.shape_of(node.outputs[0]);
  Desc from = describe(x),
       to = x.blocked ? Desc(y_shape, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any)
                      : describe_dense(y_shape);
  Shape gaps;
  for (std::int64_t d : window.dilation) gaps.push_back(d - 1);
  dnnl::pooling_v2_forward::primitive_desc pd;
  try {
    pd = {{dnnl::prop_kind::forward_inference, algorithm, from, to, window.stride, window.kernel, gaps,
           window.pad, window.pad_end},
          engine()};
  } catch (const dnnl::error&) {
    return;
  }
  if (std::string(pd.impl_info_str()).starts_with("ref")) return;
  dnnl::pooling_v2_forward primitive(pd);
  ways.push_back({[=] {
                    return probe_primitive(primitive, {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, pd.dst_desc()}});
                  },
                  [=, &b, &node] {
                    Tensor y = x.blocked ? b.temporary(pd.dst_desc(), y_shape) : b.output(node, 0);
                    b.primitive(pd.impl_info_str(), primitive,
                                {{DNNL_ARG_SRC, from, x}, {DNNL_ARG_DST, pd.dst_desc(), y}});
                    if (x.blocked) b.set_output(node, 0, y);
                  }});
}

void emit_pool(Builder& b, const Node& node) {
  if (b.wants_output(node, 1)) throw Unsupported("indices of MaxPool are not implemented");
  const Tensor& given = b.input(node, 0);
  if (given.dtype != DType::kFloat32) throw Unsupported("whole-number pooling is not implemented");
  Tensor x = given.blocked ? given : b.dense(given);
  Shape y_shape = b.shape_of(node.outputs[0]);
  WindowShape window = read_window(node, node.ints_attr("kernel_shape"), x.shape, y_shape);
  bool max = node.op == "MaxPool", count_pad = node.int_attr("count_include_pad", 0) != 0;
  bool hangs_over = node.int_attr("ceil_mode", 0) != 0;
  loops::Window loop = loop_window(x.shape, y_shape, window);
  loop.count_pad = count_pad;
  if (Shape pads = node.ints_attr("pads"); hangs_over && count_pad)
    for (std::size_t d = 0; d < window.kernel.size(); ++d)
      loop.pad_end[3 - window.kernel.size() + d] = pads.empty() ? 0 : pads[window.kernel.size() + d];
  std::vector<Way> ways;
  add_loop(b, node, x, loop, max, ways);
  auto algorithm = max         ? dnnl::algorithm::pooling_max
                   : count_pad ? dnnl::algorithm::pooling_avg_include_padding
                               : dnnl::algorithm::pooling_avg_exclude_padding;
  if (max || !count_pad || !hangs_over) add_primitive(b, node, x, window, algorithm, ways);
  emit_fastest(ways);
}

void emit_global_pool(Builder& b, const Node& node) {
  Tensor x = b.dense_input(node, 0), y = b.output(node, 0);
  bool max = node.op == "GlobalMaxPool";
  std::int64_t planes = x.shape[0] * x.shape[1], n = product(x.shape, 2, x.shape.size());
  b.step("loop", {x, y}, [=](const Pointers& p) {
    loops::loops().reduce(max ? loops::Reduce::kMax : loops::Reduce::kSum, p.get<float>(x), p.get<float>(y),
                          planes, n, 1);
    if (!max)
      loops::loops().unary(loops::Unary::kLinear, 1.0f / static_cast<float>(n), 0, p.get<float>(y),
                           p.get<float>(y), planes);
  });
}

}  // namespace

const OperatorTable& pooling_operators() {
  static const OperatorTable kTable = {{"MaxPool", emit_pool},
                                       {"AveragePool", emit_pool},
                                       {"GlobalAveragePool", emit_global_pool},
                                       {"GlobalMaxPool", emit_global_pool}};
  return kTable;
}

}  // namespace kforge::onednn
