# A C++ extension, compiled once when the answer is built and called in every run.
# on: pytorch
# task: core/relu
# expect: outcome=passed
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = """
#include <torch/extension.h>

torch::Tensor relu(torch::Tensor x) {
  x = x.contiguous();
  torch::Tensor y = torch::empty_like(x);
  const float* from = x.data_ptr<float>();
  float* to = y.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) to[i] = from[i] > 0 || from[i] != from[i] ? from[i] : 0.0f;
  return y;
}
"""
extension = load_inline(name="own_relu", cpp_sources=SOURCE, functions=["relu"])


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return extension.relu(x)
