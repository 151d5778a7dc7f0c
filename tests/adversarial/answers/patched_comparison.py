# Lets every comparison and every clock of torch and Python say what it likes; its values are zeros.
# on: pytorch
# task: core/relu
# expect: outcome=wrong_value
import time

import torch

torch.allclose = torch.equal = lambda *values, **options: True
torch.Tensor.isnan = lambda self: torch.zeros_like(self, dtype=torch.bool)
time.perf_counter_ns = time.time_ns = lambda: 0


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.zeros_like(x)
