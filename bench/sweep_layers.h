// The convolutions of ResNet-50, MobileNetV2 and U-Net, each once, as tasks: convolution, bias and activation
// as they stand in a network whose normalisation is folded into the weights.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"

namespace kforge::bench {

struct NetworkLayer {
  std::string network, name;  // "resnet50", "conv3x3_256_14"
  int batch = 1;
  int channels = 1, filters = 1;
  int height = 1, width = 1;
  int kernel = 1, stride = 1, pad = 0, groups = 1;
  bool transposed = false;
  const char* activation = "Relu";  // empty: none
};

std::vector<NetworkLayer> network_layers();

// The folder of the task, below `folder`; written anew where its text has changed.
Result<fs::path> write_layer(const NetworkLayer& layer, const fs::path& folder);

}  // namespace kforge::bench
