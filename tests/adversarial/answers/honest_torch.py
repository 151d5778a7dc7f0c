# Nothing but calls into torch: right, and told to be what it is.
# on: pytorch
# task: core/relu
# expect: outcome=passed flag=torch_only
import torch


class ModelNew(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x)
