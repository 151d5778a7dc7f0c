// Types of the operators of domain "kforge": all of them but Opaque keep the type of their first input.
#include "graph/kforge_functions.h"

namespace kforge {
namespace {

using Types = std::vector<const TensorType*>;

Result<void> check_vector(const Node& node, const TensorType* type, const Dim& width) {
  if (!type || !type->ranked) return {};
  bool fits = type->dims.size() == 1 &&
              (!type->dims[0].known() || !width.known() || type->dims[0].value == width.value);
  if (!fits)
    return fail("node '{}' ({}): scale and bias need one element per channel, not {}", node.name, node.op,
                to_string(*type));
  return {};
}

Result<void> check_group_norm(const Node& node, const Types& inputs) {
  const TensorType& x = *inputs[0];
  if (!x.ranked) return {};
  if (x.dims.size() < 2) return fail("node '{}' ({}): X needs at least two dimensions", node.name, node.op);
  std::int64_t groups = node.int_attr("num_groups", 1);
  if (x.dims[1].known() && x.dims[1].value % groups != 0)
    return fail("node '{}' ({}): {} channels do not split into {} groups", node.name, node.op,
                x.dims[1].value, groups);
  KF_TRY_VOID(check_vector(node, inputs[1], x.dims[1]));
  return check_vector(node, inputs[2], x.dims[1]);
}

Result<void> check_axis(const Node& node, const TensorType& x, std::int64_t axis) {
  auto rank = static_cast<std::int64_t>(x.dims.size());
  if (x.ranked && (axis < -rank || axis >= rank))
    return fail("node '{}' ({}): axis {} is outside a tensor of {} dimensions", node.name, node.op, axis,
                rank);
  return {};
}

Result<void> check_rms_norm(const Node& node, const Types& inputs) {
  const TensorType& x = *inputs[0];
  KF_TRY_VOID(check_axis(node, x, node.int_attr("axis", -1)));
  const TensorType* scale = inputs[1];
  if (!scale || !scale->ranked || !x.ranked) return {};
  bool fits = scale->dims.size() <= x.dims.size();
  for (std::size_t i = 0; fits && i < scale->dims.size(); ++i) {
    const Dim& have = scale->dims[scale->dims.size() - 1 - i];
    const Dim& want = x.dims[x.dims.size() - 1 - i];
    fits = !have.known() || !want.known() || have.value == want.value || have.value == 1;
  }
  if (!fits)
    return fail("node '{}' ({}): scale {} does not fit {}", node.name, node.op, to_string(*scale),
                to_string(x));
  return {};
}

}  // namespace

Result<std::optional<TensorType>> infer_kforge_type(const Node& node, const Types& inputs) {
  if (inputs.empty() || !inputs[0] || node.op == kOpaque) return std::nullopt;
  const TensorType& x = *inputs[0];
  bool running = node.op == "CumProd";
  if (!running && !is_float(x.dtype))
    return fail("node '{}' (kforge.{}): '{}' is {}, which the operator does not take", node.name, node.op,
                node.inputs[0], name_of(x.dtype));
  for (std::size_t i = 1; i < inputs.size() && !running; ++i)
    if (inputs[i] && inputs[i]->dtype != x.dtype)
      return fail("node '{}' (kforge.{}): '{}' is {} where another operand is {}", node.name, node.op,
                  node.inputs[i], name_of(inputs[i]->dtype), name_of(x.dtype));
  if (node.op == "GroupNormalization") KF_TRY_VOID(check_group_norm(node, inputs));
  if (node.op == "RMSNormalization") KF_TRY_VOID(check_rms_norm(node, inputs));
  return x;
}

}  // namespace kforge
