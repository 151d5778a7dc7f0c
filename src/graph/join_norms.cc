// Normalisations: a mean or a size over some axes, taken out of every element.
#include <algorithm>

#include "graph/join_rule.h"

namespace kforge {
namespace {

// The axes that every ReduceMean of the formula reduces, in order; nothing where they differ or a dimension
// is lost.
std::optional<std::vector<std::int64_t>> reduced_axes(const JoinSite& site, std::size_t rank) {
  std::optional<std::vector<std::int64_t>> common;
  for (const Node* node : site.calls("ReduceMean")) {
    if (node->int_attr("keepdims", 1) == 0) return {};
    auto axes = node->ints_attr("axes");
    for (std::int64_t& axis : axes) axis += axis < 0 ? static_cast<std::int64_t>(rank) : 0;
    std::ranges::sort(axes);
    if (common && *common != axes) return {};
    common = std::move(axes);
  }
  return common;
}

// The last axes of x, from `first` on.
bool are_last(const std::vector<std::int64_t>& axes, std::size_t rank, std::size_t first) {
  if (axes.size() + first != rank) return false;
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (axes[i] != static_cast<std::int64_t>(first + i)) return false;
  return true;
}

// Whether the value is one number per channel of an x [N, C, ...] that it is multiplied with.
bool per_channel(const JoinSite& site, const std::string& value, const Shape& x) {
  auto shape = site.index().shape(value);
  if (!shape || shape->size() > x.size() || x.size() < 2) return false;
  shape->insert(shape->begin(), x.size() - shape->size(), 1);
  for (std::size_t d = 0; d < x.size(); ++d)
    if ((*shape)[d] != (d == 1 ? x[1] : 1)) return false;
  return true;
}

// What there is of "scale" and "bias" in a formula.
struct Affine {
  std::optional<std::string> scale, bias;
};
enum class Has { kNothing, kScale, kBoth };
Affine affine_of(const JoinSite& site, Has has) {
  Affine affine;
  if (has != Has::kNothing) affine.scale = site.value("scale");
  if (has == Has::kBoth) affine.bias = site.value("bias");
  return affine;
}

// [C] from one number per group.
std::string widened(JoinSite& site, const std::string& per_group, std::int64_t groups,
                    std::int64_t channels) {
  if (groups == channels) return per_group;
  std::string column = site.add("Reshape", {per_group, site.ints({groups, 1})});
  std::string wide = site.add("Expand", {column, site.ints({groups, channels / groups})});
  return site.add("Reshape", {wide, site.ints({channels})});
}

bool all_are(const JoinSite& site, const std::string& value, double number) {
  const ConstantTensor* tensor = site.index().constant(value);
  return tensor && std::ranges::all_of(tensor->as_double(), [&](double v) { return v == number; });
}

// reshape, InstanceNormalization, reshape: what both exporters make of a group normalisation. The scale and
// bias of the inner one belong to groups; they are ones and zeros, but arguments where the file says so.
bool group_norm(JoinSite& site, Has has) {
  const GraphIndex& index = site.index();
  const std::string x = site.value("x");
  const Node& inner = **site.calls("InstanceNormalization").begin();
  auto shape = index.shape(x), rows = index.shape(inner.inputs[0]);
  if (!shape || !rows || shape->size() < 2 || rows->size() < 3 || index.shape(site.root()) != shape)
    return false;
  const std::int64_t groups = (*rows)[1], channels = (*shape)[1];
  if ((*rows)[0] != (*shape)[0] || groups < 1 || channels % groups != 0) return false;
  const Affine affine = affine_of(site, has);
  for (const auto& part : {affine.scale, affine.bias})
    if (part && !per_channel(site, *part, *shape)) return false;

  const std::string group_scale = site.value("s"), group_bias = site.value("t");
  std::optional<std::string> scale, bias;
  if (affine.scale) scale = site.reshaped(*affine.scale, {channels});
  if (affine.bias) bias = site.reshaped(*affine.bias, {channels});
  // (n * s + t) * scale + bias = n * (s * scale) + (t * scale + bias)
  if (!all_are(site, group_bias, 0) || !bias) {
    std::string shift = widened(site, group_bias, groups, channels);
    if (scale) shift = site.add("Mul", {shift, *scale});
    bias = bias ? site.add("Add", {shift, *bias}) : shift;
  }
  if (!all_are(site, group_scale, 1) || !scale) {
    std::string own = widened(site, group_scale, groups, channels);
    scale = scale ? site.add("Mul", {own, *scale}) : own;
  }
  return site.finish("GroupNormalization", "kforge", {x, *scale, *bias},
                     {{"num_groups", groups}, {"epsilon", inner.float_attr("epsilon", 1e-5f)}});
}
bool group_norm_affine(JoinSite& site) { return group_norm(site, Has::kBoth); }
bool group_norm_scale(JoinSite& site) { return group_norm(site, Has::kScale); }
bool group_norm_plain(JoinSite& site) {
  // Without the way there and back there is nothing to join.
  return group_norm(site, Has::kNothing);
}

// A parameter over the normalised axes: its shape is theirs, or has ones in it.
bool over_axes(const JoinSite& site, const std::string& value, const Shape& x, std::size_t first) {
  auto shape = site.index().shape(value);
  if (!shape) return false;
  Shape normalised(x.begin() + static_cast<std::ptrdiff_t>(first), x.end());
  while (shape->size() > normalised.size() && shape->front() == 1) shape->erase(shape->begin());
  return *shape == normalised;
}

// Mean and deviation over the last axes: a layer normalisation; over all behind the channels with a scale per
// channel: an instance normalisation.
bool layer_norm(JoinSite& site, Has has) {
  const GraphIndex& index = site.index();
  const std::string x = site.value("x");
  auto shape = index.shape(x);
  if (!shape || index.shape(site.root()) != shape) return false;
  auto axes = reduced_axes(site, shape->size());
  if (!axes || axes->empty() || axes->size() > shape->size()) return false;
  const std::size_t first = shape->size() - axes->size();
  if (!are_last(*axes, shape->size(), first)) return false;
  const float epsilon = site.number("epsilon");
  if (!(epsilon >= 0)) return false;
  const Affine affine = affine_of(site, has);
  auto every = [&](auto fits) {
    return (!affine.scale || fits(*affine.scale)) && (!affine.bias || fits(*affine.bias));
  };
  const Shape normalised(shape->begin() + static_cast<std::ptrdiff_t>(first), shape->end());
  if (every([&](const std::string& part) { return over_axes(site, part, *shape, first); })) {
    std::vector<std::string> inputs{x};
    inputs.push_back(affine.scale ? site.reshaped(*affine.scale, normalised) : site.ones());
    if (affine.bias) inputs.push_back(site.reshaped(*affine.bias, normalised));
    return site.finish("LayerNormalization", "", std::move(inputs),
                       {{"axis", static_cast<std::int64_t>(first)}, {"epsilon", epsilon}});
  }
  if (first != 2 || has != Has::kBoth) return false;
  if (!every([&](const std::string& part) { return per_channel(site, part, *shape); })) return false;
  const Shape channels{(*shape)[1]};
  return site.finish("InstanceNormalization", "",
                     {x, site.reshaped(*affine.scale, channels), site.reshaped(*affine.bias, channels)},
                     {{"epsilon", epsilon}});
}
bool layer_norm_affine(JoinSite& site) { return layer_norm(site, Has::kBoth); }
bool layer_norm_scale(JoinSite& site) { return layer_norm(site, Has::kScale); }
bool layer_norm_plain(JoinSite& site) { return layer_norm(site, Has::kNothing); }

bool rms_norm(JoinSite& site, Has has) {
  const std::string x = site.value("x");
  auto shape = site.index().shape(x);
  if (!shape || site.index().shape(site.root()) != shape) return false;
  auto axes = reduced_axes(site, shape->size());
  if (!axes || axes->empty() || axes->size() > shape->size()) return false;
  const std::size_t first = shape->size() - axes->size();
  const float epsilon = site.number("epsilon");
  if (!are_last(*axes, shape->size(), first) || !(epsilon >= 0)) return false;
  const Affine affine = affine_of(site, has);
  if (affine.scale && !over_axes(site, *affine.scale, *shape, first)) return false;
  const Shape normalised(shape->begin() + static_cast<std::ptrdiff_t>(first), shape->end());
  std::string scale = affine.scale ? site.reshaped(*affine.scale, normalised) : site.ones();
  return site.finish("RMSNormalization", "kforge", {x, scale},
                     {{"axis", static_cast<std::int64_t>(first)}, {"epsilon", epsilon}});
}
bool rms_norm_scale(JoinSite& site) { return rms_norm(site, Has::kScale); }
bool rms_norm_plain(JoinSite& site) { return rms_norm(site, Has::kNothing); }

}  // namespace

const std::vector<JoinRule>& norm_rules() {
  static const std::vector<JoinRule> rules = {
      {"Reshape(InstanceNormalization(Reshape(x, to), s, t), back) * scale + bias", group_norm_affine},
      {"Reshape(InstanceNormalization(Reshape(x, to), s, t), back) * scale", group_norm_scale},
      {"Reshape(InstanceNormalization(Reshape(x, to), s, t), back)", group_norm_plain},
      {"(x - ReduceMean(x)) / Sqrt(ReduceMean((x - ReduceMean(x)) ^ 2) + @epsilon) * scale + bias",
       layer_norm_affine},
      {"(x - ReduceMean(x)) / Sqrt(ReduceMean((x - ReduceMean(x)) ^ 2) + @epsilon) * scale",
       layer_norm_scale},
      {"(x - ReduceMean(x)) / Sqrt(ReduceMean((x - ReduceMean(x)) ^ 2) + @epsilon)", layer_norm_plain},
      {"x / Sqrt(ReduceMean(x ^ 2) + @epsilon) * scale", rms_norm_scale},
      {"x / Sqrt(ReduceMean(x ^ 2) + @epsilon)", rms_norm_plain},
  };
  return rules;
}

}  // namespace kforge
