#include "baseline/onednn/window.h"

#include <algorithm>

namespace kforge::onednn {

WindowShape read_window(const Node& node, const Shape& kernel, const Shape& large, const Shape& small) {
  std::size_t n = kernel.size();
  if (large.size() != n + 2 || small.size() != n + 2 || n < 1 || n > 3)
    throw Unsupported("a window of " + std::to_string(n) + " dimensions over " + to_string(large) +
                      " is not implemented");
  WindowShape window{kernel, node.ints_attr("strides"), node.ints_attr("dilations"), {}, {}};
  if (window.stride.empty()) window.stride.assign(n, 1);
  if (window.dilation.empty()) window.dilation.assign(n, 1);
  Shape pads = node.ints_attr("pads");
  std::string automatic = node.string_attr("auto_pad", "NOTSET");
  for (std::size_t d = 0; d < n; ++d) {
    std::int64_t reach = (kernel[d] - 1) * window.dilation[d] + 1;
    std::int64_t both = (small[d + 2] - 1) * window.stride[d] + reach - large[d + 2];
    std::int64_t begin = 0;
    if (automatic == "SAME_UPPER")
      begin = std::max<std::int64_t>(both, 0) / 2;
    else if (automatic == "SAME_LOWER")
      begin = (std::max<std::int64_t>(both, 0) + 1) / 2;
    else if (automatic != "VALID" && pads.size() == 2 * n)
      begin = pads[d];
    window.pad.push_back(begin);
    window.pad_end.push_back(both - begin);
  }
  return window;
}

loops::Window loop_window(const Shape& in, const Shape& out, const WindowShape& window) {
  loops::Window w{};
  std::size_t n = window.kernel.size(), lead = 3 - n;
  w.channels = out[1];
  w.planes = out[0] * out[1];
  for (std::size_t d = 0; d < 3; ++d) {
    bool real = d >= lead;
    std::size_t s = real ? d - lead : 0;
    w.in[d] = real ? in[s + 2] : 1;
    w.out[d] = real ? out[s + 2] : 1;
    w.kernel[d] = real ? window.kernel[s] : 1;
    w.stride[d] = real ? window.stride[s] : 1;
    w.dilation[d] = real ? window.dilation[s] : 1;
    w.pad[d] = real ? window.pad[s] : 0;
    w.pad_end[d] = real ? window.pad_end[s] : 0;
  }
  return w;
}

}  // namespace kforge::onednn
