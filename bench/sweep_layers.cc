#include "sweep_layers.h"

#include <fmt/format.h>

namespace kforge::bench {
namespace {

// ResNet-50 at 224 x 224: the stem, and per stage the three convolutions of a block and those that halve it.
void add_resnet(std::vector<NetworkLayer>& layers) {
  const auto add = [&](int kernel, int channels, int filters, int size, int stride) {
    layers.push_back(
        {.network = "resnet50",
         .name = fmt::format("conv{0}x{0}_{1}_{2}_s{3}_at{4}", kernel, channels, filters, stride, size),
         .channels = channels,
         .filters = filters,
         .height = size,
         .width = size,
         .kernel = kernel,
         .stride = stride,
         .pad = kernel / 2});
  };
  add(7, 3, 64, 224, 2);
  add(1, 64, 64, 56, 1);
  int size = 56;
  for (int width = 64; width <= 512; width *= 2, size /= 2) {
    add(3, width, width, size, 1);
    add(1, width, 4 * width, size, 1);
    add(1, 4 * width, width, size, 1);
    if (width == 512) break;
    add(1, 4 * width, 2 * width, size, 1);
    add(3, 2 * width, 2 * width, size, 2);
    add(1, 4 * width, 8 * width, size, 2);
  }
}

// MobileNetV2: expansion, depthwise convolution and projection of each distinct block.
void add_mobilenet(std::vector<NetworkLayer>& layers) {
  const auto add = [&](std::string what, int kernel, int channels, int filters, int size, int stride,
                       int groups, const char* activation) {
    layers.push_back({.network = "mobilenetv2",
                      .name = fmt::format("{}_{}_{}_s{}_at{}", what, channels, filters, stride, size),
                      .channels = channels,
                      .filters = filters,
                      .height = size,
                      .width = size,
                      .kernel = kernel,
                      .stride = stride,
                      .pad = kernel / 2,
                      .groups = groups,
                      .activation = activation});
  };
  constexpr const char* kRelu6 = "Clip";
  add("stem", 3, 3, 32, 224, 2, 1, kRelu6);
  struct Block {
    int channels, filters, expand, stride, size;
  };
  for (const auto& [channels, filters, expand, stride, size] : {Block{32, 16, 1, 1, 112},
                                                                {16, 24, 6, 2, 112},
                                                                {24, 32, 6, 2, 56},
                                                                {32, 64, 6, 2, 28},
                                                                {64, 96, 6, 1, 14},
                                                                {96, 160, 6, 2, 14},
                                                                {160, 320, 6, 1, 7}}) {
    const int inner = channels * expand;
    if (expand > 1) add("expand", 1, channels, inner, size, 1, 1, kRelu6);
    add("depthwise", 3, inner, inner, size, stride, inner, kRelu6);
    add("project", 1, inner, filters, size / stride, 1, 1, "");
  }
  add("head", 1, 320, 1280, 7, 1, 1, kRelu6);
}

// U-Net on 256 x 256: the second convolution of each level, the first on the way up, and the up-convolutions.
void add_unet(std::vector<NetworkLayer>& layers) {
  int size = 256;
  for (int width = 64; width <= 1024; width *= 2, size /= 2) {
    NetworkLayer same{.network = "unet",
                      .name = fmt::format("conv3x3_{}_at{}", width, size),
                      .channels = width,
                      .filters = width,
                      .height = size,
                      .width = size,
                      .kernel = 3,
                      .pad = 1};
    layers.push_back(same);
    if (width == 1024) break;
    same.name = fmt::format("conv3x3_{}_{}_at{}", 2 * width, width, size);
    same.channels = 2 * width;
    layers.push_back(same);
    layers.push_back({.network = "unet",
                      .name = fmt::format("up2x2_{}_{}_at{}", 2 * width, width, size / 2),
                      .channels = 2 * width,
                      .filters = width,
                      .height = size / 2,
                      .width = size / 2,
                      .kernel = 2,
                      .stride = 2,
                      .transposed = true,
                      .activation = ""});
  }
}

std::string graph_text(const NetworkLayer& l) {
  const bool clip = std::string_view(l.activation) == "Clip";
  const int first = l.transposed ? l.channels : l.filters,
            second = (l.transposed ? l.filters : l.channels) / l.groups;
  const int out =
      l.transposed ? (l.height - 1) * l.stride + l.kernel : (l.height + 2 * l.pad - l.kernel) / l.stride + 1;
  std::string text = fmt::format(
      "{} (float[{}, {}, {}, {}] x, float[{}, {}, {}, {}] w, float[{}] bias) => (float[{}, {}, {}, {}] y)\n",
      l.name, l.batch, l.channels, l.height, l.width, first, second, l.kernel, l.kernel, l.filters, l.batch,
      l.filters, out, out);
  if (clip) text += "<float low = {0}, float high = {6}>\n";
  text += "{\n";
  text += fmt::format("  {} = {} <group = {}, strides = [{}, {}], pads = [{}, {}, {}, {}]> (x, w, bias)\n",
                      *l.activation ? "sums" : "y", l.transposed ? "ConvTranspose" : "Conv", l.groups,
                      l.stride, l.stride, l.pad, l.pad, l.pad, l.pad);
  if (clip)
    text += "  y = Clip (sums, low, high)\n";
  else if (*l.activation)
    text += fmt::format("  y = {} (sums)\n", l.activation);
  return text + "}\n";
}

std::string task_text(const NetworkLayer& l) {
  return fmt::format(
      "description = \"{} {} of {}\"\n\n[shapes]\n\n[tensors]\nw = {{ role = \"param\" }}\nbias = {{ role = "
      "\"param\" }}\n",
      l.transposed ? "Up-convolution" : "Convolution", l.name, l.network);
}

}  // namespace

std::vector<NetworkLayer> network_layers() {
  std::vector<NetworkLayer> layers;
  add_resnet(layers);
  add_mobilenet(layers);
  add_unet(layers);
  return layers;
}

Result<fs::path> write_layer(const NetworkLayer& layer, const fs::path& folder) {
  const fs::path task = folder / layer.network / layer.name;
  std::error_code failure;
  fs::create_directories(task, failure);
  if (failure) return fail("cannot make {}: {}", task.string(), failure.message());
  KF_TRY_VOID(write_file_atomic(task / "graph.onnx.txt", graph_text(layer)));
  KF_TRY_VOID(write_file_atomic(task / "task.toml", task_text(layer)));
  return task;
}

}  // namespace kforge::bench
